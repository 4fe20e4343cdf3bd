"""Case 012: a call written as text is text, with a warning; nothing in it is executed."""

import json
from pathlib import Path

from spectrace.core.events import ActionHeld, ActRequested, GenerateCompleted, ReplyUnusable, StepDrafted
from spectrace.core.reading import LIKE_A_CALL
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Finish, Reply
from tests.lending_desk import DONE, OTHER, completion, play
from tests.playbook import Playbook, accept, reject, setup

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())["default"]
SAID = completion(CASE / "response.json")


def played():
    return play([SAID, DONE], [reject(1, OTHER), accept()], native=True)


def test_it_is_a_text_with_a_warning_and_no_tool_step():
    desk = played()
    drafted = desk.bodies(StepDrafted)[0]

    assert len([step for step in desk.bodies(StepDrafted) if step.tool]) == EXPECTED["n_steps"]
    assert drafted.action == Finish(SAID.message.content)
    assert [(fact.next, fact.cause, fact.request) for fact in desk.bodies(ReplyUnusable)] == [
        ("tolerated", LIKE_A_CALL, drafted.request)
    ]


def test_nothing_in_it_is_executed_and_as_a_final_answer_it_waits_for_the_reviewer():
    desk = played()

    assert desk.bodies(ActionHeld)[0].action == Finish(SAID.message.content)
    assert [act.tool for act in desk.bodies(ActRequested)] == ["branch_hours", None]
    assert not desk.ran("find_member")
    assert desk.bodies(GenerateCompleted)[0].message == SAID.message


def test_where_there_is_a_user_it_is_a_reply_with_the_same_warning():
    native = setup(calls="native", replies=True)
    desk = Playbook(SpecAgent().run(native)).begins().says("weak", SAID.message.content)

    assert desk.command.action == Reply(SAID.message.content)
    assert [fact.cause for fact in desk.told(ReplyUnusable)] == [LIKE_A_CALL]


def test_it_replays():
    assert played().replayed().result == "same"
