"""Case 105: of three identical writes in one reply the first is held, the others are dropped: at most one charge."""

import json
from pathlib import Path

import pytest

from spectrace.audit.repeats import repeated
from spectrace.core.deeds import changes_state, deeds
from spectrace.core.events import ActionHeld, GenerateCompleted, SegmentClosed, StepDrafted
from tests.lending_desk import DONE, OTHER, completion, play
from tests.playbook import accept, reject

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())
CALLS = json.loads((CASE / "response.json").read_text())["choices"][0]["message"]["tool_calls"]


def played(*verdicts):
    return play([completion(CASE / "response.json"), DONE], verdicts or (accept(), accept()), native=True)


def test_all_three_are_on_record_in_the_reply_that_drafted_them():
    (reply, *_) = played().bodies(GenerateCompleted)

    assert [json.loads(call.arguments) for call in reply.message.calls] == [
        json.loads(call["function"]["arguments"]) for call in CALLS
    ]


def test_the_first_is_held_and_the_segment_closes_dropping_the_others():
    desk = played()
    held = desk.bodies(ActionHeld)[0]
    closed = desk.bodies(SegmentClosed)[0]
    drafted = [step for step in desk.bodies(StepDrafted) if step.segment == 1]

    assert (EXPECTED["held"], held.position, len(drafted)) == (CALLS[0]["id"], "s1.1", 1)
    assert (closed.reason, closed.dropped) == ("held", len(EXPECTED["discarded"]))


@pytest.mark.parametrize(("verdicts", "charges"), [((accept(), accept()), 1), ((reject(1, OTHER), accept()), 0)])
def test_the_ledger_has_at_most_one_charge(verdicts, charges):
    desk = played(*verdicts)
    ledger = [deed for deed in deeds(desk.events) if deed.tool == "charge_fee" and changes_state(deed)]

    assert [deed.outcome for deed in ledger] == (["ok"] if charges else ["never"])
    assert desk.called.count(("charge_fee", json.loads(CALLS[0]["function"]["arguments"]))) == charges
    assert repeated(ledger) == []
    assert desk.replayed().result == "same"
