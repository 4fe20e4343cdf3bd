"""Verdicts as dialogues: rejected at each place; unusable once, and twice."""

import pytest

from spectrace.core.events import RepairMade, ReplyUnusable, VerdictGiven
from spectrace.core.tally import Tally
from spectrace.core.types import Finish
from tests.dialogues.plays import committed, discarded, play, unusable
from tests.playbook import accept, change, look, reject


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


def test_rejected_at_the_held_action_keeps_the_look_ups_before_it():
    played = play().begins().says("weak", look("A")).observes("red").says("weak", look("B")).observes("blue")
    played.says("weak", change()).says("strong", reject(3, change("B"))).objects(None).observes(after="f1")

    assert committed(played) == [(1, 1, 2, "yes")]
    assert discarded(played) == [(1, 3, 3, "rejected")]
    assert [(act.action, act.position) for act in played.acts][2:] == [(change("B"), "s1.r1")]
    texts = " ".join(message.content for message in played.command.request.messages)
    assert [word in texts for word in ("red", "blue", "s1.1", "s1.2", "s1.3")] == [True, True, True, True, False]


@pytest.mark.parametrize(
    "said",
    [
        "I think it is fine",
        "",
        '{"verdict": "accept", "first_wrong": 1}',
        '{"verdict": "reject", "first_wrong": 3, "category": "other", "reason": "no", "replacement": null}',
        '{"verdict": "reject", "first_wrong": 1, "category": "other", "rea',
        '{"verdict": "perhaps"}',
    ],
)
def test_an_unusable_verdict_is_asked_for_once_more_and_the_second_one_counts(said):
    played = play().begins().says("weak", change()).says("strong", said)
    assert (played.command.role, played.command.position) == ("reviewer", "s1")
    played.says("strong", accept())

    assert unusable(played) == ["asked_again"]
    assert [fact.outcome for fact in played.told(VerdictGiven)] == ["accept"]
    assert played.command.action == change()


def test_an_unusable_verdict_is_never_counted_as_accept_or_reject():
    played = (
        play().begins().says("weak", look()).observes().says("weak", change()).says("strong", "?").says("strong", "?")
    )
    tally = Tally()
    for fact in played.facts:
        tally.count(fact)

    assert (tally.totals.reviews, tally.totals.rejections, tally.totals.unusable) == (1, 0, 1)
    assert committed(played) == []
    assert played.acts[1:] == []


def test_after_an_unusable_verdict_the_corrective_turn_names_it_and_is_told_no_reason():
    played = play().begins().says("weak", change()).says("strong", "?").says("strong", "?")
    question = played.command.request.messages[-1].content
    played.says("strong", look())

    repair = played.told(RepairMade)[0]
    assert question == "A weaker agent's next step was rejected.\nWrite the next step yourself."
    assert (repair.kind, repair.verdict is None, repair.fused_unusable) == ("corrective", False, None)


def test_a_reason_beside_an_accept_is_dropped_and_the_accept_stands():
    played = play().begins().says("weak", change()).says("strong", '{"verdict": "accept", "reason": "all fine"}')

    verdict = played.told(VerdictGiven)[0]
    assert (verdict.outcome, verdict.status, verdict.reason) == ("accept", "repaired", None)
    assert played.command.action == change()


def test_an_accepted_final_answer_is_done_on_the_authority_of_its_verdict():
    played = play().begins().says("weak", look()).observes().says("weak", Finish("bye"))
    assert played.command.role == "reviewer"
    played.says("strong", accept())

    assert (played.command.action, played.command.effect) == (Finish("bye"), "finish")
    assert played.command.authority.startswith("verdict:")


def test_a_rejected_final_answer_is_never_given():
    played = play().begins().says("weak", Finish("bye")).says("strong", reject(1, look())).objects(None).observes()

    assert [act.action for act in played.acts] == [look()]
    assert played.outcome is None
