"""Case 020: the same verdict in four wrappings commits the same; the record says what was taken off."""

import json
from pathlib import Path

import pytest

from spectrace.core.events import ActRequested, GenerateCompleted, SegmentCommitted, VerdictGiven
from spectrace.core.types import Call
from spectrace.core.unwrapping import BYTE_ORDER_MARK, FENCE
from spectrace.core.verdict_reading import PROSE
from tests.lending_desk import play_review, review
from tests.playbook import accept

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())["*"]
WRAPPINGS = {
    "bare.json": ("ok", None),
    "fenced.json": ("repaired", FENCE),
    "fenced_with_preface.json": ("repaired", PROSE),
    "bom_and_spaces.json": ("repaired", BYTE_ORDER_MARK),
}


def played(name):
    return play_review(CASE, review(CASE / name), accept())


@pytest.mark.parametrize("name", WRAPPINGS)
def test_every_wrapping_gives_the_same_verdict_and_the_record_says_which_it_was(name):
    verdict = played(name).bodies(VerdictGiven)[0]

    assert (verdict.accepted, verdict.replacement.tool) == (EXPECTED["valid_prefix_len"], EXPECTED["replacement"])
    assert verdict.replacement == Call("renew_loan", '{"loan_id": 5001, "days": 14}')
    assert (verdict.status, verdict.cause) == WRAPPINGS[name]
    assert verdict.raw == review(CASE / name).message.content


@pytest.mark.parametrize("name", WRAPPINGS)
def test_every_wrapping_commits_and_executes_the_same(name):
    desk = played(name)

    assert [(fact.start, fact.end) for fact in desk.bodies(SegmentCommitted) if fact.segment == 1] == [(1, 2)]
    assert [(act.tool, act.authority.partition(":")[0]) for act in desk.bodies(ActRequested)] == [
        ("find_member", "read"),
        ("list_loans", "read"),
        ("branch_hours", "read"),
        ("renew_loan", "repair"),
        (None, "verdict"),
    ]
    assert desk.replayed().result == "same"


@pytest.mark.parametrize("name", WRAPPINGS)
def test_the_raw_reply_and_its_finish_reason_are_recorded(name):
    said = review(CASE / name)
    answers = played(name).bodies(GenerateCompleted)

    assert (said.message, "stop") in [(answer.message, answer.finish_reason) for answer in answers]
