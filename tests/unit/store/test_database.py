import shutil
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from spectrace.errors import StoreError
from spectrace.store.database import CHECKPOINT_BYTES, Database, parse_url
from spectrace.store.samples import EPOCH_US, pending, sample_episode
from spectrace.store.sql import open_store


@pytest.fixture
def path(tmp_path):
    return tmp_path / "log.db"


def setting(database, *, durable):
    query = "PRAGMA synchronous" if database.sqlite else "SHOW synchronous_commit"
    with database.writing(durable=durable) as connection:
        return connection.exec_driver_sql(query).scalar_one()


def test_the_two_durability_classes_differ(database_url):
    database = Database(parse_url(database_url), read_only=False)
    found = [setting(database, durable=durable) for durable in (True, False, False, True)]
    database.close()

    assert found == ([2, 1, 1, 2] if database.sqlite else ["on", "off", "off", "on"])


APPENDS = """
    import sys
    from spectrace.store.event_store import Pending
    from spectrace.store.samples import EPOCH_US, sample_episode
    from spectrace.core.events import ResetRequested
    from spectrace.store.sql import open_store
    writer = open_store(sys.argv[1]).create("ep1", sample_episode(1)[0], EPOCH_US)
    for seq in range(1, 1 + int(sys.argv[2])):
        writer.append([Pending(seq, "", seq, ResetRequested(seed=seq))], durable=sys.argv[3] == "durable")
        if sys.argv[3] == "flushed later":
            writer.append([], durable=True)
"""


def flushes(path: Path, appends: int, kind: str) -> int:
    trace = path.with_suffix(f".{kind}{appends}")
    traced = ["strace", "-f", "-qq", "-e", "trace=fsync,fdatasync", "-o", str(trace)]
    program = [sys.executable, "-c", textwrap.dedent(APPENDS), f"{trace}.db", str(appends), kind]
    subprocess.run([*traced, *program], check=True)
    return sum("sync(" in line for line in trace.read_text().splitlines())


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace counts the flushes")
@pytest.mark.parametrize(("kind", "each"), [("durable", 1), ("not", 0), ("flushed later", 1)])
def test_a_durable_append_flushes_once_and_another_never(path, kind, each):
    assert flushes(path, 30, kind) - flushes(path, 10, kind) == 20 * each


def test_the_write_ahead_log_is_folded_in_when_an_episode_ends_and_only_when_it_is_large(path):
    store, bodies = open_store(str(path)), sample_episode(1)
    log = path.with_name("log.db-wal")
    writer = store.create("ep1", bodies[0], EPOCH_US)
    writer.append(pending(bodies)[1:-1], durable=False)
    with store.database.writing(durable=False) as connection:
        connection.exec_driver_sql("CREATE TABLE filler (data BLOB)")
        connection.exec_driver_sql("INSERT INTO filler VALUES (zeroblob(?))", (CHECKPOINT_BYTES,))
    before = log.stat().st_size
    writer.append(pending(bodies)[-1:], durable=True)
    after = log.stat().st_size
    store.close()

    assert before > CHECKPOINT_BYTES
    assert after == 0


def test_closing_leaves_one_file_that_can_be_read_alone(path):
    store = open_store(str(path))
    store.create("ep1", sample_episode(1)[0], EPOCH_US).close()
    store.close()

    assert sorted(item.name for item in path.parent.iterdir()) == ["log.db", "log.db.lock"]


def test_a_reader_in_the_middle_does_not_stop_a_checkpoint_from_returning(path):
    store = open_store(str(path))
    writer = store.create("ep1", sample_episode(1)[0], EPOCH_US)
    reader = sqlite3.connect(path)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM events").fetchone()
    writer.append(pending(sample_episode(1))[1:], durable=False)
    store.database.checkpoint()
    reader.close()

    assert len(list(store.read("ep1"))) == len(sample_episode(1))
    store.close()


def test_a_failed_transaction_keeps_nothing(database_url):
    store = open_store(database_url)
    insert = "INSERT INTO tools (id, name) VALUES (5, 'x')"
    with pytest.raises(StoreError), store.database.writing(durable=False) as connection:
        _ = [connection.exec_driver_sql(statement) for statement in (insert, "no SQL at all")]
    with store.database.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM tools").scalar_one() == 0
    store.close()


def test_a_closed_log_is_read_without_its_write_ahead_log(path):
    store = open_store(str(path))
    store.create("ep1", sample_episode(1)[0], EPOCH_US).close()
    store.close()
    reader = open_store(str(path), read_only=True)

    assert [event.seq for event in reader.read("ep1")] == [0]
    reader.close()


def test_a_server_that_is_not_there_is_a_store_error():
    database = Database(parse_url("postgresql://127.0.0.1:1/x"), read_only=True)

    with pytest.raises(StoreError) as raised, database.reading():
        pass
    database.close()

    assert str(raised.value).endswith(
        "Connection refused. Is Postgres running there, and are host, port, user and password right?"
    )
    assert "Is the server running" not in str(raised.value)


def deleted(path):
    path.unlink()


def moved(path):
    path.rename(path.with_name("moved.db"))


def replaced(path):
    moved(path)
    shutil.copy(path.with_name("moved.db"), path)


def folder_moved(path):
    path.parent.rename(path.parent.with_name(f"{path.parent.name}-moved"))


@pytest.mark.parametrize("happens", [deleted, moved, replaced, folder_moved])
def test_a_file_that_is_not_the_one_that_was_opened_is_noticed_at_the_next_append(tmp_path, happens):
    path = tmp_path / "folder" / "log.db"
    path.parent.mkdir()
    store, events = open_store(str(path)), pending(sample_episode(1))
    writer = store.create("ep1", events[0].body, EPOCH_US)
    writer.append(events[1:5], durable=True)
    happens(path)
    for _ in range(2):
        with pytest.raises(StoreError, match=f"database {path}: the file was deleted, moved or replaced"):
            writer.append(events[5:7], durable=True)
    writer.renew()
    writer.close()
    store.close()

    assert path.exists() == (happens is replaced)


def test_a_moved_file_that_is_put_back_holds_what_was_recorded(path):
    store, events = open_store(str(path)), pending(sample_episode(1))
    writer = store.create("ep1", events[0].body, EPOCH_US)
    writer.append(events[1:5], durable=True)
    moved(path)
    with pytest.raises(StoreError, match="moved"):
        writer.append(events[5:7], durable=True)
    writer.close()
    store.close()
    path.with_name("moved.db").rename(path)
    again = open_store(str(path), read_only=True)

    assert [event.seq for event in again.read("ep1")] == [0, 1, 2, 3, 4]
    again.close()


def test_a_file_cut_short_says_what_can_be_done(path):
    store = open_store(str(path))
    writer = store.create("ep1", sample_episode(1)[0], EPOCH_US)
    writer.append(pending(sample_episode(1))[1:], durable=True)
    store.close()
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)
    with pytest.raises(StoreError, match=r"restore a backup, or try `sqlite3 FILE \.recover` on a copy"):
        open_store(str(path), read_only=True)
