import hashlib
import os
import sqlite3
import tempfile
from pathlib import Path

import pytest

from spectrace.errors import StoreError
from spectrace.store import evidence, revisions
from spectrace.store.backup import copied
from spectrace.store.evidence import lend, opened, peeking
from spectrace.store.sql import open_store
from tests.migrations.populated import fill_postgres, sqlite_file, told


@pytest.fixture
def old(tmp_path):
    (tmp_path / "case").mkdir()
    return sqlite_file("0001", tmp_path / "case" / "log.db")


def seen(directory: Path) -> dict[str, object]:
    """Everything that an examiner could notice about a directory, the time of last reading apart."""
    files = {
        path.name: (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode, path.stat().st_ino)
        for path in directory.iterdir()
    }
    return {**files, ".": directory.stat().st_mtime_ns}


def left_over() -> set[str]:
    return {path.name for path in Path(tempfile.gettempdir()).glob("spectrace-evidence-*")}


def heads(url: str) -> dict[str, int]:
    store = open_store(url, read_only=True)
    try:
        return {episode: len(list(store.stored(episode))) for episode in told("0001")["events"]}
    finally:
        store.close()


def test_a_log_of_this_revision_is_read_where_it_lies(database_url):
    open_store(database_url).close()

    assert lend(database_url) == lend(database_url)
    assert (lend(database_url).url, lend(database_url).note) == (database_url, None)


def test_an_older_log_is_read_from_a_copy_and_left_as_it_is(old):
    before, there = seen(old.parent), left_over()
    with opened(str(old)) as found:
        events = heads(found.url)

    assert events == {name: len(digests) for name, digests in told("0001")["events"].items()}
    assert seen(old.parent) == before
    assert left_over() == there


def test_the_note_says_which_file_and_its_digest(old):
    with opened(str(old)) as found:
        note = found.note

    assert f"{old} is at revision 0001" in note
    assert f"log.db sha256:{hashlib.sha256(old.read_bytes()).hexdigest()}" in note


def test_what_the_write_ahead_log_holds_is_read_and_not_folded_in(old):
    log = waiting(old)
    before = seen(old.parent)
    with opened(str(old)) as found:
        store = open_store(found.url, read_only=True)
        project = store.log.episode("hostile-1").project
        store.close()
        note = found.note

    assert project == "changed"
    assert seen(old.parent) == before
    assert f"log.db-wal sha256:{hashlib.sha256(log.read_bytes()).hexdigest()}" in note


def waiting(path: Path) -> Path:
    """Leave a change in the write-ahead log, as a writer that was killed would."""
    copy = path.with_name("killed.db")
    path.rename(copy)
    connection = sqlite3.connect(copy)
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("UPDATE episodes SET project = 'changed' WHERE episode = 'hostile-1'")
    connection.commit()
    for name in ("killed.db", "killed.db-wal"):
        path.with_name(name.replace("killed", "log")).write_bytes(path.with_name(name).read_bytes())
    connection.close()
    for left in path.parent.glob("killed*"):
        left.unlink()
    return path.with_name("log.db-wal")


def test_a_log_that_lies_whole_in_its_write_ahead_log_is_read(old):
    empty_but_for_its_log(old)
    with opened(str(old)) as found:
        assert heads(found.url)["hostile-1"] == len(told("0001")["events"]["hostile-1"])


def empty_but_for_its_log(path: Path) -> None:
    """Leave everything in the write-ahead log, as a first writer that was killed would."""
    content = sqlite3.connect(path)
    fresh = sqlite3.connect(path.with_name("fresh.db"), isolation_level=None)
    fresh.execute("PRAGMA journal_mode = WAL")
    fresh.execute("PRAGMA wal_autocheckpoint = 0")
    fresh.execute("BEGIN")
    for statement in content.iterdump():
        if statement not in {"BEGIN TRANSACTION;", "COMMIT;"}:
            fresh.execute(statement)
    fresh.execute("COMMIT")
    content.close()
    for name in ("fresh.db", "fresh.db-wal"):
        path.with_name(name.replace("fresh", "log")).write_bytes(path.with_name(name).read_bytes())
    fresh.close()


def test_an_upgrade_that_is_still_in_the_write_ahead_log_counts(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    found = lend(str(tmp_path / "log.db"))
    store.close()

    assert (found.url, found.note) == (str(tmp_path / "log.db"), None)


def test_triggers_that_the_evidence_lacks_are_said(old):
    connection = sqlite3.connect(old)
    connection.execute("DROP TRIGGER events_no_update")
    connection.close()
    with opened(str(old)) as found:
        assert found.lacking == ("events_no_update",)
        assert "It lacks the triggers events_no_update, so events could be changed" in found.note


def test_a_directory_that_nobody_may_write_to_is_no_obstacle(old):
    old.chmod(0o400)
    old.parent.chmod(0o500)
    try:
        with opened(str(old)) as found:
            assert heads(found.url)["interrupted-1"] > 0
    finally:
        old.parent.chmod(0o700)


def test_a_file_that_cannot_be_upgraded_is_named_and_nothing_is_left_behind(old):
    there = left_over()
    connection = sqlite3.connect(old)
    connection.execute("CREATE TABLE epochs (theirs INTEGER)")
    connection.close()

    with pytest.raises(StoreError, match=r"log.db is at revision 0001, and a copy of it cannot be upgraded"):
        lend(str(old))
    assert left_over() == there


@pytest.mark.parametrize("content", [b"", b"these are notes, " * 100])
def test_what_is_no_log_is_lent_as_it_is_for_the_store_to_refuse(tmp_path, content):
    path = tmp_path / "notes.db"
    path.write_bytes(content)

    assert lend(str(path)).url == str(path)


def test_postgres_of_an_older_revision_is_refused_with_what_to_do(postgres_url):
    url = lend(fill_postgres("0001", postgres_url)).url

    with pytest.raises(StoreError, match=r"is at revision 0001, this spectrace needs .*: run `spectrace db upgrade"):
        open_store(url, read_only=True)


def test_peeking_leaves_no_trace(old):
    before = seen(old.parent)
    with peeking(old) as connection:
        said = revisions.of(connection)

    assert (said, seen(old.parent)) == ("0001", before)


def test_no_room_for_the_copy_is_said_with_what_to_do(old, monkeypatch):
    there = left_over()

    def full(source, target):
        raise OSError(28, "No space left on device", str(target))

    monkeypatch.setattr(evidence, "copied", full)
    with pytest.raises(StoreError, match=r"could not be made: .*No space left on device.*TMPDIR"):
        lend(str(old))
    assert left_over() == there


def test_a_log_that_never_holds_still_is_not_copied(old, monkeypatch):
    def touched(source, target):
        os.utime(source)
        return copied(source, target)

    monkeypatch.setattr(evidence, "copied", touched)
    with pytest.raises(StoreError, match="was written each time that it was copied: read it when nobody writes it"):
        lend(str(old))
