"""Case 025: a first wrong step outside the segment is no verdict; nothing is clamped, nothing counted from the end."""

import json
from pathlib import Path

import pytest

from spectrace.core.events import ActCompleted, SegmentCommitted, StepsDiscarded, VerdictGiven
from tests.lending_desk import OTHER, assert_no_verdict, play_review, play_unusable, review
from tests.playbook import accept, written

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())
INVALID = [name for name, facts in EXPECTED.items() if "verdict" in facts]


def test_an_empty_valid_prefix_discards_every_step_and_the_reads_stay_in_the_log():
    desk = play_review(CASE, review(CASE / "len_0.json"), written(OTHER), accept())
    verdict = desk.bodies(VerdictGiven)[0]

    assert (verdict.outcome, verdict.accepted) == ("reject", EXPECTED["len_0.json"]["valid_prefix_len"])
    assert [fact for fact in desk.bodies(SegmentCommitted) if fact.segment == 1] == []
    assert [(fact.start, fact.end, fact.reason) for fact in desk.bodies(StepsDiscarded)] == [(1, 4, "rejected")]
    assert [act.tool for act in desk.bodies(ActCompleted)][:3] == ["find_member", "list_loans", "branch_hours"]
    assert not desk.ran("renew_loan")
    assert [message.role for message in desk.asked("strong")[1].messages] == ["system", "user", "user"]


@pytest.mark.parametrize("name", INVALID)
def test_a_number_out_of_range_is_no_verdict(name):
    assert_no_verdict(play_unusable(CASE, review(CASE / name)), "a whole number from 1 to 4")
