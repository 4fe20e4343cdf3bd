"""The three manners of a review: decoded (in test_roles), exact and scored."""

import json
from dataclasses import replace

import pytest

from spectrace.core.events import ReplyUnusable, SegmentCommitted, StepsDiscarded, VerdictGiven
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Call, Finish, Outcome, Role, Scoring
from tests.playbook import Playbook, change, look, setup

WHY = {"category": "premature", "reason": "look first", "replacement": {"tool": "look", "arguments": {"id": "B"}}}


def play(**options: object) -> Playbook:
    return Playbook(SpecAgent(**options).run(setup())).begins()


def scores(*yes: float) -> str:
    return json.dumps({"yes": [str(one) for one in yes], "no": ["-1.0" for _ in yes]})


def test_exact_acceptance_takes_the_steps_that_the_strong_model_writes_itself():
    played = play(acceptance="exact").says("weak", look()).observes("red").says("weak", change())
    played.says("strong", '{"arguments": {"id":"A"}, "tool": "look"}')
    assert (played.command.position, played.command.role) == ("s1.v2", Role.REVIEWER)
    played.says("strong", change())

    assert played.command.action == change()
    assert played.command.authority.startswith("verdict:")
    assert played.told(VerdictGiven)[0].outcome == "accept"


def test_exact_acceptance_puts_the_strong_models_own_action_at_the_first_mismatch():
    played = play(acceptance="exact").says("weak", look()).observes("red").says("weak", change())
    played.says("strong", look("B")).objects(None)

    verdict = played.told(VerdictGiven)[0]
    assert (verdict.outcome, verdict.accepted, verdict.replacement) == ("reject", 0, look("B"))
    assert played.command.action == look("B")
    assert played.command.authority.startswith("repair:")


def test_exact_acceptance_shows_the_strong_model_only_the_steps_before():
    played = play(acceptance="exact").says("weak", look()).observes("red").says("weak", change())

    assert "red" not in json.dumps([message.content for message in played.command.request.messages])


def test_an_own_action_that_cannot_be_read_accepts_nothing():
    played = play(acceptance="exact").says("weak", change()).says("strong", "hm").says("strong", "hm")

    verdict = played.told(VerdictGiven)[0]
    assert (verdict.outcome, verdict.accepted, verdict.review) == ("unusable", 0, None)
    assert [fact.next for fact in played.told(ReplyUnusable)] == ["asked_again", "gave_up"]


def test_a_scored_accept_asks_once_and_decodes_nothing():
    played = play(verdict="scored").says("weak", look()).observes().says("weak", change())
    assert played.command.request.scoring == Scoring(2)
    assert played.command.request.schema is None

    played.says("strong", scores(-0.1, -0.2))

    verdict = played.told(VerdictGiven)[0]
    assert (verdict.outcome, json.loads(verdict.probabilities)) == ("accept", ["0.710950", "0.689974"])
    assert played.command.action == change()


def test_a_scored_rejection_decodes_its_reason_and_replacement():
    played = play(verdict="scored").says("weak", look()).observes().says("weak", change())
    played.says("strong", scores(-0.1, -3.0))
    assert (played.command.position, played.command.request.scoring) == ("s1.x", Scoring(2, rejected=2))
    assert "first_wrong" not in played.command.request.schema

    played.says("strong", json.dumps(WHY)).objects(None)

    verdict = played.told(VerdictGiven)[0]
    assert (verdict.accepted, verdict.category, verdict.reason, verdict.replacement) == (
        1,
        "premature",
        "look first",
        Call("look", '{"id": "B"}'),
    )
    assert verdict.probabilities is not None
    assert played.told(SegmentCommitted)[0].end == 1
    assert played.told(StepsDiscarded)[0].start == 2


def test_the_first_step_under_the_threshold_is_the_wrong_one():
    played = play(verdict="scored", threshold="0.9").says("weak", look()).observes().says("weak", change())
    played.says("strong", scores(-0.5, 0.0))

    assert played.command.request.scoring == Scoring(2, rejected=1)


def test_a_scored_rejection_stands_when_its_explanation_cannot_be_read():
    played = play(verdict="scored").says("weak", change()).says("strong", scores(-3.0)).says("strong", '{"category": ')

    verdict = played.told(VerdictGiven)[0]
    assert (verdict.outcome, verdict.status, verdict.accepted, verdict.replacement) == ("reject", "repaired", 0, None)
    assert "could not be read" in verdict.cause
    assert played.command.role is Role.REPAIRER


@pytest.mark.parametrize("answer", ["", "[]", "{}", scores(-1.0, -1.0), '{"yes": ["x"], "no": ["-1"]}'])
def test_scores_that_cannot_be_read_accept_nothing(answer):
    played = play(verdict="scored").says("weak", change()).says("strong", answer)

    verdict = played.told(VerdictGiven)[0]
    assert (verdict.outcome, verdict.accepted) == ("unusable", 0)
    assert played.acts == []


@pytest.mark.parametrize(
    "score",
    ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "0.5", "5", True, 0, [0], {"3": 1}, "٣", " -0.1", "-0_1"],
)
def test_a_score_that_is_no_log_probability_accepts_nothing(score):
    played = play(verdict="scored").says("weak", change())
    played.says("strong", json.dumps({"yes": [score], "no": ["-1.0"]}))

    assert (played.told(VerdictGiven)[0].outcome, played.acts) == ("unusable", [])


@pytest.mark.parametrize(
    "answer",
    [
        '{"yes": ["-9"], "no": ["-0.1"], "yes": ["-0.1"]}',
        '{"yes": "5", "no": "1"}',
        '{"yes": ["-0.1"], "no": {"-1.0": 1}}',
        "[" * 60_000,
        '{"yes": ["-0.1"], "no": ["-1.0"]} {}',
    ],
)
def test_scores_in_any_other_form_accept_nothing(answer):
    played = play(verdict="scored").says("weak", change()).says("strong", answer)

    assert (played.told(VerdictGiven)[0].outcome, played.acts) == ("unusable", [])


def test_the_replacement_of_a_scored_rejection_that_was_cut_off_is_not_used():
    desk = setup()
    strong = replace(desk.models[1], parameters='{"max_tokens": 64}')
    desk = replace(desk, models=(desk.models[0], strong))
    played = Playbook(SpecAgent(verdict="scored").run(desk)).begins()
    played.says("weak", change()).says("strong", scores(-3.0)).says("strong", json.dumps(WHY), tokens=64)

    verdict = played.told(VerdictGiven)[0]
    assert (verdict.outcome, verdict.replacement) == ("reject", None)
    assert "cut off" in verdict.cause


def test_separate_prompts_give_each_role_its_own_system_prompt():
    played = play(prompts="separate").says("weak", change())
    reviewer = played.command.request.messages[0].content
    played.says("strong", "nothing").says("strong", "nothing")
    repairer = played.command.request.messages[0].content

    assert "You review the steps" in reviewer
    assert "You take over" in repairer


def test_shared_prompts_are_the_same_up_to_the_question():
    played = play().says("weak", change())
    reviewer = played.command.request.messages
    played.says("strong", "nothing").says("strong", "nothing")
    repairer = played.command.request.messages

    assert reviewer[:2] == repairer[:2]
    assert len(repairer) == 3


def test_an_episode_under_exact_acceptance_ends_like_any_other():
    played = play(acceptance="exact").says("weak", Finish("done")).says("strong", Finish("done")).observes().graded()

    assert played.outcome == Outcome("completed", "finished", "done", "1.0")
