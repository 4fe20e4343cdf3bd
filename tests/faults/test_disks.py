"""Disks that are full, read-only, over a quota, or lose their power: no write runs without its durable record."""

import errno
import os
import shutil
import tempfile
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa

from spectrace.audit.integrity import verify_episode
from spectrace.audit.queries import open_reader
from spectrace.audit.recovery import Recovered, interrupted, recover
from spectrace.core.events import ActRequested
from spectrace.errors import RecordingStopped, StoreError
from spectrace.store import database
from spectrace.store.database import parse_url
from spectrace.store.sql import open_store
from tests.faults.children import in_child
from tests.faults.disks import Ext4, fill, let_no_file_grow_over, mount, tmpfs
from tests.faults.record import started
from tests.faults.scene import ALL_DONE, CountingDesk, executed, play

pytestmark = pytest.mark.slow

FIRST, SECOND, THIRD = ALL_DONE

POINTS = {
    "at a read": ("act.requested", "get_order", []),
    "at a held write": ("act.requested", FIRST, []),
    "at the next write": ("act.requested", SECOND, [FIRST]),
    "at a big payload": ("step.drafted", THIRD, [FIRST, SECOND]),
    "at a write's outcome": ("after", FIRST, [FIRST]),
}
"""When the disk breaks -> the writes that may have been done by then."""


class Breaks:
    """Breaks something when an event of that type and tool is about to be stored, or after a write was done."""

    def __init__(self, when: str, how) -> None:
        self.type, self.tool, self.done = POINTS[when]
        self._how = how

    def watch(self, episode: str, seq: int, body: object) -> None:
        if (body.TYPE, getattr(body, "tool", None)) == (self.type, self.tool):
            self._how()

    def moment(self, said: str) -> None:
        if said == f"{self.type} {self.tool}":
            self._how()


def stopped(url: str, desk, breaks: Breaks) -> str:
    """Record, in a process of its own, until the log cannot be gone on with; return what the caller is told."""

    def record() -> str:
        store = open_store(url)
        try:
            play(store, CountingDesk(desk, breaks.moment), watch=breaks.watch)
        except RecordingStopped as error:
            store.close()
            return str(error)
        return "it was not stopped"

    return in_child(record)


def afterwards(url: str, desk, breaks: Breaks) -> Recovered:
    """Open the database again, recover the episode, and check it against what was done."""
    store = open_store(url)
    [episode] = interrupted(store)
    before = verify_episode(store, episode)
    told, again = recover(store, episode), recover(store, episode)
    asked = [event.body.tool for event in store.read(episode) if isinstance(event.body, ActRequested)]
    store.close()

    assert before.result == told.result == "consistent"
    assert told == again
    assert executed(desk) == breaks.done
    assert set(executed(desk)) <= set(asked)
    return told


@pytest.fixture
def disk(tmp_path):
    with tmpfs(tmp_path / "disk", "2m") as folder:
        yield folder


@pytest.mark.parametrize("when", POINTS)
def test_on_a_full_disk_no_write_runs_without_its_record(tmp_path, disk, when):
    url, desk = str(disk / "log.db"), tmp_path / "desk"
    breaks = Breaks(when, partial(fill, disk))
    told = stopped(url, desk, breaks)
    (disk / "filler").unlink()
    after = afterwards(url, desk, breaks)

    assert "disk is full. Free some space; nothing of this transaction was kept." in told
    assert [action.tool for action in after.indeterminate] == (breaks.done if breaks.type == "after" else [])


@pytest.mark.parametrize("when", POINTS)
def test_over_a_quota_no_write_runs_without_its_record(tmp_path, when):
    url, desk = str(tmp_path / "log.db"), tmp_path / "desk"
    log = tmp_path / "log.db-wal"
    breaks = Breaks(when, lambda: let_no_file_grow_over(log.stat().st_size + 100))
    told = stopped(url, desk, breaks)
    afterwards(url, desk, breaks)

    assert "disk I/O error. Is the disk full, read-only, over a quota or broken?" in told


def test_a_store_that_met_a_full_disk_goes_on_once_there_is_space(tmp_path, disk):
    url, desk = str(disk / "log.db"), tmp_path / "desk"

    def record() -> str:
        store = open_store(url)
        breaks = Breaks("at a held write", partial(fill, disk))
        with pytest.raises(RecordingStopped):
            play(store, CountingDesk(desk, breaks.moment), watch=breaks.watch)
        (disk / "filler").unlink()
        play(store, CountingDesk(tmp_path / "other"))
        store.close()
        return "done"

    assert in_child(record) == "done"

    assert executed(desk) == []
    assert executed(tmp_path / "other") == ALL_DONE


def test_a_database_can_be_read_on_a_disk_that_is_full(tmp_path, disk):
    url = str(disk / "log.db")
    stopped(url, tmp_path / "desk", Breaks("at a held write", partial(fill, disk)))
    with open_reader(url) as reader:
        [one] = reader.episodes()

    assert (one.status, one.events > 20) == ("interrupted", True)


@pytest.fixture
def sealed(tmp_path, disk):
    """A log on a file system that has become read-only."""
    store = open_store(str(disk / "log.db"))
    with pytest.raises(ZeroDivisionError):
        play(store, CountingDesk(tmp_path / "desk", lambda _: 1 / 0))
    store.create("open", started(), 1).close()
    store.close()
    mount("-o", "remount,ro", str(disk))
    return str(disk / "log.db")


def test_nothing_begins_on_a_read_only_disk_and_the_error_says_what_to_do(tmp_path, sealed):
    with pytest.raises(StoreError, match=r"Is the disk read-only\?"):
        open_store(sealed)


def test_a_log_on_a_read_only_disk_is_read_and_cannot_be_recovered_there(tmp_path, sealed):
    with open_reader(sealed) as reader:
        states = [one.status for one in reader.episodes()]
        with pytest.raises(StoreError, match="opened read-only"):
            recover(reader.store, "open")

    assert sorted(states) == ["failed", "interrupted"]


@pytest.mark.parametrize("when", POINTS)
def test_on_a_server_that_turns_read_only_no_write_runs_without_its_record(tmp_path, postgres_url, when):
    desk = tmp_path / "desk"
    server = sa.create_engine(parse_url(postgres_url), isolation_level="AUTOCOMMIT")

    def read_only(value: str) -> None:
        with server.connect() as connection:
            connection.exec_driver_sql("SET default_transaction_read_only = off")
            connection.exec_driver_sql(f"ALTER SYSTEM SET default_transaction_read_only = {value}")
            connection.exec_driver_sql("SELECT pg_reload_conf()")
        for _ in range(200):  # the postmaster tells its processes a moment later
            with server.connect() as connection:
                if connection.exec_driver_sql("SHOW default_transaction_read_only").scalar_one() == value:
                    return

    open_store(postgres_url).close()
    breaks = Breaks(when, partial(read_only, "on"))
    try:
        told = stopped(postgres_url, desk, breaks)
    finally:
        read_only("off")
        server.dispose()
    after = afterwards(postgres_url, desk, breaks)

    assert "read-only transaction. The server takes no writes now" in told
    assert [action.tool for action in after.indeterminate] == (breaks.done if breaks.type == "after" else [])


@pytest.fixture
def postgres_disk(postgres_url):
    """A small disk on which the server keeps the texts of events; its user may reach it."""
    base = Path(tempfile.mkdtemp(prefix="spectrace-disk-"))
    base.chmod(0o755)
    open_store(postgres_url).close()
    server = sa.create_engine(parse_url(postgres_url), isolation_level="AUTOCOMMIT")
    with tmpfs(base / "disk", "4m") as folder, server.connect() as connection:
        owner = Path(connection.exec_driver_sql("SHOW data_directory").scalar_one()).stat()
        os.chown(folder, owner.st_uid, owner.st_gid)
        connection.exec_driver_sql(f"CREATE TABLESPACE small LOCATION '{folder}'")
        connection.exec_driver_sql("ALTER TABLE blobs SET TABLESPACE small")
        yield folder
        (folder / "filler").unlink(missing_ok=True)
        connection.exec_driver_sql("ALTER TABLE blobs SET TABLESPACE pg_default")
        connection.exec_driver_sql("DROP TABLESPACE small")
    server.dispose()
    shutil.rmtree(base)


def test_on_a_server_whose_disk_is_full_no_write_runs_without_its_record(tmp_path, postgres_url, postgres_disk):
    desk, breaks = tmp_path / "desk", Breaks("at a big payload", partial(fill, postgres_disk))
    told = stopped(postgres_url, desk, breaks)
    (postgres_disk / "filler").unlink()
    after = afterwards(postgres_url, desk, breaks)

    assert "No space left on device" in told
    assert "Free some space; nothing of this transaction was kept." in told
    assert after.indeterminate == ()


@pytest.fixture
def powered(tmp_path):
    ext4 = Ext4(tmp_path / "image", tmp_path / "powered")
    yield ext4
    ext4.unmount()


@pytest.mark.parametrize(
    ("cut", "done", "open_"),
    [
        (f"before {FIRST}", [FIRST], [FIRST]),
        (f"after {FIRST}", [FIRST], [FIRST]),
        (f"before {SECOND}", [FIRST, SECOND], [SECOND]),
        (f"after {THIRD}", [FIRST, SECOND, THIRD], [THIRD]),
    ],
)
def test_a_power_cut_loses_no_write_that_was_asked_and_no_outcome_before_it(tmp_path, powered, cut, done, open_):
    """The request was flushed before the write began, the outcome of the one before was flushed, too."""
    url, desk = str(powered.folder / "log.db"), tmp_path / "desk"

    def moment(said: str) -> None:
        if said == cut:
            powered.cut_power()

    def record() -> str:
        with pytest.raises(RecordingStopped):
            play(open_store(url), CountingDesk(desk, moment))
        return "the power was cut"

    assert in_child(record) == "the power was cut"
    powered.unmount()
    powered.mount()
    store = open_store(url)
    [episode] = interrupted(store)
    told = recover(store, episode)
    store.close()

    assert executed(desk) == done
    assert told.result == "consistent"
    assert [action.tool for action in told.indeterminate] == open_


def test_every_errno_of_a_broken_disk_has_its_advice():
    url = parse_url("log.db")
    said = [os.strerror(errno.ENOSPC), os.strerror(errno.EROFS), "database or disk is full", "disk I/O error"]

    assert [words for words in said if ". " not in database.explain(url, words)] == []
