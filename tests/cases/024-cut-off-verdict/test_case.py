"""Case 024: a verdict that was cut off is no verdict, and no replacement is made of a part of one."""

import json
from pathlib import Path

import pytest

from spectrace.core.events import GenerateCompleted, RepairMade
from tests.lending_desk import OTHER, assert_no_verdict, play_unusable, review

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())["*"]
CUTS = {
    "cut_in_reason.json": "cut off (finish reason length)",
    "cut_before_replacement.json": "cut off (finish reason length)",
    "cut_but_says_stop.json": "broken or cut off",
}


@pytest.mark.parametrize("name", CUTS)
def test_there_is_no_verdict_and_the_held_action_does_not_run(name):
    desk = play_unusable(CASE, review(CASE / name))

    assert EXPECTED == {"verdict": None, "held_action_executed": False}
    assert_no_verdict(desk, CUTS[name])


@pytest.mark.parametrize("name", CUTS)
def test_raw_text_and_finish_reason_of_both_attempts_are_stored(name):
    said = review(CASE / name)
    answers = [
        (answer.message, answer.finish_reason)
        for answer in play_unusable(CASE, said).bodies(GenerateCompleted)
        if answer.role == "reviewer"
    ]

    assert answers[:2] == [(said.message, said.finish_reason)] * 2


def test_the_repair_is_the_strong_models_own_turn_and_not_the_half_replacement():
    repair = play_unusable(CASE, review(CASE / "cut_before_replacement.json")).bodies(RepairMade)[0]

    assert (repair.kind, repair.actions) == ("corrective", (OTHER,))
