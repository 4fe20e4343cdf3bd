"""Case 010: what was called is what the content says; a finish reason is a hint."""

import json
from pathlib import Path

import pytest

from spectrace.core.events import GenerateCompleted, ReplyUnusable, SegmentClosed, StepDrafted
from tests.lending_desk import DONE, OTHER, completion, play
from tests.playbook import accept, written

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())
EMPTY = [name for name, facts in EXPECTED.items() if facts["n_steps"] == 0]


@pytest.mark.parametrize("name", EMPTY)
def test_a_turn_without_calls_is_recorded_counted_asked_again_once_and_never_executed(name):
    empty = completion(CASE / name)
    desk = play([empty, empty, DONE], [written(OTHER), accept()], native=True)
    first, second = desk.asked("weak")[:2]

    assert [(fact.next, "finish reason says tool_calls" in fact.cause) for fact in desk.bodies(ReplyUnusable)] == [
        ("asked_again", True),
        ("gave_up", True),
    ]
    assert desk.bodies(SegmentClosed)[0].steps == EXPECTED[name]["n_steps"]
    assert desk.bodies(SegmentClosed)[0].reason == "unusable_draft"
    assert second.messages != first.messages
    assert desk.called == [("branch_hours", {})]  # the strong model's own turn
    assert desk.replayed().result == "same"


def test_a_call_that_is_there_is_a_step_and_what_the_server_said_of_it_stays_recorded():
    desk = play([completion(CASE / "stop_but_call_present.json"), DONE], [accept()], native=True)
    answer = desk.bodies(GenerateCompleted)[0]

    assert len([step for step in desk.bodies(StepDrafted) if step.tool]) == 1
    assert desk.called == [("branch_hours", {})]
    assert (answer.finish_reason, len(answer.message.calls)) == ("stop", 1)
