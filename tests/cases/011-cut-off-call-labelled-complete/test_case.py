"""Case 011: a call that was cut off is never executed, never held for review, and never sent back to a server."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from spectrace.core.events import ActionHeld, ActRequested, GenerateCompleted, ReplyUnusable
from spectrace.core.types import Call
from tests.lending_desk import DONE, OTHER, completion, play
from tests.playbook import accept, written

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())
LIMIT = json.dumps({"max_tokens": json.loads((CASE / "request.json").read_text())["max_tokens"]})
WHOLE = Call("renew_loan", '{"loan_id": 5001, "days": 14}')


def played(name, *then, strong=None, **how):
    return play([completion(CASE / name), *then, DONE], strong or [accept()] * 2, native=True, **how)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_call_that_was_cut_off_is_neither_executed_nor_offered(name):
    cut = completion(CASE / name)
    desk = played(name, cut, strong=(written(OTHER), accept()), weak_parameters=LIMIT)

    assert EXPECTED[name] == {"truncated": True, "executable": False}
    assert [(fact.next, "the reply was cut off" in fact.cause) for fact in desk.bodies(ReplyUnusable)] == [
        ("asked_again", True),
        ("gave_up", True),
    ]
    assert [(act.tool, act.authority.partition(":")[0]) for act in desk.bodies(ActRequested)] == [
        ("branch_hours", "repair"),
        (None, "verdict"),
    ]
    assert [held.tool for held in desk.bodies(ActionHeld)] == [None]


@pytest.mark.parametrize("name", EXPECTED)
def test_its_raw_text_and_finish_reason_are_recorded(name):
    cut = completion(CASE / name)
    answer = played(name, WHOLE, weak_parameters=LIMIT).bodies(GenerateCompleted)[0]

    assert (answer.message, answer.finish_reason) == (cut.message, cut.finish_reason)


@pytest.mark.parametrize("parameters", ["{}", LIMIT])
def test_broken_arguments_are_never_closed_whether_the_limit_is_known_or_not(parameters):
    desk = played("unterminated.json", WHOLE, weak_parameters=parameters)

    assert desk.called == [("renew_loan", {"loan_id": 5001, "days": 14})]
    assert desk.bodies(ActionHeld)[0].action == WHOLE


def test_a_cut_that_parses_is_told_by_its_finish_reason_alone():
    desk = played("cut_but_parses.json", WHOLE)

    assert not desk.ran("charge_fee")


@pytest.mark.parametrize("name", EXPECTED)
def test_no_later_prompt_holds_broken_arguments(name):
    unterminated = completion(CASE / "unterminated.json")
    beside = replace(unterminated.message, content="Renewing.")
    desk = play(
        [replace(unterminated, message=beside), WHOLE, completion(CASE / name), OTHER, DONE],
        [accept()] * 2,
        native=True,
    )

    questions = [*desk.asked("weak"), *desk.asked("strong")]
    sent = {call.arguments for question in questions for message in question.messages for call in message.calls}
    assert sent == {WHOLE.arguments, OTHER.arguments}


def test_it_replays():
    assert played("unterminated.json", WHOLE, weak_parameters=LIMIT).replayed().result == "same"
