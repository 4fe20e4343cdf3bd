"""Case 021: an example verdict in a reviewer's thoughts is no verdict."""

import json
from pathlib import Path

from spectrace.core.events import VerdictGiven
from spectrace.core.unwrapping import THOUGHTS
from tests.lending_desk import assert_no_verdict, play_review, play_unusable, review
from tests.playbook import accept

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())


def test_the_verdict_after_the_thoughts_counts_and_not_the_example_in_them():
    desk = play_review(CASE, review(CASE / "response.json"), accept())
    verdict = desk.bodies(VerdictGiven)[0]

    assert '{"verdict": "accept"' in verdict.raw
    assert verdict.accepted == EXPECTED["response.json"]["valid_prefix_len"]
    assert (verdict.status, verdict.cause) == ("repaired", THOUGHTS)
    assert desk.replayed().result == "same"


def test_thoughts_that_never_end_hold_no_verdict():
    desk = play_unusable(CASE, review(CASE / "unclosed_think.json"))

    assert EXPECTED["unclosed_think.json"] == {"verdict": None}
    assert_no_verdict(desk, "cut off")
