"""A record is followed with its own protocol, to its end or as far as it goes; the first difference is named."""

from dataclasses import replace

import pytest

from spectrace.core.classified import by_record
from spectrace.core.events import (
    ActCompleted,
    EpisodeEnded,
    EvaluateCompleted,
    GenerateCompleted,
    GenerateRequested,
    SegmentClosed,
    StepDrafted,
)
from spectrace.core.following import Parting, follow
from spectrace.core.protocols import recorded_protocol
from spectrace.core.setup import setup_of
from spectrace.core.speculative_actions import SpeculativeActions
from tests.altered import each, first, put, renumbered
from tests.episodes import recorded_events
from tests.properties.played import play
from tests.properties.scripts import Script

EVENTS = recorded_events()
GUESSED = play(Script(weak=("read", "read"), strong=("read", "read", "finish")), SpeculativeActions, {}).events


def parting(events):
    started = events[0].body
    return follow(recorded_protocol(started).run(setup_of(started, by_record(events))), events)


@pytest.mark.parametrize("events", [EVENTS, GUESSED], ids=["specagent", "lanes side by side"])
def test_a_sound_record_is_followed_wherever_it_stops(events):
    for end in range(1, len(events) + 1):
        assert parting(events[:end]) is None, end


def test_a_difference_names_the_event_the_field_and_both_sides():
    closed = first(EVENTS, SegmentClosed)

    assert parting(put(EVENTS, closed.seq, steps=9)) == Parting(closed.seq, "/steps", "9", str(closed.body.steps))


def test_another_event_is_named_with_what_came_instead():
    drafted = first(EVENTS, StepDrafted)
    less = renumbered([event for event in EVENTS if event is not drafted])

    assert parting(less) == Parting(drafted.seq, "", EVENTS[drafted.seq + 1].type, "step.drafted")


def test_what_stands_behind_an_unanswered_question_is_a_difference():
    said = first(EVENTS, GenerateCompleted)
    left = parting([event for event in EVENTS if event is not said])

    assert left.seq == said.seq + 1
    assert left.found == "nothing: a question before it has no answer"


def test_of_lanes_side_by_side_the_earliest_difference_counts():
    lanes = [one for one in each(GUESSED, GenerateRequested) if one.lane]
    assert len({one.lane for one in lanes}) > 1
    changed = GUESSED
    for one in lanes:
        changed = put(changed, one.seq, position="elsewhere")

    assert parting(changed).seq == min(one.seq for one in lanes)


def test_the_end_is_what_the_protocol_comes_to():
    end = first(EVENTS, EpisodeEnded)
    ungraded = put(EVENTS, first(EVENTS, EvaluateCompleted).seq, reward="0.25")

    assert parting(put(EVENTS, end.seq, answer="another")).field == "/answer"
    assert parting(ungraded) == Parting(end.seq, "/reward", repr(end.body.reward), "'0.25'")


@pytest.mark.parametrize("reason", ["max_events", "error_KeyError"])
def test_an_end_from_outside_is_where_the_record_stops(reason):
    end = first(EVENTS, EpisodeEnded)

    assert parting([*EVENTS[:7], replace(EVENTS[7], body=replace(end.body, reason=reason))]) is None


def test_an_outcome_is_derived_from_the_observation():
    answer = first(EVENTS, ActCompleted)

    assert parting(put(EVENTS, answer.seq, outcome="error")) == Parting(answer.seq, "/outcome", "'error'", "'ok'")
