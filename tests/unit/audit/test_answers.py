from dataclasses import FrozenInstanceError

import pytest

from spectrace.audit.answers import Filters, WhyItem, WhyStep
from spectrace.core.types import Call, Observation


def step(number, *, fate="committed", act=None, observation=None):
    return WhyStep(number, f"s1.{number}", Call("t", "{}"), "write", observation, False, fate, 10 + number, act)


def item(**changes):
    values = {
        "episode": "e",
        "request": "r",
        "segment": 1,
        "verdict_seq": 9,
        "review_seq": 7,
        "drafted": 2,
        "accepted": 1,
        "decision": "reject",
        "status": "ok",
        "cause": None,
        "category": "premature",
        "reason": "why",
        "raw": "",
        "weak": None,
        "strong": None,
        "earlier": 0,
        "closed": "held",
        "steps": (step(1), step(2, fate="discarded")),
        "repair_seq": None,
        "repair_kind": None,
        "fused_unusable": None,
        "repair": (),
        "end_status": "completed",
        "end_reason": "finished",
        "reward": None,
    }
    return WhyItem(**{**values, **changes})


def test_the_rejected_step_is_the_one_after_the_accepted():
    assert item().rejected == step(2, fate="discarded")


def test_an_accepting_review_has_no_rejected_step():
    assert item(decision="accept", accepted=2).rejected is None


def test_a_review_whose_steps_are_elsewhere_has_no_rejected_step():
    assert item(steps=()).rejected is None


@pytest.mark.parametrize(
    ("repair", "outcome"),
    [
        ((), None),
        ((step(1),), "never"),
        ((step(1, act=20, observation=Observation("done")),), "ok"),
        ((step(1, act=20, observation=Observation("no", error=True)), step(2)), "error"),
        ((step(1, act=20),), "indeterminate"),
    ],
)
def test_a_repair_came_out_as_its_last_sent_action_did(repair, outcome):
    assert item(repair=repair).repair_outcome == outcome


def test_filters_are_values():
    assert Filters(env=("shop",)) == Filters(env=("shop",))
    with pytest.raises(FrozenInstanceError):
        Filters().limit = 3
