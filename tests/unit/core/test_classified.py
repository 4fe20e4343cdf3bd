"""Effects by arguments: the record's word first, the classifier's for what is in no event, each call once."""

from dataclasses import replace

from spectrace.core.classified import by_record
from spectrace.core.events import ActRequested, StepDrafted
from spectrace.core.types import Call, Effect
from tests.forks import desk_events, first

CHANGE = Call("change", '{"id": "A"}')


def test_the_record_says_what_was_decided():
    events = desk_events()
    seq = first(events, StepDrafted)
    other = [replace(one, body=replace(one.body, effect="read")) if one.seq == seq else one for one in events]

    assert by_record(events)(CHANGE) is Effect.WRITE
    assert by_record(other)(CHANGE) is Effect.READ  # the first event about a call, not the last


def test_what_is_in_no_event_is_asked_once_or_is_a_write():
    asked = []

    def classify(call: Call) -> Effect:
        asked.append(call)
        return Effect.READ if len(asked) == 1 else Effect.WRITE

    found = by_record((), classify)

    assert [found(CHANGE), found(CHANGE)] == [Effect.READ, Effect.READ]
    assert asked == [CHANGE]
    assert by_record(())(CHANGE) is Effect.WRITE


def test_a_recorded_effect_that_is_none_is_passed_over():
    events = [
        replace(one, body=replace(one.body, effect="perhaps")) if isinstance(one.body, StepDrafted) else one
        for one in desk_events()
    ]
    asked = [one for one in events if isinstance(one.body, ActRequested)]

    assert by_record(events)(CHANGE) is Effect(asked[0].body.effect)
