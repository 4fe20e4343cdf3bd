"""The vocabulary is closed, numbered and named in the past tense."""

from dataclasses import fields
from typing import get_args

from spectrace.core.events import HEADER_FIELDS, TYPE_NUMBERS, Body, Event, Unknown


def test_every_event_has_a_number_of_its_own_that_is_never_changed():
    assert set(TYPE_NUMBERS) == set(get_args(Body))
    assert sorted(TYPE_NUMBERS.values()) == list(range(1, len(TYPE_NUMBERS) + 1))
    assert {kind.TYPE: number for kind, number in TYPE_NUMBERS.items()} == {
        "episode.started": 1,
        "episode.ended": 2,
        "reset.requested": 3,
        "reset.completed": 4,
        "reset.failed": 5,
        "generate.requested": 6,
        "generate.completed": 7,
        "generate.failed": 8,
        "act.requested": 9,
        "act.completed": 10,
        "act.failed": 11,
        "evaluate.requested": 12,
        "evaluate.completed": 13,
        "evaluate.failed": 14,
        "step.drafted": 15,
        "action.held": 16,
        "action.checked": 17,
        "segment.closed": 18,
        "verdict.given": 19,
        "segment.committed": 20,
        "steps.discarded": 21,
        "repair.made": 22,
        "reply.unusable": 23,
        "tools.changed": 24,
        "effect.observed": 25,
        "state.moved": 26,
        "outcome.settled": 27,
        "admin.opened": 28,
        "admin.upgraded": 29,
        "admin.restored": 30,
        "admin.imported": 31,
        "admin.unpacked": 32,
        "admin.copied": 33,
        "admin.begun": 34,
        "step.speculated": 35,
        "speculation.matched": 36,
        "plan.made": 37,
        "progress.judged": 38,
        "control.passed": 39,
        "admin.erased": 40,
        "admin.key_changed": 41,
    }


def test_no_field_of_an_event_is_a_float():
    floats = [(kind.TYPE, item.name) for kind in TYPE_NUMBERS for item in fields(kind) if "float" in str(item.type)]

    assert floats == []


def test_header_fields_hold_no_free_text():
    assert HEADER_FIELDS == ("effect", "authority", "outcome", "tool")


def test_an_unknown_event_keeps_its_name_and_version():
    event = Event("e", 1, "", 0, Unknown("moon.risen", 3, "{}"))

    assert (event.type, event.version) == ("moon.risen", 3)
