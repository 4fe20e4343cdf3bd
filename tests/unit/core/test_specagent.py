"""SpecAgent as dialogues, one branch of PROTOCOL section 2 each."""

import pytest

from spectrace.core.events import (
    ActionHeld,
    EffectObserved,
    SegmentClosed,
    SegmentCommitted,
    StateMoved,
    StepDrafted,
    VerdictGiven,
)
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Call, Finish, Outcome, Reply
from spectrace.errors import UsageError
from tests.dialogues.plays import closed, committed, play
from tests.playbook import accept, change, look, reject


def test_an_accepted_held_write_runs_on_the_authority_of_its_verdict():
    played = play().begins().says("weak", look()).observes("A is red").says("weak", change())
    assert played.command.who == "strong"
    assert [held.position for held in played.told(ActionHeld)] == ["s1.2"]

    played.says("strong", accept())
    verdict = played.facts.index(played.told(VerdictGiven)[0])
    assert played.command.authority.startswith("verdict:")
    played.observes("done", after="f1").says("weak", Finish("all good")).says("strong", accept()).observes().graded()

    assert verdict < played.facts.index(played.told(SegmentCommitted)[0])
    assert committed(played) == [(1, 1, 2, "yes"), (2, 1, 1, "yes")]
    assert [position for position, _ in played.authorities] == ["s1.1", "s1.2", "s2.1"]
    assert played.outcome == Outcome("completed", "finished", "all good", "1.0")


def test_a_held_write_is_not_executed_before_its_verdict():
    played = play().begins().says("weak", change())

    assert played.command.who == "strong"
    assert played.acts == []


def test_the_reviewer_sees_the_held_action_marked_and_not_executed():
    played = play().begins().says("weak", look()).observes("A is red").says("weak", change()).says("strong", accept())

    texts = [message.content for message in played.prompts[-1].request.messages]
    assert texts[-1].count("NOT EXECUTED: held for review") == 1
    assert texts[-2] == "[s1.2] NOT EXECUTED: held for review"
    assert "A is red" in texts[-4]


def test_an_unusable_draft_closes_the_segment_and_the_strong_model_takes_a_turn():
    played = play().begins().says("weak", look()).observes("red").says("weak", "hm").says("weak", "hm")
    assert played.command.role == "repairer"
    played.says("strong", look("B")).observes("blue")

    assert closed(played) == ["unusable_draft"]
    assert committed(played) == [(1, 1, 1, "no")]
    assert played.command.who == "weak"


def test_k_reads_close_the_segment_unreviewed():
    played = play(SpecAgent(k=2)).begins().says("weak", look("A")).observes("1").says("weak", look("B")).observes("2")

    assert closed(played) == ["k_reads"]
    assert committed(played) == [(1, 1, 2, "no")]
    assert played.command.who == "weak"


def test_review_every_reviews_k_reads_too():
    played = play(SpecAgent(k=1, review="every")).begins().says("weak", look()).observes()

    assert played.command.role == "reviewer"


def test_max_unreviewed_reviews_anyway():
    played = play(SpecAgent(k=1, max_unreviewed=2)).begins().says("weak", look("A")).observes("1")
    assert played.command.who == "weak"
    played.says("weak", look("B")).observes("2")

    assert played.command.role == "reviewer"


def test_a_reply_is_executed_at_once_and_closes_the_segment():
    played = play(replies=True).begins().says("weak", Reply("Hello?")).observes("Hi")

    assert played.authorities == [("s1.1", "reply")]
    assert closed(played) == ["reply"]
    assert committed(played) == [(1, 1, 1, "no")]


def test_hold_writes_and_replies_holds_a_reply():
    played = play(SpecAgent(hold="writes+replies"), replies=True).begins().says("weak", Reply("Hello?"))

    assert played.command.role == "reviewer"
    assert played.acts == []


def test_hold_writes_and_external_holds_a_read_that_sends_data_out():
    played = play(SpecAgent(hold="writes+external")).begins().says("weak", Call("search", '{"id": "A"}'))

    assert played.command.role == "reviewer"


def test_finish_free_ends_the_episode_without_review():
    played = play(SpecAgent(finish="free")).begins().says("weak", Finish("bye")).observes().graded("0.0")

    assert played.authorities == [("s1.1", "unreviewed")]
    assert played.outcome == Outcome("completed", "finished", "bye", "0.0")


def test_the_third_identical_read_is_reviewed_as_stalled():
    played = play().begins()
    for _ in range(3):
        played.says("weak", look()).observes("same")

    assert closed(played) == ["stalled"]
    assert played.command.role == "reviewer"
    played.says("strong", accept())
    assert committed(played) == [(1, 1, 3, "yes")]
    assert played.command.who == "weak"


def test_stall_ignore_goes_on():
    played = play(SpecAgent(stall="ignore")).begins()
    for _ in range(3):
        played.says("weak", look()).observes("same")

    assert closed(played) == []


def test_a_write_in_between_makes_the_same_read_new():
    played = play().begins().says("weak", look()).observes("same").says("weak", look()).observes("same")
    played.says("weak", change()).says("strong", accept()).observes("done", after="f1")
    played.says("weak", look()).observes("same", before="f1", after="f1")

    assert closed(played) == ["held"]


def test_an_unknown_tool_is_never_sent_and_counts_as_a_step():
    played = play(SpecAgent(k=2)).begins().says("weak", Call("fly", "{}")).says("weak", look()).observes()

    assert played.told(StepDrafted)[0].objection.startswith("no tool is named 'fly'")
    assert [act.position for act in played.acts] == ["s1.2"]
    assert closed(played) == ["k_reads"]


def test_arguments_against_the_schema_are_shown_to_the_drafter():
    played = play().begins().says("weak", Call("look", '{"name": "A"}'))

    assert "ERROR" in played.command.request.messages[-1].content


def test_a_write_inside_parallel_calls_is_held_and_the_rest_is_dropped():
    played = play(calls="native").begins().says("weak", look("A"), change(), look("B")).observes("red")

    assert [act.action for act in played.acts] == [look("A")]
    assert [(fact.reason, fact.dropped) for fact in played.told(SegmentClosed)] == [("held", 1)]


def test_a_read_that_changed_the_state_counts_as_an_unreviewed_write():
    played = play().begins().says("weak", look()).observes(before="f0", after="f9")

    assert [(fact.effect, fact.authority) for fact in played.told(EffectObserved)] == [("write", "unreviewed")]
    assert closed(played) == ["effect_observed"]


def test_a_state_that_moved_between_holding_and_acting_is_a_fact():
    played = play().begins().says("weak", change()).says("strong", accept()).observes(before="f7", after="f8")

    assert [(fact.fingerprint_held, fact.fingerprint_executed) for fact in played.told(StateMoved)] == [("f0", "f7")]


def test_a_later_prompt_never_speaks_of_discarded_steps():
    played = play().begins().says("weak", look("SECRET")).observes("hidden-observation").says("weak", change())
    played.says("strong", reject(1, look("B"))).objects(None).observes("blue")

    text = "\n".join(message.content for message in played.command.request.messages)
    assert [word in text for word in ("SECRET", "hidden-observation", "blue")] == [False, False, True]


def test_what_cannot_be_taken_back_is_never_put_to_a_review():
    replied = play(SpecAgent(max_unreviewed=1), replies=True).begins().says("weak", Reply("Hello?")).observes("Hi")
    changed = play(SpecAgent(review="every")).begins().says("weak", look()).observes(before="f0", after="f9")

    assert [played.command.who for played in (replied, changed)] == ["weak", "weak"]
    assert [committed(played) for played in (replied, changed)] == [[(1, 1, 1, "no")]] * 2


def test_a_reply_in_between_does_not_hide_a_stall():
    played = play(replies=True).begins()
    for _ in range(2):
        played.says("weak", look()).observes("same").says("weak", Reply("well?")).observes("go on")
    played.says("weak", look()).observes("same")

    assert closed(played) == ["reply", "reply", "stalled"]


def test_an_option_outside_its_values_is_refused_by_name():
    with pytest.raises(UsageError, match="option hold: expected one of writes, writes\\+replies"):
        SpecAgent(hold="reads")
