"""The recorder numbers and stamps; a cancelled await loses no batch and lets none overtake another."""

import asyncio
import threading

import pytest

from spectrace.core.events import EvaluateRequested, ResetRequested
from spectrace.core.types import Outcome
from spectrace.runs.recorder import LogFull, Recorder, now_us
from tests.aio import in_loop


class Writer:
    def __init__(self):
        self.batches = []
        self.gate = threading.Event()
        self.gate.set()

    def append(self, events, *, durable):
        self.gate.wait(5)
        self.batches.append(([event.seq for event in events], durable))

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


def test_time_is_utc_microseconds():
    assert 1_700_000_000_000_000 < now_us() < 5_000_000_000_000_000


def test_the_last_event_number_is_kept_for_the_end(monkeypatch):
    monkeypatch.setattr("spectrace.runs.recorder.MAX_SEQ", 2)
    recorder = Recorder("e", Writer())
    recorder.write("", ResetRequested(seed=None))

    with pytest.raises(LogFull):
        recorder.write("", EvaluateRequested())
    recorder.end(Outcome("truncated", "max_events"))
