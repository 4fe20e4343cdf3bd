"""Case 014: a name with a control token, or an invented one, is unknown: a write, never a read, and never sent."""

import json
from pathlib import Path

import pytest

from spectrace.core.events import ActRequested, StepDrafted
from tests.lending_desk import DONE, completion, play
from tests.playbook import accept

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())


def played(name):
    return play([completion(CASE / name), DONE], [accept()], native=True)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_name_is_recorded_exactly_as_sent_and_is_a_write(name):
    sent = completion(CASE / name).message.calls[0]
    step = played(name).bodies(StepDrafted)[0]

    assert (step.action.tool, step.tool, step.action.arguments) == (sent.name, sent.name, sent.arguments)
    assert step.effect == "write"


@pytest.mark.parametrize("name", EXPECTED)
def test_it_is_never_sent_and_its_clean_prefix_is_not_called_either(name):
    desk = played(name)

    assert EXPECTED[name] == {"executed_without_review": False}
    assert (desk.called, [act.tool for act in desk.bodies(ActRequested)]) == ([], [None])


@pytest.mark.parametrize("name", EXPECTED)
def test_the_weak_model_reads_why_and_the_run_goes_on(name):
    desk = played(name)
    heard = desk.asked("weak")[1].messages[-1]

    assert heard.role == "tool"
    assert f"no tool is named {completion(CASE / name).message.calls[0].name!r}" in heard.content
    assert desk.ended.outcome == "completed"
    assert desk.replayed().result == "same"
