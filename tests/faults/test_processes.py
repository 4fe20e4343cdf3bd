"""Several processes and one database: nothing is lost, nothing waits for ever, no agent meets a lock."""

import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from spectrace.audit.integrity import verify_episode
from spectrace.audit.queries import open_reader
from spectrace.cli import main
from spectrace.store import database, sqlite_files
from spectrace.store.database import parse_url
from spectrace.store.lock import TurnLock
from spectrace.store.sql import open_store
from tests.faults.record import WithoutWal, now, pending, started

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "cases"


class Recorders:
    """Processes that each write an episode, beginning together."""

    def __init__(self, url: str, count: int, events: int, *, each: int = 1, wal: bool = True) -> None:
        open_store(url).close()
        self.events = events
        self.episodes = [f"e{number}" for number in range(count)]
        self._processes = []
        for episode in self.episodes:
            of = {"url": url, "episode": episode, "events": events, "each": each, "size": 40, "wal": wal}
            self._processes.append(
                subprocess.Popen(
                    [sys.executable, "-m", "tests.faults.record", json.dumps(of)],
                    cwd=ROOT,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
        for process in self._processes:
            assert process.stdout.readline() == "ready\n", process.stderr.read()

    def start(self) -> None:
        for process in self._processes:
            process.stdin.write("go\n")
            process.stdin.flush()

    def finish(self) -> list[dict]:
        """Wait for all; return what each says. Whatever an agent met fails here."""
        told = []
        for process in self._processes:
            out, err = process.communicate(timeout=120)
            assert (process.returncode, err) == (0, "")
            told.append(json.loads(out))
        return told


@contextmanager
def polling(url: str, every_s: float):
    """Ask for the listing again and again, as the viewer does; yield the counts that were seen."""
    stop, seen, failures = threading.Event(), [], []

    def poll() -> None:
        while not stop.wait(every_s):
            try:
                with open_reader(url) as reader:
                    seen.append(sum(one.events for one in reader.episodes()))
            except Exception as error:  # noqa: BLE001 - shown by the test
                failures.append(error)
                return

    thread = threading.Thread(target=poll)
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join()
        assert failures == []


@contextmanager
def pinned(url: str):
    """Hold a read transaction, as no reader of ours does."""
    if url.startswith("sqlite"):
        connection = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM events").fetchone()
        yield
        connection.close()
        return
    engine = sa.create_engine(parse_url(url), isolation_level="REPEATABLE READ")
    with engine.connect() as connection:
        connection.exec_driver_sql("SELECT count(*) FROM events")
        yield
    engine.dispose()


def holding(url: str, seconds: float) -> threading.Thread:
    """Hold what a writer needs for so long, from another connection, and let it go."""

    def hold() -> None:
        if url.startswith("sqlite"):
            connection = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None, timeout=30)
            connection.execute("BEGIN IMMEDIATE")
            time.sleep(seconds)
            connection.execute("ROLLBACK")
            connection.close()
            return
        engine = sa.create_engine(parse_url(url))
        with engine.begin() as connection:
            connection.exec_driver_sql("LOCK TABLE events IN EXCLUSIVE MODE")
            time.sleep(seconds)
        engine.dispose()

    thread = threading.Thread(target=hold)
    thread.start()
    return thread


def assert_all_there(url: str, recorders: Recorders) -> None:
    store = open_store(url, read_only=True)
    for episode in recorders.episodes:
        found = list(store.stored(episode))
        verified = verify_episode(store, episode)
        assert [event.seq for event in found] == list(range(recorders.events))
        assert (verified.result, verified.detail) == ("consistent", "whole, from its start to its end")
    store.close()


@pytest.mark.slow
def test_eight_processes_write_while_a_viewer_polls_and_a_reader_sits_in_a_transaction(database_url):
    recorders = Recorders(database_url, 8, 500)
    with polling(database_url, 0.1) as seen, pinned(database_url):
        recorders.start()
        told = recorders.finish()

    assert_all_there(database_url, recorders)
    assert len(seen) > 1
    assert seen == sorted(seen)
    assert max(one["longest"] for one in told) < database.BUSY_S / 2


@pytest.mark.slow
def test_without_write_ahead_logging_processes_and_a_viewer_take_turns_and_nobody_meets_a_lock(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite_files, "Connection", WithoutWal)
    url = f"sqlite:///{tmp_path / 'log.db'}"
    with pytest.warns(RuntimeWarning, match="uses its delete journal"):
        recorders = Recorders(url, 4, 200, wal=False)
    with polling(url, 0.05) as seen:
        holder = holding(url, 1)
        recorders.start()
        recorders.finish()
        holder.join()

    assert_all_there(url, recorders)
    assert len(seen) > 1
    assert not (tmp_path / "log.db-wal").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "held_ms", json.loads((CASES / "074-locked-database/scenario.json").read_text())["hold_write_lock_ms"]
)
def test_case_074_four_processes_wait_for_whoever_holds_the_write_lock(database_url, held_ms):
    scenario = json.loads((CASES / "074-locked-database/scenario.json").read_text())
    expected = json.loads((CASES / "074-locked-database/expected.json").read_text())
    recorders = Recorders(database_url, scenario["writers"], scenario["events_each"], each=5)
    with polling(database_url, 0.1):
        holder = holding(database_url, held_ms / 1000)
        time.sleep(0.05)
        recorders.start()
        told = recorders.finish()
        holder.join()

    assert_all_there(database_url, recorders)
    assert scenario["writers"] * recorders.events == expected["events"]
    assert max(one["longest"] for one in told) > held_ms / 1000 - 0.2


@pytest.mark.slow
def test_a_process_that_holds_the_lock_beside_the_file_is_waited_for(tmp_path):
    url = f"sqlite:///{tmp_path / 'log.db'}"
    recorders = Recorders(url, 2, 100)
    with TurnLock(tmp_path / "log.db.lock", 1):
        recorders.start()
        time.sleep(1)
    told = recorders.finish()

    assert_all_there(url, recorders)
    assert min(one["longest"] for one in told) > 0.5


def test_a_write_that_waits_too_long_is_told_to_its_caller_and_nothing_of_it_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "BUSY_S", 0.1)
    store = open_store(str(tmp_path / "log.db"))
    writer = store.create("e", started(), now())
    events = pending(6, 40)
    with TurnLock(tmp_path / "log.db.lock", 1), pytest.raises(database.StoreError, match="could not be acquired"):
        writer.append(events[:3], durable=True)
    before = store.row("e").events
    writer.append(events, durable=True)
    store.close()

    assert before == 1
    assert_all_there(f"sqlite:///{tmp_path / 'log.db'}", _Alone(6))


class _Alone:
    episodes = ("e",)

    def __init__(self, events: int) -> None:
        self.events = events


@pytest.mark.slow
def test_case_075_the_write_ahead_log_falls_back_once_a_reader_has_left(tmp_path):
    scenario = json.loads((CASES / "075-wal-grows/scenario.json").read_text())
    assert scenario["writer"] == "20000 events of 4 KiB"
    url, log = f"sqlite:///{tmp_path / 'log.db'}", tmp_path / "log.db-wal"
    store = open_store(url)
    writer = store.create("e", started(), now())
    events = pending(20_000, 4096)

    def write(first: int, beyond: int) -> int:
        """Write events a hundred at a time; return the log's largest size."""
        largest = 0
        for at in range(first, beyond, 100):
            writer.append(events[at : at + 100], durable=False)
            largest = max(largest, log.stat().st_size)
        return largest

    alone = write(0, 6000)
    with pinned(url):
        pinned_ = write(6000, 18_000)
    left = log.stat().st_size
    write(18_000, 19_000)
    afterwards = write(19_000, len(events))
    writer.close()
    store.close()

    one_append = 1 << 20
    assert alone <= database.LOG_BYTES + one_append
    assert pinned_ > 2 * database.LOG_BYTES
    assert left > 2 * database.LOG_BYTES
    assert afterwards <= database.LOG_BYTES + one_append
    assert not log.exists()


def test_case_075_between_two_questions_a_reader_holds_no_transaction(tmp_path):
    url, log = f"sqlite:///{tmp_path / 'log.db'}", tmp_path / "log.db-wal"
    store = open_store(url)
    writer = store.create("e", started(), now())
    events = pending(50, 4096)
    writer.append(events[:20], durable=True)
    with open_reader(url) as reader:
        reader.episodes()
        told = iter(reader.details("e"))
        next(told)
        writer.append(events[20:], durable=True)
        store.database.checkpoint()
        size = log.stat().st_size
        next(told)
    store.close()

    assert size == 0


@pytest.mark.filterwarnings("ignore:database .* cannot keep a write-ahead log:RuntimeWarning")
def test_without_write_ahead_logging_processes_take_turns_and_nothing_is_lost(tmp_path, without_wal):
    url = f"sqlite:///{tmp_path / 'log.db'}"
    store = open_store(url)
    writer = store.create("e", started(), now())
    reader = open_store(url, read_only=True)
    seen = []
    events = pending(60, 40)
    for at in range(0, len(events), 10):
        writer.append(events[at : at + 10], durable=False)
        seen.append(len(list(reader.stored("e"))))
    writer.close()
    reader.close()
    store.close()

    assert seen == [11, 21, 31, 41, 51, 60]
    assert not (tmp_path / "log.db-wal").exists()
    assert_all_there(url, _Alone(60))


def test_without_write_ahead_logging_somebody_is_told_and_every_commit_is_flushed(tmp_path, without_wal):
    with pytest.warns(RuntimeWarning, match="cannot keep a write-ahead log there and uses its delete journal") as told:
        store = open_store(str(tmp_path / "log.db"))
    store.create("e", started(), now()).append(pending(9, 40), durable=False)
    with store.database.writing(durable=False) as connection:
        synchronous = connection.exec_driver_sql("PRAGMA synchronous").scalar_one()
    store.close()

    assert len(told) == 1
    assert synchronous == 2


@pytest.mark.filterwarnings("default")
def test_without_write_ahead_logging_a_command_warns_in_one_paragraph(tmp_path, without_wal):
    result = CliRunner().invoke(main, ["db", "upgrade", "--db", str(tmp_path / "log.db")])

    assert (result.exit_code, result.stderr.count("Warning: database ")) == (0, 1)
    assert ".py" not in result.stderr


@pytest.fixture
def without_wal(monkeypatch):
    """A file system without shared memory, as network shares are to SQLite; here without file locks, too."""
    if os.name == "nt":
        pytest.skip("unix-none is a part of SQLite on Unix")
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda name, **options: connect(f"{name}&vfs=unix-none", **options))
