"""A recording answers by position and asserts the question; nothing is looked up by content."""

import asyncio
from dataclasses import replace

import pytest

from spectrace.core.events import (
    ActCompleted,
    EpisodeEnded,
    EvaluateRequested,
    Event,
    ResetRequested,
    Unknown,
)
from spectrace.core.types import Observation
from spectrace.errors import ReplayDiverged
from spectrace.runs.recording import Comparison, RecordedSource, RecordEnds, Recording
from tests.episodes import recorded_events


def test_a_question_is_compared_with_the_next_event_of_its_lane():
    log = Comparison(Recording(recorded_events()))

    assert log.write("", ResetRequested(seed=None)) == 1
    with pytest.raises(ReplayDiverged, match=r"event 2: recorded reset\.completed, this run came to evaluate"):
        log.write("", EvaluateRequested())


def test_a_question_in_a_lane_that_the_record_had_done_with_is_a_difference():
    recorded = [event for event in recorded_events() if event.seq < 3]

    with pytest.raises(ReplayDiverged, match=r"event 1: recorded reset\.requested when lane 0 was over"):
        Comparison(Recording(recorded)).write("0", EvaluateRequested())


def test_a_lane_that_the_record_breaks_off_in_ends_it():
    cut = Event("e", 1, "", 0, EpisodeEnded(outcome="interrupted", reason="cancelled", answer=None, reward=None))

    for recorded in ([], [cut]):
        with pytest.raises(RecordEnds):
            Comparison(Recording(recorded)).write("0.1", EvaluateRequested())


def test_the_first_event_that_nothing_asked_for_is_named():
    recording = Recording(recorded_events())
    Comparison(recording).write("", ResetRequested(seed=None))

    assert recording.left().seq == 2


def test_an_observation_with_losses_is_named_and_not_counted_as_exact():
    recording = Recording([])
    done = next(event.body for event in recorded_events() if isinstance(event.body, ActCompleted))
    lost = '{"$lossy":["$.a","$.b","$.c","$.d"],"value":{}}'
    for seq, content in enumerate(("exact", lost)):
        recording.observed(seq, replace(done, observation=Observation(content)))

    assert (recording.exact_observations, recording.lossy) == (1, ["event 1 ($.a, $.b, $.c, ...)"])


def test_events_of_unknown_types_are_not_asked_for():
    events = recorded_events()
    odd = Event(events[0].episode, 1, "", 0, Unknown("moon.risen", 1, "{}"))

    assert Recording([events[0], odd, *events[1:]]).peek("").type == "reset.requested"


def test_a_question_whose_answer_was_never_recorded_ends_the_record():
    source = RecordedSource(Recording(recorded_events()[:2]))

    with pytest.raises(RecordEnds):
        asyncio.run(source.reset("", 1, None, None))


def test_an_end_before_the_recorded_one_names_what_was_left():
    log = Comparison(Recording(events := recorded_events()))

    assert "event 4: recorded generate.completed(drafter), this run ended (finished) before it" in str(
        log.ended_before(events[4], "finished")
    )
    assert log.told[4].found == "the end (finished)"


def test_what_stands_before_the_next_event_is_of_the_same_lane():
    recording = Recording(recorded_events())
    assert recording.before("") is None

    recording.advance("")

    assert (recording.before("").seq, recording.before("0")) == (1, None)
