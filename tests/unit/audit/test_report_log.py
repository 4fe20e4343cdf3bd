import hashlib

from spectrace.audit.queries import open_reader
from spectrace.audit.report_log import File, Head, identity
from spectrace.store.sql import open_store
from tests.shop_log import recorded


def test_a_file_is_named_without_its_directory_and_with_its_digest(tmp_path):
    path = tmp_path / "log.db"
    store = open_store(str(path))
    recorded(store)
    store.close()
    heard = []
    with open_reader(str(path)) as reader:
        found = identity(reader, str(path), lambda done, of: heard.append((done, of)))
        (log,) = reader.administrative()
        row = reader.store.row(log)

    data = path.read_bytes()
    assert found.name == "log.db"
    assert found.files == (File("log.db", len(data), hashlib.sha256(data).hexdigest()),)
    assert found.administrative == (Head(log, row.events, row.head.hex()),)
    assert heard == [(len(data), len(data))]


def test_what_is_not_yet_in_the_file_lies_beside_it_and_has_a_digest_too(tmp_path):
    path = tmp_path / "log.db"
    store = open_store(str(path))
    recorded(store)  # and not closed: its write-ahead log stays
    with open_reader(str(path)) as reader:
        found = identity(reader, str(path))
    beside = (tmp_path / "log.db-wal").read_bytes()
    store.close()

    assert found.files[1:] == (File("log.db-wal", len(beside), hashlib.sha256(beside).hexdigest()),)


def test_a_server_has_no_files_and_its_password_is_not_told(postgres_url):
    store = open_store(postgres_url)
    recorded(store)
    store.close()
    url = postgres_url.replace("postgres:@", "postgres:hunter2@")
    with open_reader(postgres_url) as reader:
        found = identity(reader, url)

    assert found.files == ()
    assert found.name.startswith("postgresql://")
    assert "hunter2" not in found.name
    assert len(found.administrative) == 1
