import os
import shutil
import sqlite3
import threading

import pytest

from spectrace.errors import MissingExtra, NewerSchema, StoreError, UsageError
from spectrace.store import admin, migrate, revisions
from spectrace.store.lock import TurnLock
from spectrace.store.migrate import Upgraded
from spectrace.store.samples import EPOCH_US, sample_episode
from spectrace.store.sql import open_store
from spectrace.store.triggers import missing_triggers

HEAD = revisions.head()
NEXT = """
from alembic import op
from spectrace.store.triggers import assert_triggers
revision = "later"
down_revision = "{before}"
def upgrade():
    op.execute("{statement}")
    assert_triggers(op.get_bind())
"""


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path / 'log.db'}"


@pytest.fixture
def written(database_url):
    store = open_store(database_url)
    store.create("ep1", sample_episode(1)[0], EPOCH_US).close()
    store.close()
    return database_url


@pytest.fixture
def newer_package(tmp_path, monkeypatch):
    """Give the package one more migration, as its next release would."""

    def make(statement: str = "CREATE TABLE later (id INTEGER)") -> None:
        place = tmp_path / "migrations"
        shutil.copytree(revisions._directory(), place, ignore=shutil.ignore_patterns("__pycache__"))
        (place / "versions" / "9999_later.py").write_text(NEXT.format(statement=statement, before=HEAD))
        monkeypatch.setattr(revisions, "_PLACES", (place,))

    return make


def test_the_first_writer_makes_the_database(database_url):
    store = open_store(database_url)

    assert migrate.revision(store.database) == revisions.head()
    store.close()


def test_an_upgrade_of_the_newest_changes_nothing(written):
    assert migrate.upgrade(written) == Upgraded(HEAD, HEAD)


def test_an_upgrade_makes_a_new_database_too(database_url):
    assert migrate.upgrade(database_url) == Upgraded(None, HEAD)


def test_an_older_database_says_how_to_upgrade(written, newer_package):
    newer_package()

    with pytest.raises(StoreError, match=f"at revision {HEAD}, this spectrace needs later: run `spectrace db upgrade"):
        open_store(written)


def test_an_upgrade_keeps_every_event_and_backs_up_sqlite(written, newer_package):
    before = stored(written)
    newer_package()
    done = migrate.upgrade(written)

    assert (done.before, done.after) == (HEAD, "later")
    assert stored(written) == before
    assert (done.backup is not None) == written.startswith("sqlite")


def test_no_backup_is_made_where_none_is_wanted(url, newer_package, tmp_path):
    open_store(url).close()
    newer_package()
    done = migrate.upgrade(url, backup=False)

    assert (done.after, done.backup) == ("later", None)
    assert not list(tmp_path.glob("*.backup"))


def test_nobody_writes_between_the_backup_and_the_upgrade(url, newer_package, monkeypatch):
    open_store(url).close()
    newer_package()
    database = migrate.Database(migrate.parse_url(url), read_only=False)
    taken = migrate.take

    def meanwhile(*given):
        made = taken(*given)
        with pytest.raises(OSError, match="could not be acquired"):
            TurnLock(database.path.with_name("log.db.lock"), 0.05).__enter__()
        return made

    monkeypatch.setattr(migrate, "take", meanwhile)
    done = migrate.upgrade(url)
    database.close()

    assert done.backup is not None


def test_two_who_make_a_database_at_once_make_one_epoch(database_url):
    stores: list[object] = []
    threads = [threading.Thread(target=lambda: stores.append(open_store(database_url))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    epochs = {tuple(admin.episodes(store.database)) for store in stores}
    for store in stores:
        store.close()

    assert (len(stores), len(epochs), len(epochs.pop())) == (4, 1, 1)


def test_a_backup_restores_the_log(url, newer_package, monkeypatch, tmp_path):
    open_store(url).create("ep1", sample_episode(1)[0], EPOCH_US).close()
    before, places = stored(url), revisions._PLACES
    newer_package()
    backup = migrate.upgrade(url).backup.path
    monkeypatch.setattr(revisions, "_PLACES", places)
    shutil.copy(backup, tmp_path / "restored.db")

    assert stored(f"sqlite:///{tmp_path / 'restored.db'}") == before


def test_a_newer_database_is_refused_naming_both_revisions(written, newer_package, monkeypatch):
    places = revisions._PLACES
    newer_package()
    migrate.upgrade(written)
    monkeypatch.setattr(revisions, "_PLACES", places)

    for act in (
        lambda: open_store(written),
        lambda: open_store(written, read_only=True),
        lambda: migrate.upgrade(written),
    ):
        with pytest.raises(
            NewerSchema, match=f"revision later, written by a newer spectrace; this one carries .* up to {HEAD}"
        ):
            act()


def test_a_migration_that_loses_a_trigger_is_taken_back(url, newer_package):
    open_store(url).close()
    newer_package("DROP TRIGGER events_no_delete")
    with pytest.raises(StoreError, match="events_no_delete are missing"):
        migrate.upgrade(url)
    database = migrate.Database(migrate.parse_url(url), read_only=True)

    assert migrate.revision(database) == HEAD
    with database.reading() as connection:
        assert missing_triggers(connection) == []
    database.close()


def test_somebody_elses_database_is_left_alone(tmp_path):
    path = tmp_path / "theirs.db"
    with sqlite3.connect(path) as theirs:
        theirs.execute("CREATE TABLE customers (id INTEGER)")
    theirs.close()

    with pytest.raises(StoreError, match=r"already holds tables that spectrace did not make \(customers\)"):
        open_store(str(path))
    with pytest.raises(StoreError, match="holds no log"):
        open_store(str(path), read_only=True)


def test_a_reader_of_an_empty_database_is_told_what_makes_the_log(tmp_path, database_url):
    (tmp_path / "log.db").touch()
    with pytest.raises(StoreError, match=r"there is no log in .* yet: `spectrace run` makes it"):
        open_store(database_url, read_only=True)


def test_a_bare_path_is_a_sqlite_file(tmp_path):
    open_store(str(tmp_path / "bare.db")).close()

    assert (tmp_path / "bare.db").read_bytes()[:15] == b"SQLite format 3"


@pytest.mark.parametrize("url", ["mysql://h/x", "sqlite://", "sqlite:///:memory:", "http://h/x", "", "::://"])
def test_what_is_no_database_url_is_a_usage_error(url):
    with pytest.raises((UsageError, MissingExtra)):
        open_store(url)


def test_a_password_is_never_shown():
    with pytest.raises(StoreError) as caught:
        open_store("postgresql://me:secret-word@127.0.0.1:1/none")

    assert "secret-word" not in str(caught.value)
    assert "Is Postgres running there" in str(caught.value)


def test_a_missing_database_is_not_made_by_a_reader(url, tmp_path):
    with pytest.raises(StoreError, match=r"there is no database .* yet: `spectrace run` makes it"):
        open_store(url, read_only=True)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_directory_is_named(tmp_path):
    with pytest.raises(StoreError, match="no-such does not exist"):
        open_store(str(tmp_path / "no-such" / "log.db"))


def test_a_directory_is_no_database(tmp_path):
    with pytest.raises(StoreError, match="is a directory"):
        open_store(str(tmp_path))


def test_a_file_that_is_no_database_is_named(tmp_path):
    (tmp_path / "notes.db").write_text("these are notes, " * 100)

    with pytest.raises(StoreError, match="file is not a database"):
        open_store(str(tmp_path / "notes.db"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_directory_is_named(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StoreError, match=r"may not write there|may this user write there"):
            open_store(str(tmp_path / "log.db"))
    finally:
        tmp_path.chmod(0o700)


def stored(url: str) -> list[object]:
    store = open_store(url, read_only=True)
    try:
        return list(store.stored("ep1"))
    finally:
        store.close()
