"""A replay under another order: lanes keep their answers, whoever comes first; inside a lane order is asserted."""

import asyncio
from itertools import permutations

import pytest

from spectrace.core.commands import act, parallel
from spectrace.core.events import ActCompleted, ActRequested, Event
from spectrace.core.types import Call, Effect, Observation
from spectrace.errors import ReplayDiverged
from spectrace.runs.drive import Driver
from spectrace.runs.recording import Comparison, RecordedSource, Recording

POLL, OTHER = Call("poll", '{"id": 7}'), Call("find", '{"id": 8}')
ASKED = (POLL, OTHER, POLL)
SAID = ("not yet", "found", "ready")
FINISHED = (2, 0, 1)
"""The order in which the recorded reads were answered."""


def requested(action, position):
    return ActRequested(
        effect="read",
        authority="read",
        tool=action.tool,
        position=position,
        action=action,
        requestor="agent",
        idempotency_key="",
    )


def completed(action, position, request, said):
    return ActCompleted(
        effect="read",
        authority="read",
        outcome="ok",
        tool=action.tool,
        request=request,
        position=position,
        observation=Observation(said),
        fingerprint_before=None,
        fingerprint_after=None,
        latency_us=None,
        source="live",
    )


def side_by_side():
    """Three reads in lanes of their own, the first and the last alike."""
    events = [Event("e", n + 1, str(n), 0, requested(action, f"s1.{n + 1}")) for n, action in enumerate(ASKED)]
    for seq, lane in enumerate(FINISHED, 4):
        events.append(Event("e", seq, str(lane), 0, completed(ASKED[lane], f"s1.{lane + 1}", lane + 1, SAID[lane])))
    return Recording(events)


def one_by_one():
    """The first two of them, one after the other."""
    bodies = [
        requested(POLL, "s1.1"),
        completed(POLL, "s1.1", 1, "not yet"),
        requested(OTHER, "s1.2"),
        completed(OTHER, "s1.2", 3, "found"),
    ]
    return Recording([Event("e", seq, "", 0, body) for seq, body in enumerate(bodies, 1)])


class Delayed(RecordedSource):
    """Lets the lanes' answers come in a given order, as far as the driver lets them."""

    def __init__(self, recording, order):
        super().__init__(recording)
        self._order = order

    async def act(self, lane, request, command):
        for _ in range(5 * self._order.index(int(lane))):
            await asyncio.sleep(0)
        return await super().act(lane, request, command)


def read(action, position):
    return act(action, Effect.READ, "read", position)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_equal_reads_side_by_side_have_each_its_own_answer_in_any_order(order):
    recording = side_by_side()
    reads = [read(action, f"s1.{number}") for number, action in enumerate(ASKED, 1)]
    driver = Driver(Delayed(recording, order), Comparison(recording), "record")
    answers = asyncio.run(driver.run(parallel(reads)))

    assert [answer.value.observation.content for answer in answers] == list(SAID)
    assert recording.left() is None


def test_reads_in_another_order_are_a_difference_that_names_where_it_was_recorded():
    recording = one_by_one()
    log = Comparison(recording)
    driver = Driver(RecordedSource(recording), log, "record")

    with pytest.raises(ReplayDiverged, match=r"event 1: act\.requested\(poll\) differs in /tool"):
        asyncio.run(driver.run(read(OTHER, "s1.1")))
    assert [(near.seq, near.differs) for near in log.told[1].nearest] == [(3, ("/position",))]


def test_what_was_recorded_and_not_asked_for_is_reported_as_left():
    recording = one_by_one()
    asyncio.run(Driver(RecordedSource(recording), Comparison(recording), "record").run(read(POLL, "s1.1")))

    assert recording.left().seq == 3
