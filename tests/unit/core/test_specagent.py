"""SpecAgent as dialogues, one branch of PROTOCOL section 2 each."""

import pytest

from spectrace.core.events import (
    ActionHeld,
    EffectObserved,
    RepairMade,
    ReplyUnusable,
    SegmentClosed,
    SegmentCommitted,
    StateMoved,
    StepDrafted,
    StepsDiscarded,
    VerdictGiven,
)
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Call, Finish, Outcome, Reply
from spectrace.errors import UsageError
from tests.playbook import Playbook, accept, change, look, reject, setup


def play(options: SpecAgent | None = None, **of_setup: object) -> Playbook:
    return Playbook((options or SpecAgent()).run(setup(**of_setup)))


def closed(played: Playbook) -> list[str]:
    return [fact.reason for fact in played.told(SegmentClosed)]


def committed(played: Playbook) -> list[tuple[int, int, int, str]]:
    return [(f.segment, f.start, f.end, f.reviewed) for f in played.told(SegmentCommitted)]


def discarded(played: Playbook) -> list[tuple[int, int, int, str]]:
    return [(f.segment, f.start, f.end, f.reason) for f in played.told(StepsDiscarded)]


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


def test_rejected_at_the_first_step_discards_all_and_runs_the_fused_repair():
    played = play().begins().says("weak", change()).says("strong", reject(1, look())).objects(None).observes("A is red")

    assert committed(played) == []
    assert discarded(played) == [(1, 1, 1, "rejected")]
    assert [(r.kind, r.actions) for r in played.told(RepairMade)] == [("fused", (look(),))]
    assert played.authorities[0][0] == "s1.r1"
    assert played.authorities[0][1].startswith("repair:")
    assert played.command.who == "weak"


def test_rejected_in_the_middle_keeps_the_accepted_prefix():
    played = play().begins().says("weak", look("A")).observes("red").says("weak", look("B")).observes("blue")
    played.says("weak", change()).says("strong", reject(2, look("C"))).objects(None).observes("green")

    assert committed(played) == [(1, 1, 1, "yes")]
    assert discarded(played) == [(1, 2, 3, "rejected")]
    later = [message.content for message in played.command.request.messages]
    assert any("red" in text for text in later)
    assert not any("blue" in text for text in later)


def test_a_rejected_write_never_reaches_the_environment():
    played = (
        play().begins().says("weak", change()).says("strong", reject(1, Finish("no"))).objects(None).observes().graded()
    )

    assert [act.action for act in played.acts] == [Finish("no")]


@pytest.mark.parametrize(
    ("replacement", "why"),
    [
        (Call("nothing_here", "{}"), "no tool is named 'nothing_here'"),
        (Call("change", '{"name": "A"}'), "'id' is a required property"),
        (Reply("which one?"), "a reply is not an action here"),
    ],
)
def test_a_fused_repair_that_cannot_be_used_becomes_a_corrective_turn(replacement, why):
    played = play().begins().says("weak", change()).says("strong", reject(1, replacement))
    played.says("strong", look()).observes()

    repair = played.told(RepairMade)[0]
    assert repair.kind == "corrective"
    assert why in repair.fused_unusable


def test_an_objection_of_the_environment_makes_the_repair_corrective():
    played = play().begins().says("weak", change()).says("strong", reject(1, look("Z"))).objects("Z was never seen")
    assert played.command.role == "repairer"
    played.says("strong", look("A"))

    assert played.told(RepairMade)[0].fused_unusable == "Z was never seen"


def test_fused_false_takes_a_corrective_turn_that_sees_the_reason():
    played = play(SpecAgent(fused=False)).begins().says("weak", change())
    played.says("strong", reject(1, look(), reason="look first"))

    assert played.command.role == "repairer"
    assert "look first" in played.command.request.messages[-1].content


def test_a_fused_reply_asks_the_user():
    played = play(replies=True).begins().says("weak", change()).says("strong", reject(1, Reply("Which?"))).objects(None)
    played.observes("The red one.")

    assert [(act.action, act.position) for act in played.acts] == [(Reply("Which?"), "s1.r1")]
    assert played.command.request.messages[-1].content == "The red one."


def test_a_corrective_turn_of_several_calls_stops_at_the_first_error():
    played = play(calls="native").begins().says("weak", change(), change("B"))
    played.says("strong", reject(1)).says("strong", look("A"), look("B"), look("C"))
    played.observes("ok").observes("gone", error=True)

    assert [act.position for act in played.acts] == ["s1.r1", "s1.r2"]
    assert [(f.start, f.end, f.reason, f.repair) for f in played.told(StepsDiscarded)][-1] == (
        3,
        3,
        "after_error",
        True,
    )
    assert played.command.who == "weak"


def test_an_unusable_verdict_twice_fails_closed():
    played = play().begins().says("weak", change()).says("strong", "I think it is fine").says("strong", "Yes!")

    verdict = played.told(VerdictGiven)[0]
    assert (verdict.outcome, verdict.accepted) == ("unusable", 0)
    assert [fact.next for fact in played.told(ReplyUnusable)] == ["asked_again", "gave_up"]
    assert discarded(played) == [(1, 1, 1, "unusable")]
    assert played.command.role == "repairer"


def test_a_verdict_asked_again_sees_the_parse_error():
    played = play().begins().says("weak", change()).says("strong", '{"verdict": "maybe"}')

    assert "accept" in played.command.request.messages[-1].content
    assert '"maybe"' in played.command.request.messages[-1].content


def test_an_unusable_draft_closes_the_segment_and_the_strong_model_takes_a_turn():
    played = play().begins().says("weak", look()).observes("red").says("weak", "hm").says("weak", "hm")
    assert played.command.role == "repairer"
    played.says("strong", look("B")).observes("blue")

    assert closed(played) == ["unusable_draft"]
    assert committed(played) == [(1, 1, 1, "no")]
    assert played.command.who == "weak"


def test_a_corrective_turn_that_cannot_be_read_twice_ends_the_episode():
    played = play().begins().says("weak", change()).says("strong", reject(1)).says("strong", "?").says("strong", "?")

    assert played.outcome == Outcome("failed", "no_repair")


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


def test_an_option_outside_its_values_is_refused_by_name():
    with pytest.raises(UsageError, match="option hold: expected one of writes, writes\\+replies"):
        SpecAgent(hold="reads")


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


def test_an_episode_that_is_over_is_not_reviewed_any_more():
    played = play(SpecAgent(finish="free", review="every")).begins().says("weak", Finish("bye")).observes().graded()

    assert played.outcome == Outcome("completed", "finished", "bye", "1.0")
    assert played.told(VerdictGiven) == []


def test_an_unusable_draft_gets_its_corrective_turn_after_an_accepting_review_too():
    played = play(SpecAgent(review="every")).begins().says("weak", look()).observes("red").says("weak", "hm")
    played.says("weak", "hm").says("strong", accept())

    assert played.command.role == "repairer"


def test_a_replacement_that_is_no_action_becomes_a_corrective_turn_that_says_why():
    verdict = '{"verdict": "reject", "first_wrong": 1, "category": "other", "reason": "x", "replacement": {"bad": 1}}'
    played = play().begins().says("weak", change()).says("strong", verdict).says("strong", look()).observes()

    assert (played.told(VerdictGiven)[0].outcome, played.told(VerdictGiven)[0].status) == ("reject", "repaired")
    assert "no action" in played.told(RepairMade)[0].fused_unusable


def test_a_reply_in_between_does_not_hide_a_stall():
    played = play(replies=True).begins()
    for _ in range(2):
        played.says("weak", look()).observes("same").says("weak", Reply("well?")).observes("go on")
    played.says("weak", look()).observes("same")

    assert closed(played) == ["reply", "reply", "stalled"]


@pytest.mark.parametrize(("kind", "reason"), [("context", "budget"), ("unreachable", "failed")])
def test_steps_that_nobody_will_judge_are_discarded_when_the_episode_ends(kind, reason):
    drafting = play().begins().says("weak", look()).observes("red").fails(kind)
    reviewing = play().begins().says("weak", look()).observes("red").says("weak", change()).fails(kind)

    assert (closed(drafting), discarded(drafting)) == ([reason], [(1, 1, 1, reason)])
    assert (closed(reviewing), discarded(reviewing)) == (["held"], [(1, 1, 2, reason)])
    assert committed(drafting) == committed(reviewing) == []
