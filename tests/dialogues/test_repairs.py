"""Repairs as dialogues: a fused one of each kind, unusable in each way; corrective turns of several calls, and none."""

import pytest

from spectrace.core.events import EffectObserved, RepairMade, StepsDiscarded, VerdictGiven
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Call, Finish, Outcome, Reply
from tests.dialogues.plays import play
from tests.playbook import accept, change, look, reject


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


def test_a_corrective_turn_that_cannot_be_read_twice_ends_the_episode():
    played = play().begins().says("weak", change()).says("strong", reject(1)).says("strong", "?").says("strong", "?")

    assert played.outcome == Outcome("failed", "no_repair")


def test_an_unusable_draft_gets_its_corrective_turn_after_an_accepting_review_too():
    played = play(SpecAgent(review="every")).begins().says("weak", look()).observes("red").says("weak", "hm")
    played.says("weak", "hm").says("strong", accept())

    assert played.command.role == "repairer"


def test_a_replacement_that_is_no_action_becomes_a_corrective_turn_that_says_why():
    verdict = '{"verdict": "reject", "first_wrong": 1, "category": "other", "reason": "x", "replacement": {"bad": 1}}'
    played = play().begins().says("weak", change()).says("strong", verdict).says("strong", look()).observes()

    assert (played.told(VerdictGiven)[0].outcome, played.told(VerdictGiven)[0].status) == ("reject", "repaired")
    assert "no action" in played.told(RepairMade)[0].fused_unusable


def test_a_fused_write_is_done_on_the_authority_of_its_repair_without_another_review():
    played = play().begins().says("weak", change("A")).says("strong", reject(1, change("B"))).objects(None)

    assert (played.command.action, played.command.effect) == (change("B"), "write")
    assert played.command.authority.startswith("repair:")
    assert len(played.told(VerdictGiven)) == 1


def test_a_fused_final_answer_ends_the_episode():
    played = play().begins().says("weak", change()).says("strong", reject(1, Finish("No."))).objects(None)
    assert played.command.authority.startswith("repair:")
    played.observes().graded("0.5")

    assert played.outcome == Outcome("completed", "finished", "No.", "0.5")


def test_a_final_answer_that_is_none_here_is_not_fused():
    played = play(finish=False).begins().says("weak", change()).says("strong", reject(1, Finish("No.")))
    played.says("strong", look())

    assert played.told(RepairMade)[0].fused_unusable == "a final answer is not an action here"


def test_where_there_is_no_replacement_nothing_is_checked_and_nothing_was_unusable():
    played = play().begins().says("weak", change()).says("strong", reject(1))
    assert played.command.role == "repairer"
    played.says("strong", look())

    repair = played.told(RepairMade)[0]
    assert (repair.kind, repair.fused_unusable, repair.actions) == ("corrective", None, (look(),))


def test_a_replacement_is_not_even_checked_where_it_may_not_be_used():
    played = play(SpecAgent(fused=False)).begins().says("weak", change()).says("strong", reject(1, Call("fly", "{}")))
    played.says("strong", look())

    assert played.told(RepairMade)[0].fused_unusable is None


def test_a_corrective_turn_of_several_calls_runs_all_of_them_in_order_where_none_fails():
    played = play(calls="native").begins().says("weak", change(), change("B"))
    played.says("strong", reject(1)).says("strong", look("A"), change("B"), look("C"))
    played.observes("1").observes("2", after="f1").observes("3", before="f1", after="f1")

    assert [(act.position, act.action) for act in played.acts] == [
        ("s1.r1", look("A")),
        ("s1.r2", change("B")),
        ("s1.r3", look("C")),
    ]
    assert len({act.authority for act in played.acts}) == 1
    assert [message.content for message in played.command.request.messages if message.role == "tool"] == ["1", "2", "3"]


def test_a_call_against_its_schema_stops_a_corrective_turn_and_is_never_sent():
    played = play(calls="native").begins().says("weak", change(), change("B")).says("strong", reject(1))
    played.says("strong", look("A"), Call("look", '{"name": "A"}'), change("C")).observes("1")

    assert [act.position for act in played.acts] == ["s1.r1"]
    assert [(f.start, f.end, f.reason) for f in played.told(StepsDiscarded)][-1] == (3, 3, "after_error")
    assert "'id' is a required property" in played.command.request.messages[-1].content


def test_a_corrective_turn_on_which_the_environment_ends_the_episode_drops_the_rest():
    played = play(calls="native").begins().says("weak", change(), change("B")).says("strong", reject(1))
    played.says("strong", look("A"), look("B")).observes("bye", done=True).graded()

    assert played.outcome == Outcome("completed", "environment_done", None, "1.0")
    assert [(f.start, f.end, f.repair) for f in played.told(StepsDiscarded)][-1] == (2, 2, True)


@pytest.mark.parametrize("calls", ["json", "native"])
def test_an_empty_corrective_turn_is_asked_once_more_and_then_ends_the_episode(calls):
    played = play(calls=calls).begins()
    played = played.says("weak", change(), change("B")) if calls == "native" else played.says("weak", change())
    played.says("strong", reject(1)).says("strong", "")
    assert played.command.position == "s1.r"
    played.says("strong", "")

    assert played.outcome == Outcome("failed", "no_repair")


def test_a_corrective_turn_that_is_read_at_the_second_time_counts():
    played = (
        play().begins().says("weak", change()).says("strong", reject(1)).says("strong", "well").says("strong", look())
    )

    assert played.command.action == look()


def test_a_repairs_look_up_that_changed_the_state_is_a_write_on_the_repairs_own_authority():
    played = play().begins().says("weak", change()).says("strong", reject(1, look())).objects(None)
    played.observes(before="f0", after="f9")

    authority = played.acts[0].authority
    assert [(fact.effect, fact.authority) for fact in played.told(EffectObserved)] == [("write", authority)]


def test_a_held_look_up_that_changed_the_state_is_a_write_on_its_verdicts_authority():
    played = play(SpecAgent(hold="writes+external")).begins().says("weak", Call("search", '{"id": "A"}'))
    played.says("strong", accept()).observes(before="f0", after="f9")

    authority = played.acts[0].authority
    assert authority.startswith("verdict:")
    assert [(fact.effect, fact.authority) for fact in played.told(EffectObserved)] == [("write", authority)]


def test_what_follows_a_call_of_a_corrective_turn_that_got_no_answer_is_dropped():
    played = play(calls="native").begins().says("weak", change(), change("B")).says("strong", reject(1))
    played.says("strong", look("A"), change("B"), look("C")).observes().fails("timeout")

    assert [(f.start, f.end, f.reason, f.repair) for f in played.told(StepsDiscarded)][-1] == (
        3,
        3,
        "after_error",
        True,
    )
    assert played.outcome == Outcome("failed", "indeterminate")
