"""Case 004: the same block twice is one call; one id for two actions is two calls, whose results cannot be mixed up."""

import json
from pathlib import Path

from spectrace.core.events import ActionHeld, ActRequested, StepDrafted
from tests.lending_desk import DONE, play
from tests.playbook import accept
from tests.wire import received

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())
DOUBLED, SHARED_ID = CASE / "anthropic_message.json", CASE / "same_id_different_args.json"


def test_doubled_blocks_are_two_calls_and_the_collapse_is_recorded():
    answer = received(DOUBLED)
    said = json.loads(answer.server)

    assert [call.name for call in answer.message.calls] == ["find_member", "branch_hours"]
    assert len(answer.message.calls) == EXPECTED[DOUBLED.name]["n_steps"]
    assert said["anomalies"] == [
        "call 3: the same block as before (id 'toolu_a'), counted once",
        "call 4: the same block as before (id 'toolu_b'), counted once",
    ]
    assert said["raw"] == DOUBLED.read_text()


def test_doubled_blocks_are_two_steps_and_each_runs_once():
    desk = play([received(DOUBLED), DONE], [accept()], native=True)

    assert len([step for step in desk.bodies(StepDrafted) if step.tool]) == EXPECTED[DOUBLED.name]["n_steps"]
    assert desk.called == [("find_member", {"card": "20417"}), ("branch_hours", {})]


def test_one_id_for_two_actions_is_two_calls_with_distinct_ids():
    calls = received(SHARED_ID).message.calls

    assert [(call.id, json.loads(call.arguments)["loan_id"]) for call in calls] == [
        ("call_1", 5001),
        ("synthetic_2", 5002),
    ]
    assert len(calls) == EXPECTED[SHARED_ID.name]["n_state_changing"]


def test_the_first_write_is_held_and_the_second_never_runs():
    desk = play([received(SHARED_ID), DONE], [accept(), accept()], native=True)

    assert desk.bodies(ActionHeld)[0].tool == "renew_loan"
    assert [act.tool for act in desk.bodies(ActRequested) if act.tool] == ["renew_loan"]
    assert desk.called == [("renew_loan", {"loan_id": 5001, "days": 14})]


def test_both_episodes_replay():
    doubled = play([received(DOUBLED), DONE], [accept()], native=True)
    shared = play([received(SHARED_ID), DONE], [accept(), accept()], native=True)

    assert [desk.replayed().result for desk in (doubled, shared)] == ["same", "same"]
