"""The recorder numbers and stamps; a cancelled await loses no batch and lets none overtake another."""

import asyncio
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from spectrace.core.events import EvaluateRequested, ResetRequested
from spectrace.core.types import Outcome
from spectrace.errors import Conflict, RecordingStopped, SchemaViolation, StoreError
from spectrace.runs import recorder as recorder_module
from spectrace.runs.recorder import LogFull, Recorder, now_us
from spectrace.store.samples import EPOCH_US, sample_episode
from spectrace.store.sql import open_store
from tests.aio import in_loop
from tests.episodes import record_shop


class Writer:
    def __init__(self):
        self.batches = []
        self.gate = threading.Event()
        self.gate.set()

    def append(self, events, *, durable):
        self.gate.wait(5)
        self.batches.append(([event.seq for event in events], durable))

    def append_at_once(self, events):
        if self.gate.is_set():
            self.append(events, durable=False)
        return self.gate.is_set()

    def renew(self):
        pass

    def close(self):
        pass


@in_loop
async def test_events_are_numbered_from_1_and_committed_in_batches():
    writer = Writer()
    recorder = Recorder("e", writer)
    assert [recorder.write("", ResetRequested(seed=None)), recorder.write("", EvaluateRequested())] == [1, 2]
    await recorder.settle(durable=False)
    recorder.write("", EvaluateRequested())
    await recorder.settle(durable=True)
    await recorder.settle(durable=True)

    assert writer.batches == [([1, 2], False), ([3], True)]


@in_loop
async def test_a_cancelled_settle_loses_nothing_and_the_end_comes_last():
    writer = Writer()
    writer.gate.clear()
    recorder = Recorder("e", writer)
    recorder.write("", ResetRequested(seed=None))
    settling = asyncio.create_task(recorder.settle(durable=False))
    await asyncio.sleep(0.05)
    settling.cancel()
    await asyncio.gather(settling, return_exceptions=True)
    threading.Timer(0.05, writer.gate.set).start()
    recorder.end(Outcome("interrupted", "cancelled"))

    assert writer.batches == [([1], False), ([2], True)]


@in_loop
async def test_a_durable_settle_that_another_lane_overtakes_flushes_all_the_same(monkeypatch):
    with ThreadPoolExecutor(1) as busy:
        monkeypatch.setitem(recorder_module._executors, os.getpid(), busy)
        busy.submit(time.sleep, 0.05)
        writer = Writer()
        recorder = Recorder("e", writer)
        recorder.write("0", EvaluateRequested())
        durable = asyncio.create_task(recorder.settle(durable=True))
        await asyncio.sleep(0)
        recorder.write("1", EvaluateRequested())
        await recorder.settle(durable=False)
        await durable
        await recorder.settle(durable=True)

    assert writer.batches == [([1, 2], False), ([], True)]


@in_loop
async def test_a_settle_waits_for_another_lanes_that_has_taken_its_events():
    writer = Writer()
    writer.gate.clear()
    recorder = Recorder("e", writer)
    recorder.write("0", EvaluateRequested())
    other = asyncio.create_task(recorder.settle(durable=False))
    await asyncio.sleep(0.02)
    threading.Timer(0.02, writer.gate.set).start()
    await recorder.settle(durable=False)
    stored = list(writer.batches)
    await other

    assert stored == [([1], False)]


@in_loop
async def test_an_episode_ends_once_though_it_is_stopped_while_its_end_is_written():
    writer = Writer()
    writer.gate.clear()
    recorder = Recorder("e", writer)
    writing = asyncio.create_task(asyncio.to_thread(recorder.end, Outcome("completed", "finished")))
    await asyncio.sleep(0.05)
    threading.Timer(0.05, writer.gate.set).start()
    recorder.end(Outcome("interrupted", "cancelled"))
    await writing

    assert writer.batches == [([1], True)]


@in_loop
async def test_an_unflushed_commit_is_made_in_the_loop_and_one_that_must_wait_in_a_thread():
    writer, threads = Writer(), []
    append = writer.append

    def noted(events, *, durable):
        threads.append(threading.current_thread())
        append(events, durable=durable)

    writer.append = noted
    recorder = Recorder("e", writer)
    for durable, waits in ((False, False), (True, False), (False, True)):
        if waits:
            writer.gate.clear()
            threading.Timer(0.02, writer.gate.set).start()
        recorder.write("", EvaluateRequested())
        await recorder.settle(durable=durable)

    assert [thread is threading.main_thread() for thread in threads] == [True, False, False]
    assert writer.batches == [([1], False), ([2], True), ([3], False)]


@in_loop
@pytest.mark.parametrize(
    ("cause", "advice"),
    [
        (StoreError("the disk is full"), "Mend what is wrong with the database"),
        (Conflict("the disk is full"), "find the other"),
        (SchemaViolation("the disk is full"), "please report it"),
    ],
)
async def test_a_commit_that_could_not_be_made_at_once_stops_the_recording(cause, advice):
    writer = Writer()
    writer.append_at_once = lambda events: (_ for _ in ()).throw(cause)
    recorder = Recorder("e", writer)
    recorder.write("", EvaluateRequested())
    with pytest.raises(RecordingStopped, match=f"the disk is full.*{advice}"):
        await recorder.settle(durable=False)
    with pytest.raises(RecordingStopped, match="the disk is full"):
        recorder.write("", EvaluateRequested())


def test_time_is_utc_microseconds():
    assert 1_700_000_000_000_000 < now_us() < 5_000_000_000_000_000


def test_the_last_event_number_is_kept_for_the_end(monkeypatch):
    monkeypatch.setattr("spectrace.runs.recorder.MAX_SEQ", 2)
    recorder = Recorder("e", Writer())
    recorder.write("", ResetRequested(seed=None))

    with pytest.raises(LogFull):
        recorder.write("", EvaluateRequested())
    recorder.end(Outcome("truncated", "max_events"))


def end_session(store):
    """End the session that the store writes through, as the server's administrator may."""
    with store.database.writing(durable=False) as connection:
        pid = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
    with store.database.reading() as connection:
        connection.exec_driver_sql("SELECT pg_terminate_backend(%s)", (pid,))


@in_loop
async def test_a_connection_lost_in_the_middle_is_told_as_that_with_what_is_recorded(postgres_url):
    store, told = open_store(postgres_url), []

    def watch(episode, seq, _body):
        told.append(episode)
        if seq == 5:
            end_session(store)

    with pytest.raises(RecordingStopped, match="the connection was lost") as raised:
        await record_shop(store, watch=watch)
    kept = list(store.read(told[0]))

    assert f"Its first {len(kept)} events had been recorded" in str(raised.value)
    assert "was offered" not in str(raised.value)
    assert store.row(told[0]).state == "interrupted"
    store.close()


@in_loop
async def test_after_a_refused_batch_every_later_word_names_the_first_cause(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    recorder = Recorder("ep1", store.create("ep1", sample_episode(1)[0], EPOCH_US))
    with store.database.writing(durable=True) as connection:
        connection.exec_driver_sql("ALTER TABLE events RENAME TO elsewhere")
    recorder.write("", ResetRequested(seed=None))
    with pytest.raises(RecordingStopped, match="no such table") as first:
        await recorder.settle(durable=True)
    with pytest.raises(RecordingStopped) as second:
        recorder.write("", EvaluateRequested())
    with pytest.raises(RecordingStopped) as third:
        recorder.end(Outcome("failed", "error_StoreError"))

    assert str(first.value) == str(second.value) == str(third.value)
    store.close()
