"""How an episode ends, as dialogues: every budget, every failure, the user's and the environment's own end."""

import pytest

from spectrace.core.events import StepDrafted, VerdictGiven
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Finish, Outcome, Reply
from tests.dialogues.plays import closed, committed, discarded, play
from tests.playbook import accept, change, look, reject


def test_a_write_that_got_no_answer_ends_the_episode():
    played = play().begins().says("weak", change()).says("strong", accept()).fails("timeout")

    assert played.outcome == Outcome("failed", "indeterminate")


def test_a_read_that_got_no_answer_is_an_error_for_the_drafter():
    played = play().begins().says("weak", look()).fails("timeout", "no answer within 2 s")

    assert "no answer within 2 s" in played.command.request.messages[-1].content


def test_a_prompt_that_does_not_fit_truncates_the_episode_and_scores_nothing():
    drafter = play().begins().fails("context")
    reviewer = play().begins().says("weak", change()).fails("context")

    assert [played.outcome.reason for played in (drafter, reviewer)] == ["context_drafter", "context_reviewer"]
    assert {(played.outcome.status, played.outcome.reward) for played in (drafter, reviewer)} == {("truncated", "0.0")}


def test_the_step_budget_is_checked_before_a_model_call_and_never_between_verdict_and_act():
    played = play(SpecAgent(max_steps=1)).begins().says("weak", change())

    assert played.outcome == Outcome("truncated", "max_steps", reward="0.0")
    assert played.acts == []


def test_strong_turns_are_a_budget():
    played = (
        play(SpecAgent(max_strong_calls=1))
        .begins()
        .says("weak", change())
        .says("strong", accept())
        .observes(after="f1")
    )

    assert played.outcome.reason == "max_strong_calls"


def test_an_episode_that_is_over_is_not_reviewed_any_more():
    played = play(SpecAgent(finish="free", review="every")).begins().says("weak", Finish("bye")).observes().graded()

    assert played.outcome == Outcome("completed", "finished", "bye", "1.0")
    assert played.told(VerdictGiven) == []


@pytest.mark.parametrize(("kind", "reason"), [("context", "budget"), ("unreachable", "failed")])
def test_steps_that_nobody_will_judge_are_discarded_when_the_episode_ends(kind, reason):
    drafting = play().begins().says("weak", look()).observes("red").fails(kind)
    reviewing = play().begins().says("weak", look()).observes("red").says("weak", change()).fails(kind)

    assert (closed(drafting), discarded(drafting)) == ([reason], [(1, 1, 1, reason)])
    assert (closed(reviewing), discarded(reviewing)) == (["held"], [(1, 1, 2, reason)])
    assert committed(drafting) == committed(reviewing) == []


@pytest.mark.parametrize("limit", ["max_cost_usd", "max_wall_s"])
def test_a_call_that_is_refused_for_its_cost_or_the_time_truncates_the_episode(limit):
    drafting = play().begins().says("weak", look()).observes().fails("budget", limit)
    reviewing = play().begins().says("weak", change()).fails("budget", limit)
    repairing = play().begins().says("weak", change()).says("strong", reject(1)).fails("budget", limit)

    assert {played.outcome for played in (drafting, reviewing, repairing)} == {
        Outcome("truncated", limit, reward="0.0")
    }
    assert (discarded(drafting), discarded(reviewing)) == ([(1, 1, 1, "budget")], [(1, 1, 1, "budget")])


def test_tokens_of_both_models_are_a_budget():
    played = play(SpecAgent(max_tokens=30)).begins().says("weak", look(), tokens=20).observes()
    played.says("weak", change(), tokens=10)

    assert played.outcome == Outcome("truncated", "max_tokens", reward="0.0")
    assert discarded(played) == [(1, 1, 2, "budget")]


def test_no_budget_stands_between_a_verdict_and_its_act():
    options = SpecAgent(max_strong_calls=1, max_tokens=20, max_steps=2)
    played = play(options).begins().says("weak", change(), tokens=10).says("strong", accept(), tokens=10)
    assert played.command.action == change()
    played.observes(after="f1")

    assert played.outcome.status == "truncated"


def test_no_budget_stands_between_a_fused_repair_and_its_act():
    options = SpecAgent(max_strong_calls=1, max_steps=2)
    played = play(options).begins().says("weak", change()).says("strong", reject(1, look())).objects(None)
    assert played.command.action == look()
    played.observes()

    assert played.outcome.reason == "max_steps"


def test_the_budget_is_checked_before_a_verdict_is_asked_for_again():
    played = play(SpecAgent(max_strong_calls=1)).begins().says("weak", change()).says("strong", "hm")

    assert played.outcome == Outcome("truncated", "max_strong_calls", reward="0.0")
    assert (played.told(VerdictGiven), discarded(played)) == ([], [(1, 1, 1, "budget")])


def test_a_repairers_prompt_that_does_not_fit_truncates_the_episode():
    played = play().begins().says("weak", change()).says("strong", reject(1)).fails("context")

    assert played.outcome == Outcome("truncated", "context_reviewer", reward="0.0")


@pytest.mark.parametrize(("who", "steps"), [("weak", []), ("strong", [change()])])
def test_a_model_that_does_not_answer_fails_the_episode_and_is_not_graded(who, steps):
    played = play().begins()
    for action in steps:
        played.says("weak", action)
    played.fails("unreachable")

    assert played.outcome == Outcome("failed", f"model_{who}_unreachable")


def test_the_environment_may_end_the_episode_on_a_look_up():
    played = play().begins().says("weak", look()).observes("bye", done=True).graded()

    assert (closed(played), committed(played)) == (["finish"], [(1, 1, 1, "no")])
    assert played.outcome == Outcome("completed", "environment_done", None, "1.0")


def test_the_environment_may_end_the_episode_on_an_accepted_write():
    played = play().begins().says("weak", change()).says("strong", accept()).observes("bye", done=True).graded()

    assert played.outcome == Outcome("completed", "environment_done", None, "1.0")


def test_what_comes_after_the_end_in_the_same_message_is_dropped():
    played = play(calls="native").begins().says("weak", look("A"), look("B")).observes("bye", done=True).graded()

    assert [act.action for act in played.acts] == [look("A")]
    assert [fact.position for fact in played.told(StepDrafted)] == ["s1.1"]


def test_a_final_answer_that_the_environment_refuses_does_not_end_the_episode():
    played = play().begins().says("weak", Finish("bye")).says("strong", accept()).observes("not yet", error=True)

    assert played.command.who == "weak"


def test_the_user_is_asked_before_a_reply_is_answered():
    played = play(replies=True).begins().says("weak", Reply("Which?")).needs_user().says("user", "the red one")
    assert played.command.supplied.message.content == "the red one"
    played.observes("the red one")

    assert played.command.who == "weak"


def test_a_user_that_does_not_answer_fails_the_episode():
    played = play(replies=True).begins().says("weak", Reply("Which?")).needs_user().fails("unreachable")

    assert played.outcome == Outcome("failed", "model_user_unreachable")


def test_a_reply_that_got_no_answer_stands_with_the_look_ups_before_it():
    lost = play(replies=True).begins().says("weak", look()).observes().says("weak", Reply("Which?")).fails("timeout")
    unheard = play(replies=True).begins().says("weak", look()).observes().says("weak", Reply("Which?")).needs_user()
    unheard.fails("unreachable")

    assert [closed(played) for played in (lost, unheard)] == [["reply"], ["reply"]]
    assert [committed(played) for played in (lost, unheard)] == [[(1, 1, 2, "no")]] * 2
    assert lost.outcome == Outcome("failed", "indeterminate")


def test_a_free_final_answer_that_got_no_answer_stands_and_is_not_graded():
    played = play(SpecAgent(finish="free")).begins().says("weak", look()).observes().says("weak", Finish("bye"))
    played.fails("timeout")

    assert (closed(played), committed(played)) == (["finish"], [(1, 1, 2, "no")])
    assert played.outcome == Outcome("failed", "indeterminate")


def test_a_fused_write_that_got_no_answer_ends_the_episode():
    played = play().begins().says("weak", change()).says("strong", reject(1, change("B"))).objects(None)
    played.fails("timeout")

    assert played.outcome == Outcome("failed", "indeterminate")


def test_an_environment_that_cannot_begin_fails_the_episode():
    assert play().fails("crashed").outcome == Outcome("failed", "environment_crashed")


def test_a_grade_that_did_not_come_leaves_the_episode_completed():
    played = play(SpecAgent(finish="free")).begins().says("weak", Finish("bye")).observes().fails("crashed")

    assert played.outcome == Outcome("completed", "finished", "bye")
