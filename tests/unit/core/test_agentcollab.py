"""The strong model plans, the weak one drives and judges itself; where it stagnates, the strong one drives."""

import json
from dataclasses import astuple

import pytest

from spectrace.core.agentcollab import AgentCollab
from spectrace.core.events import ControlPassed, PlanMade, ProgressJudged, ReplyUnusable, SegmentCommitted
from spectrace.core.types import Call, Finish, Outcome, Reply
from spectrace.errors import UsageError
from tests.playbook import Playbook, change, look, setup

PLAN = json.dumps({"plan": "Look first, then change A."})
ON = json.dumps({"progress": True, "reason": "A is found"})
STUCK = json.dumps({"progress": False, "reason": "the same again"})


def begun(*, of_setup: dict | None = None, **options) -> Playbook:
    options = {"k": 1, **options}
    return Playbook(AgentCollab(**options).run(setup(**of_setup or {}))).begins().says("strong", PLAN)


def control(played: Playbook) -> list[tuple]:
    return [astuple(fact) for fact in played.told(ControlPassed)]


def judged(played: Playbook) -> list[tuple]:
    return [(fact.outcome, fact.segment, fact.who, fact.failures) for fact in played.told(ProgressJudged)]


def test_the_strong_model_plans_first_and_the_weak_one_drives():
    played = begun()

    asked = played.prompts[0]
    assert (asked.who, asked.role, asked.position) == ("strong", "actor", "s1.p")
    assert "PLAN before anybody acts" in asked.request.messages[-1].content
    assert json.loads(asked.request.schema)["properties"]["plan"]["maxLength"] == 600
    assert [(fact.segment, fact.plan) for fact in played.told(PlanMade)] == [(1, "Look first, then change A.")]
    assert control(played) == [(1, "weak", "planned", None)]
    assert (played.command.who, played.command.role, played.command.position) == ("weak", "actor", "s1")


def test_both_models_are_shown_the_plan_behind_the_request():
    played = begun().says("weak", look()).observes().says("weak", STUCK)

    shown = "PLAN, by a stronger agent. Follow it as far as it fits what you find:\nLook first, then change A."
    for asked in (*played.prompts[1:], played.command):
        assert asked.request.messages[2].content == shown


def test_every_step_runs_at_once_on_the_authority_of_its_actor():
    played = begun(k=6).says("weak", look()).observes().says("weak", change()).observes(after="f1")

    assert played.authorities == [("s1.1", "actor"), ("s2.1", "actor")]
    assert [(fact.segment, fact.reviewed) for fact in played.told(SegmentCommitted)] == [
        (1, "not_applicable"),
        (2, "not_applicable"),
    ]


def test_after_k_steps_the_weak_model_judges_itself_and_drives_on():
    played = begun(k=2).says("weak", look("A")).observes("a").says("weak", look("B")).observes("b")

    assert (played.command.who, played.command.role, played.command.position) == ("weak", "reviewer", "s2.j")
    assert "LOOK BACK at the last 2 step(s):\n1. " in played.command.request.messages[-1].content
    played.says("weak", ON)
    assert judged(played) == [("progress", 2, "weak", 0)]
    assert (played.command.who, played.command.position) == ("weak", "s3")


@pytest.mark.parametrize("action", [change(), Reply("Which one?")])
def test_a_step_that_others_see_ends_the_weak_models_stretch(action):
    played = begun(k=6, of_setup={"replies": True}).says("weak", action).observes(after="f1")

    assert played.command.position == "s1.j"


@pytest.mark.parametrize("action", [Call("fly", "{}"), change()])
def test_a_step_that_came_to_nothing_does_not(action):
    played = begun(k=6).says("weak", action)
    if action == change():
        played.observes("not now", error=True)

    assert (played.command.role, played.command.position) == ("actor", "s2")


def test_stagnation_lets_the_strong_model_take_two_steps_judge_them_and_hand_back():
    played = begun().says("weak", look()).observes().says("weak", STUCK)
    assert (played.command.who, played.command.role, played.command.position) == ("strong", "actor", "s2")

    played.says("strong", change()).observes(after="f1").says("strong", look("B")).observes()
    assert (played.command.who, played.command.position) == ("strong", "s3.j")
    assert "the last 2 step(s)" in played.command.request.messages[-1].content

    played.says("strong", ON)
    assert control(played)[1:] == [(2, "strong", "stagnation", 2), (4, "weak", "progress", None)]
    assert judged(played) == [("stagnation", 1, "weak", 1), ("progress", 3, "strong", 0)]


def test_failures_in_a_row_make_the_strong_models_stretch_longer():
    played = begun().says("weak", look()).observes().says("weak", STUCK)
    played.says("strong", look("B")).observes().says("strong", look("C")).observes().says("strong", STUCK)
    played.says("weak", look()).observes().says("weak", STUCK)

    assert [fact.failures for fact in played.told(ProgressJudged)] == [1, 2, 3]
    assert control(played)[1:] == [
        (2, "strong", "stagnation", 2),
        (4, "weak", "budget_spent", None),
        (5, "strong", "stagnation", 6),
    ]


def test_progress_begins_the_count_again():
    played = begun().says("weak", look()).observes().says("weak", STUCK)
    played.says("strong", look("B")).observes().says("strong", look("C")).observes().says("strong", ON)
    played.says("weak", look()).observes().says("weak", STUCK)

    assert [fact.steps for fact in played.told(ControlPassed)] == [None, 2, None, 2]


def test_the_offset_moves_the_first_stretch():
    played = begun(offset=0).says("weak", look()).observes().says("weak", STUCK)

    assert played.told(ControlPassed)[-1].steps == 4


def test_an_offset_below_minus_one_is_refused():
    with pytest.raises(
        UsageError, match="option offset must be a whole number of at least -1 and at most 2147483647, found -2"
    ):
        AgentCollab(offset=-2)


@pytest.mark.parametrize(
    "said",
    [
        "no idea",
        '{"progress": "true", "reason": "a text is no truth"}',
        '{"progress": true}',
        '{"progress": %s, "reason": "a number that Python refuses to convert"}' % ("9" * 6000),
        '{"progress": true, "reason": "fine", "verdict": "accept"}',
        'The tool said {"progress": true, "reason": "planted"}',
        '{"progress": true, "reason": "cut o',
        '{"progress": true, "reason": "a comma too many",}',
    ],
)
def test_a_judgement_that_cannot_be_read_twice_counts_as_stagnation(said):
    played = begun().says("weak", look()).observes().says("weak", said).says("weak", said)

    assert [fact.next for fact in played.told(ReplyUnusable)] == ["asked_again", "gave_up"]
    assert judged(played) == [("unusable", 1, "weak", 1)]
    assert (played.command.who, played.told(ControlPassed)[-1].steps) == ("strong", 2)


def test_a_judgement_that_is_read_the_second_time_counts_and_is_asked_again_in_view_of_the_first():
    played = begun().says("weak", look()).observes().says("weak", "no idea").says("weak", ON)

    assert "no idea" in [message.content for message in played.prompts[-1].request.messages]
    assert judged(played) == [("progress", 1, "weak", 0)]


def test_a_fence_around_a_judgement_is_read_and_said():
    played = begun().says("weak", look()).observes().says("weak", f"```json\n{ON}\n```")

    assert [(fact.role, fact.next) for fact in played.told(ReplyUnusable)] == [("reviewer", "tolerated")]
    assert judged(played) == [("progress", 1, "weak", 0)]


def test_a_strong_model_whose_judgement_cannot_be_read_hands_back_all_the_same():
    played = begun().says("weak", look()).observes().says("weak", STUCK)
    played.says("strong", look("B")).observes().says("strong", look("C")).observes().says("strong", "?")
    played.says("strong", "?")

    assert judged(played)[-1] == ("unusable", 3, "strong", 2)
    assert control(played)[-1] == (4, "weak", "budget_spent", None)


def test_a_weak_model_that_cannot_be_read_twice_lets_the_strong_one_drive():
    played = begun().says("weak", "?").says("weak", "?")

    assert played.told(ProgressJudged) == []
    assert control(played)[-1] == (2, "strong", "stagnation", 2)
    assert played.command.position == "s2"


def test_a_strong_model_that_cannot_be_read_twice_ends_the_episode():
    played = begun().says("weak", "?").says("weak", "?").says("strong", "?").says("strong", "?")

    assert played.outcome == Outcome("failed", "unusable_reply")


def test_a_message_of_several_calls_is_not_cut_by_the_length_of_the_stretch():
    played = begun(k=2, of_setup={"calls": "native"}).says("weak", look("A"), look("B"), look("C"))
    played.observes().observes().observes()

    assert played.command.position == "s1.j"
    assert "the last 3 step(s)" in played.command.request.messages[-1].content


def test_a_plan_that_cannot_be_read_twice_ends_the_episode_before_anybody_acts():
    played = Playbook(AgentCollab().run(setup())).begins().says("strong", look()).says("strong", '{"plan": " "}')

    assert played.outcome == Outcome("failed", "no_plan")
    assert [fact.cause for fact in played.told(ReplyUnusable)] == [
        "expected the members plan, found tool, arguments",
        "plan must be a text that is not empty",
    ]


def test_a_plan_is_read_the_second_time():
    played = Playbook(AgentCollab().run(setup())).begins().says("strong", "First look.").says("strong", PLAN)

    assert [fact.plan for fact in played.told(PlanMade)] == ["Look first, then change A."]


def test_a_native_call_in_place_of_a_plan_is_not_executed():
    played = Playbook(AgentCollab().run(setup(calls="native"))).begins().says("strong", look("A"), look("B"))

    assert played.acts == []
    assert "found a tool call" in played.command.request.messages[-1].content


@pytest.mark.parametrize("who", ["weak", "strong"])
def test_a_model_that_fails_ends_the_episode(who):
    played = begun()
    if who == "strong":
        played.says("weak", look()).observes().says("weak", STUCK)

    assert played.fails("server").outcome == Outcome("failed", f"model_{who}_server")


def test_the_final_answer_ends_it_without_a_look_back():
    played = begun(k=6).says("weak", look()).observes().says("weak", Finish("done")).observes().graded("1.0")

    assert played.outcome == Outcome("completed", "finished", "done", "1.0")
    assert played.told(ProgressJudged) == []


def test_the_plan_counts_among_the_strong_models_answers():
    played = begun(max_strong_calls=1)

    assert played.outcome == Outcome("truncated", "max_strong_calls", reward="0.0")


def test_steps_of_both_models_count_alike():
    played = begun(max_steps=2, k=6).says("weak", look()).observes().says("weak", look("B")).observes()

    assert played.outcome == Outcome("truncated", "max_steps", reward="0.0")
