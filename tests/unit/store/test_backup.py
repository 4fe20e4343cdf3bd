import hashlib
import sqlite3
from contextlib import closing

import pytest

from spectrace.errors import StoreError
from spectrace.store import backup
from spectrace.store.samples import EPOCH_US, sample_episode
from spectrace.store.sql import open_store


@pytest.fixture
def store(tmp_path):
    opened = open_store(str(tmp_path / "log.db"))
    yield opened
    opened.close()


def taken(store):
    with store.database.locked():
        return backup.take(store.database, "0001")


def test_a_backup_holds_what_the_write_ahead_log_holds(store):
    store.create("ep1", sample_episode(1)[0], EPOCH_US)
    made = taken(store)
    with closing(sqlite3.connect(made.path)) as connection:
        names = [name for (name,) in connection.execute("SELECT episode FROM episodes WHERE number > 0")]

    assert names == ["ep1"]


def test_a_backup_says_its_revision_its_time_and_its_digest(store):
    made = taken(store)

    assert made.digest == f"sha256:{hashlib.sha256(made.path.read_bytes()).hexdigest()}"
    assert made.path.match("log.db.0001.*T*Z.backup")


def test_a_backup_never_overwrites_another(store):
    paths = {taken(store).path for _ in range(3)}

    assert len(paths) == 3
    assert not list(store.database.path.parent.glob("*.partial"))


def test_a_backup_may_be_read_by_those_who_may_read_the_log(store):
    store.database.path.chmod(0o640)

    assert taken(store).path.stat().st_mode & 0o777 == 0o640


def test_a_backup_that_fails_leaves_nothing(store, monkeypatch):
    def full(path):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(backup, "flush", full)
    with pytest.raises(StoreError, match="No space left"), store.database.explained():
        taken(store)

    assert not [path for path in store.database.path.parent.iterdir() if "0001" in path.name]


def test_a_copy_replaces_an_earlier_try(tmp_path):
    (tmp_path / "a").write_bytes(b"short")
    (tmp_path / "b").write_bytes(b"something longer")

    assert backup.copied(tmp_path / "a", tmp_path / "b") == f"sha256:{hashlib.sha256(b'short').hexdigest()}"
    assert (tmp_path / "b").read_bytes() == b"short"
