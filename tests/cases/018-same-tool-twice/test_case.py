"""Case 018: two calls of one tool in one reply are two steps, in the order sent; both run, both outputs are kept."""

import json
from pathlib import Path

from spectrace.core.events import ActCompleted, StepDrafted
from tests.lending_desk import DONE, completion, play
from tests.playbook import accept

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())["steps"]


def played():
    return play([completion(CASE / "response.json"), DONE], [accept()], native=True)


def test_both_are_steps_in_the_order_sent_and_both_run():
    desk = played()
    steps = [step for step in desk.bodies(StepDrafted) if step.tool]

    assert [{"name": step.tool, "arguments": json.loads(step.action.arguments)} for step in steps] == EXPECTED
    assert desk.called == [(step["name"], step["arguments"]) for step in EXPECTED]


def test_both_outputs_are_kept_each_with_its_own_step():
    desk = played()
    observed = [act.position for act in desk.bodies(ActCompleted) if act.tool == "list_loans"]
    answered = [message.call_id for message in desk.asked("weak")[1].messages if message.role == "tool"]

    assert observed == answered == ["s1.1", "s1.2"]
    assert desk.replayed().result == "same"
