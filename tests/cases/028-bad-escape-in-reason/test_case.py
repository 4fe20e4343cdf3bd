"""Case 028: what is nearly JSON is no verdict, each kind alike, with a clear reason; the others are not lost."""

import json
from pathlib import Path

import pytest

from tests.lending_desk import assert_no_verdict, play_review, play_unusable, review
from tests.playbook import accept

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())["*"]
NEARLY = {
    "bad_escape.json": "not JSON: the value of 'reason' is broken",
    "raw_newline.json": "not JSON: the value of 'reason' is broken",
    "single_quotes.json": "not JSON: the name of a member is broken",
    "trailing_comma.json": "not JSON: a comma before the closing brace",
}


@pytest.mark.parametrize("name", NEARLY)
def test_it_is_no_verdict_with_a_clear_reason(name):
    desk = play_unusable(CASE, review(CASE / name))

    assert EXPECTED == {"crash": False, "held_action_executed": False}
    assert_no_verdict(desk, NEARLY[name])


@pytest.mark.parametrize("name", NEARLY)
def test_in_a_re_verification_the_other_verdicts_are_not_lost(name):
    bad = review(CASE / name)
    desk = play_review(CASE, accept(), accept())
    again = desk.reverified(bad, bad, accept())

    assert [one.new.decision for one in again] == ["unusable", "accept"]
    assert [one.agree for one in again] == [None, True]
