"""Case 002: empty arguments are no arguments, never broken JSON, and never a filled-in missing one."""

import json
from pathlib import Path

import pytest

from spectrace.core.events import ActRequested, GenerateCompleted, ReplyUnusable, StepDrafted
from spectrace.core.types import Call
from tests.lending_desk import DONE, completion, play
from tests.playbook import accept

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())


def played(name):
    return play([completion(CASE / name), DONE], [accept()], native=True)


@pytest.mark.parametrize("name", ["response.json", "response_whitespace.json"])
def test_blank_arguments_are_one_step_without_arguments_and_the_raw_text_is_kept(name):
    desk = played(name)
    step = desk.bodies(StepDrafted)[0]

    assert [{"name": step.action.tool, "arguments": json.loads(step.action.arguments)}] == EXPECTED[name]["steps"]
    assert desk.called == [("branch_hours", {})]
    assert desk.bodies(GenerateCompleted)[0].message == completion(CASE / name).message
    assert [(fact.next, fact.cause) for fact in desk.bodies(ReplyUnusable)] == [
        ("tolerated", "empty arguments were read as {}")
    ]


def test_a_missing_required_argument_is_a_step_that_is_never_sent_and_the_episode_goes_on():
    desk = played("response_required_missing.json")
    step = desk.bodies(StepDrafted)[0]

    assert step.action == Call("find_member", "{}")
    assert "'card' is a required property" in step.objection
    assert (desk.called, [act.tool for act in desk.bodies(ActRequested)]) == ([], [None])
    assert desk.ended.outcome == "completed"


def test_it_replays():
    assert [played(name).replayed().result for name in EXPECTED] == ["same"] * 3
