import hashlib
import sqlite3

import pytest

from spectrace.core.admin_events import AdminOpened, AdminRestored
from spectrace.errors import NewerSchema, StoreError, UsageError
from spectrace.store import admin, revisions
from spectrace.store import restore as restoring
from spectrace.store.migrate import upgrade
from spectrace.store.restore import restore
from spectrace.store.samples import EPOCH_US, sample_episode
from spectrace.store.sql import open_store
from tests.copies import made_once
from tests.migrations.populated import sqlite_file, told


def sound(_url: str) -> list[str]:
    return []


def one_episode(url):
    store = open_store(url)
    store.create("ep1", sample_episode(1)[0], EPOCH_US).close()
    store.close()


@pytest.fixture
def log(tmp_path):
    """A log of this revision with one episode, closed."""
    path = tmp_path / "log.db"
    made_once(f"sqlite:///{path}", one_episode)
    return path


@pytest.fixture
def backup(tmp_path):
    return sqlite_file("0001", tmp_path / "old.backup")


def epoch(path):
    store = open_store(str(path), read_only=True)
    try:
        with store.database.reading() as connection:
            found = admin.current(connection)
        return found, [event.body for event in store.read(found.episode)]
    finally:
        store.close()


def test_what_was_backed_up_is_there_again(log, backup):
    restore(str(log), backup, sound)
    store = open_store(str(log), read_only=True)
    counts = {episode: len(list(store.stored(episode))) for episode in told("0001")["events"]}
    store.close()

    assert counts == {name: len(digests) for name, digests in told("0001")["events"].items()}


def test_a_restored_backup_is_a_new_epoch_that_names_the_old_head(log, backup):
    before, _ = epoch(log)
    done = restore(str(log), backup, sound)
    after, (opened, restored) = epoch(log)

    assert isinstance(opened, AdminOpened)
    assert isinstance(restored, AdminRestored)
    assert (opened.reason, opened.previous) == ("restored", before.told)
    assert (restored.replaced_epoch, restored.backup_revision) == (before.told, "0001")
    assert restored.backup_digest == done.digest == f"sha256:{hashlib.sha256(backup.read_bytes()).hexdigest()}"
    assert done.record == f"{after.episode}:1"


def test_what_was_there_is_kept_with_the_digest_that_the_record_says(log, backup):
    done = restore(str(log), backup, sound)
    _, (_, restored) = epoch(log)
    kept, _ = epoch(done.replaced)

    assert restored.replaced == done.replaced.name
    assert restored.replaced_digest == f"sha256:{hashlib.sha256(done.replaced.read_bytes()).hexdigest()}"
    assert kept.told == restored.replaced_epoch


def test_the_backup_itself_is_only_read(log, backup):
    before = backup.read_bytes(), backup.stat().st_mtime_ns
    restore(str(log), backup, sound)

    assert (backup.read_bytes(), backup.stat().st_mtime_ns) == before


def test_nothing_else_is_left_beside_it(log, backup, tmp_path):
    done = restore(str(log), backup, sound)

    assert {path.name for path in tmp_path.iterdir()} == {"log.db", "log.db.lock", "old.backup", done.replaced.name}


def test_the_restored_log_can_be_written_and_upgraded_no_further(log, backup):
    restore(str(log), backup, sound)
    store = open_store(str(log))
    store.create("ep2", sample_episode(2)[0], EPOCH_US).close()
    store.close()

    assert upgrade(str(log)).backup is None


def test_a_backup_is_restored_where_nothing_was(tmp_path, backup):
    done = restore(str(tmp_path / "new.db"), backup, sound)
    _, (_, restored) = epoch(tmp_path / "new.db")

    assert done.replaced is None
    assert (restored.replaced, restored.replaced_digest, restored.replaced_epoch) == (None, None, None)


def test_a_damaged_log_steps_aside_with_its_write_ahead_log(log, backup):
    log.write_bytes(b"damaged beyond recognition" * 1000)
    log.with_name("log.db-wal").write_bytes(b"what was last written")
    done = restore(str(log), backup, sound)
    _, (_, restored) = epoch(log)

    assert restored.replaced_epoch is None
    assert done.replaced.read_bytes().startswith(b"damaged")
    assert done.replaced.with_name(done.replaced.name + "-wal").read_bytes() == b"what was last written"


def test_a_log_that_somebody_has_open_is_not_replaced(log, backup):
    before = log.read_bytes()
    for read_only in (True, False):
        store = open_store(str(log), read_only=read_only)
        with store.database.reading() as connection:
            connection.exec_driver_sql("SELECT count(*) FROM episodes")

            with pytest.raises(StoreError, match=r"another process has .* open: end it"):
                restore(str(log), backup, sound)
        store.close()
    assert log.read_bytes() == before


def refused(log, backup, kind, match, check=sound):
    before = log.read_bytes(), sorted(path.name for path in log.parent.iterdir() if path.suffix != ".lock")
    with pytest.raises(kind, match=match):
        restore(str(log), backup, check)

    assert (log.read_bytes(), sorted(p.name for p in log.parent.iterdir() if p.suffix != ".lock")) == before


def test_a_backup_that_is_no_database_is_refused(log, backup):
    backup.write_bytes(b"notes " * 1000)
    refused(log, backup, StoreError, "old.backup cannot be restored: file is not a database")


def test_a_damaged_backup_is_refused(log, backup):
    data = bytearray(backup.read_bytes())
    data[-30_000:-20_000] = b"\xff" * 10_000
    backup.write_bytes(data)
    refused(log, backup, StoreError, "old.backup (is not sound|cannot be restored)")


def test_a_backup_whose_chains_are_broken_is_refused(log, backup):
    refused(
        log,
        backup,
        StoreError,
        "is not sound: ep1: event 3; x; y (and 1 more)".replace("(", r"\(").replace(")", r"\)"),
        lambda _: ["ep1: event 3", "x", "y", "z"],
    )


def test_a_backup_with_children_of_nobody_is_refused(log, backup):
    connection = sqlite3.connect(backup)
    connection.execute("DELETE FROM episodes WHERE episode = 'hostile-1'")
    connection.commit()
    connection.close()
    refused(log, backup, StoreError, "rows that name a parent which is missing: ")


def test_a_backup_of_a_newer_spectrace_is_refused_naming_the_version(log, backup):
    connection = sqlite3.connect(backup)
    connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.commit()
    connection.close()
    refused(log, backup, NewerSchema, f"at revision 9999, .* up to {revisions.head()}")


def test_somebody_elses_database_is_no_backup(log, tmp_path):
    connection = sqlite3.connect(tmp_path / "theirs.db")
    connection.execute("CREATE TABLE customers (id INTEGER)")
    connection.close()
    refused(log, tmp_path / "theirs.db", StoreError, "holds no log")


def test_neither_backup_nor_database_may_be_a_bundle(log, backup, tmp_path):
    bundle = tmp_path / "a.zip"
    bundle.write_bytes(b"PK\x03\x04 and more")
    for url, given in ((log, bundle), (bundle, backup)):
        with pytest.raises(UsageError, match=r"a\.zip is a bundle"):
            restore(str(url), given, sound)

    assert bundle.read_bytes() == b"PK\x03\x04 and more"


def test_what_is_wrong_is_said_in_whole_sentences(log, backup):
    with pytest.raises(StoreError, match=r"is not sound: ep1: it is damaged; so is ep2\. Nothing was changed\.$"):
        restore(str(log), backup, lambda _: ["ep1: it is damaged.", "so is ep2."])


def test_what_is_no_backup_is_a_usage_error(log, backup, tmp_path):
    refused(log, tmp_path / "none.backup", UsageError, "there is no backup")
    refused(log, log, UsageError, "is the database itself")
    backup.with_name("old.backup-wal").write_bytes(b"frames")
    refused(log, backup, UsageError, "a database in use and no backup")


def test_postgres_has_its_own_tools(backup):
    with pytest.raises(UsageError, match="pg_restore"):
        restore("postgresql://host/name", backup, sound)


def test_no_room_for_the_copy_is_said(log, backup, monkeypatch):
    def full(source, target):
        raise OSError(28, "No space left on device", str(target))

    monkeypatch.setattr(restoring, "copied", full)
    refused(log, backup, StoreError, "No space left on device")
