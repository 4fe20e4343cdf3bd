"""The playbook itself; what protocols do with it is in tests/dialogues and tests/unit/core."""

import re

import pytest

from spectrace import SpecAgent, SpeculativeActions, StrongOnly, WeakOnly, tool
from spectrace.core.commands import CommandFailed, reset
from spectrace.core.events import VerdictGiven
from spectrace.core.types import Outcome, ToolSpec
from spectrace.testing import accept, call, finish, play, reject, reply

LOOK, CHANGE = call("look", id="A"), call("change", id="A")


@tool(effect="read")
def get_order(order_id: str) -> str:
    """Read an order."""
    raise AssertionError("a playbook runs no tool")


def test_an_episode_is_a_short_dialogue():
    played = play(SpecAgent(k=6), request="Cancel A.").begins()
    played.says("weak", CHANGE).says("strong", reject(1, LOOK, reason="look first")).objects(None).observes("open")
    played.says("weak", CHANGE).says("strong", accept()).observes(after="f1")
    played.says("weak", finish("Done.")).says("strong", accept()).observes().graded("1.0")

    assert played.outcome == Outcome("completed", "finished", "Done.", "1.0")
    assert [position for position, _ in played.authorities] == ["s1.r1", "s2.1", "s3.1"]
    assert [act.action for act in played.acts] == [LOOK, CHANGE, finish("Done.")]


@pytest.mark.parametrize("protocol", [WeakOnly(), StrongOnly()])
def test_any_protocol_is_played(protocol):
    who = protocol.MODELS[0]
    played = play(protocol).begins().says(who, LOOK).observes().says(who, finish("Done.")).observes().graded()

    assert played.outcome == Outcome("completed", "finished", "Done.", "1.0")


def test_branches_are_answered_one_by_one_and_their_lane_is_chosen():
    played = play(SpeculativeActions(guesses=2)).begins()
    there = len(played.lanes)
    positions = [played.lane(number).command.position for number in range(there)]

    assert there > 1
    assert len(set(positions)) == len(positions)


def test_facts_are_found_by_their_name_and_by_their_type():
    played = play(SpecAgent()).begins().says("weak", CHANGE).says("strong", accept())

    assert played.told("verdict.given") == played.told(VerdictGiven) != []
    assert played.told("verdict.forgotten") == []


def test_a_functions_tool_is_shown_and_never_run():
    played = play(SpecAgent(), tools=[get_order], instructions="Be kind.").begins()
    system = played.command.request.messages[0].content
    played.says("weak", call("get_order", order_id="W1"))

    assert "get_order(order_id: string): Read an order." in system
    assert "Be kind." in system
    assert played.command.action == call("get_order", order_id="W1")


def test_a_spec_is_a_tool_as_it_is():
    spec = ToolSpec("peek", "Peek.", "{}")

    assert "peek(): Peek." in play(WeakOnly(), tools=[spec]).begins().command.request.messages[0].content


def test_several_actions_are_native_calls_of_one_message():
    played = play(SpecAgent(), calls="native").begins().says("weak", LOOK, LOOK).observes().observes()

    assert [act.position for act in played.acts] == ["s1.1", "s1.2"]
    with pytest.raises(AssertionError, match="several actions in one message are native tool calls"):
        played.says("weak", LOOK, reply("Which?"))


def test_an_answer_that_does_not_fit_names_the_question_and_the_dialogue_so_far():
    played = play(SpecAgent()).begins("Change A.").says("weak", LOOK)
    said = (
        'expected the grading; the protocol asks {"tool": "look", "arguments": {"id": "A"}} (read, s1.1). '
        "The dialogue so far:\n  1. the reset: Change A.\n"
        '  2. weak (drafter, s1.1): {"tool": "look", "arguments": {"id": "A"}}'
    )

    with pytest.raises(AssertionError, match=re.escape(said)):
        played.graded()


def test_a_question_to_another_model_is_not_answered():
    played = play(SpecAgent()).begins()

    with pytest.raises(
        AssertionError, match=r"expected a question to strong; the protocol asks weak \(drafter, s1.1\)"
    ):
        played.says("strong", accept())


def test_a_protocol_that_has_ended_asks_nothing():
    played = play(WeakOnly()).begins().says("weak", finish("Done.")).observes().graded()

    with pytest.raises(AssertionError, match=r"the protocol has ended: completed \(finished\)"):
        played.observes()
    with pytest.raises(AssertionError, match="expected a question that can fail"):
        played.fails("timeout")


def test_a_failure_ends_the_episode():
    played = play(WeakOnly()).fails("crashed", "no disk")

    assert played.outcome.status == "failed"


def test_a_failure_that_a_protocol_does_not_take_comes_out():
    class Careless:
        def run(self, setup):
            yield from reset(setup.seed)

    with pytest.raises(CommandFailed, match="no disk"):
        play(Careless()).fails("crashed", "no disk")
