"""Case 026: a whole number written as text or as 2.0 is read and said; a word or a fraction is no verdict."""

import json
from pathlib import Path

import pytest

from spectrace.core.events import VerdictGiven
from tests.lending_desk import OTHER, assert_no_verdict, play_review, play_unusable, review
from tests.playbook import accept, written

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())
COERCED = {"string.json": '"3"', "float_integral.json": "3.0"}
NO_VERDICT = [name for name, facts in EXPECTED.items() if "verdict" in facts]


@pytest.mark.parametrize("name", COERCED)
def test_a_whole_number_in_another_dress_is_read_and_the_record_says_so(name):
    desk = play_review(CASE, review(CASE / name), written(OTHER), accept())
    verdict = desk.bodies(VerdictGiven)[0]

    assert verdict.accepted == EXPECTED[name]["valid_prefix_len"]
    assert (verdict.status, verdict.cause) == ("repaired", f"first_wrong was written {COERCED[name]}, read as 3")


@pytest.mark.parametrize("name", NO_VERDICT)
def test_a_word_and_a_fraction_are_no_verdict(name):
    assert_no_verdict(play_unusable(CASE, review(CASE / name)), "a whole number from 1 to 4")


@pytest.mark.parametrize("name", EXPECTED)
def test_record_replay_and_re_verification_read_it_alike(name):
    said = review(CASE / name)
    usable = name in COERCED
    desk = play_review(CASE, said, written(OTHER), accept()) if usable else play_unusable(CASE, said)
    again = desk.reverified(said, *([] if usable else [said]), accept())[0]
    recorded = desk.episode.segments[0].verdict

    assert desk.replayed().result == "same"
    assert (again.new.status, again.new.accepted, again.new.cause) == (
        recorded.status,
        recorded.accepted,
        recorded.cause,
    )
