"""Segments as dialogues: several calls in one message, drafts that cannot be read, what is held, what is reviewed."""

import pytest

from spectrace.core.events import ActionHeld, EffectObserved, RepairMade, SegmentClosed, StepDrafted, VerdictGiven
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Call, Finish, Reply
from tests.dialogues.plays import closed, committed, discarded, play, unusable
from tests.playbook import accept, change, look, reject

SEARCH = Call("search", '{"id": "A"}')


def test_several_calls_in_one_message_are_steps_in_order():
    played = play(calls="native").begins().says("weak", look("A"), look("B"), look("C"))
    for content in ("1", "2", "3"):
        played.observes(content)

    assert [(act.action, act.position) for act in played.acts] == [
        (look("A"), "s1.1"),
        (look("B"), "s1.2"),
        (look("C"), "s1.3"),
    ]
    assert len({fact.request for fact in played.told(StepDrafted)}) == 1
    assert (played.command.who, played.command.position) == ("weak", "s1.4")


def test_the_kth_of_several_calls_closes_and_the_rest_is_dropped():
    played = play(SpecAgent(k=2), calls="native").begins().says("weak", look("A"), look("B"), look("C"))
    played.observes().observes()

    assert [(fact.reason, fact.steps, fact.dropped) for fact in played.told(SegmentClosed)] == [("k_reads", 2, 1)]
    assert len(played.acts) == 2


def test_the_first_held_one_of_several_calls_closes_and_a_second_write_is_dropped():
    played = play(calls="native").begins().says("weak", change("A"), change("B")).says("strong", accept())

    assert [fact.action for fact in played.told(ActionHeld)] == [change("A")]
    assert played.command.action == change("A")
    assert [(fact.reason, fact.dropped) for fact in played.told(SegmentClosed)] == [("held", 1)]


def test_a_call_against_its_schema_is_a_step_and_those_after_it_still_run():
    played = play(calls="native").begins().says("weak", Call("look", "{}"), look("B")).observes()

    assert [act.position for act in played.acts] == ["s1.2"]
    assert [fact.objection is None for fact in played.told(StepDrafted)] == [False, True]


def test_a_look_up_that_changed_the_state_closes_and_what_follows_it_in_the_message_is_dropped():
    played = play(calls="native").begins().says("weak", look("A"), look("B"), look("C")).observes()
    played.observes(before="f0", after="f1")

    assert [(fact.reason, fact.dropped) for fact in played.told(SegmentClosed)] == [("effect_observed", 1)]
    assert committed(played) == [(1, 1, 2, "no")]
    assert [fact.authority for fact in played.told(EffectObserved)] == ["unreviewed"]


def test_a_draft_that_is_read_at_the_second_time_counts():
    played = play().begins().says("weak", "I would look at A").says("weak", look())

    assert unusable(played) == ["asked_again"]
    assert (played.command.action, played.command.position) == (look(), "s1.1")


def test_an_unusable_draft_at_the_very_beginning_leaves_nothing_to_commit_or_to_review():
    played = play(SpecAgent(review="every")).begins().says("weak", "hm").says("weak", "hm")

    assert (closed(played), committed(played), played.told(VerdictGiven)) == (["unusable_draft"], [], [])
    assert (played.command.role, played.command.position) == ("repairer", "s1.r")


def test_the_corrective_turn_after_an_unusable_draft_follows_no_verdict():
    played = play().begins().says("weak", "hm").says("weak", "hm").says("strong", look())

    repair = played.told(RepairMade)[0]
    assert (repair.kind, repair.verdict, repair.fused_unusable) == ("corrective", None, None)


@pytest.mark.parametrize("options", [{"hold": "writes+replies"}, {"review": "every"}])
def test_an_accepted_reply_is_said_on_the_authority_of_its_verdict(options):
    played = play(SpecAgent(**options), replies=True).begins().says("weak", Reply("Which?"))
    assert played.acts == []
    played.says("strong", accept()).observes("the red one")

    assert played.authorities[0][0] == "s1.1"
    assert played.authorities[0][1].startswith("verdict:")
    assert committed(played) == [(1, 1, 1, "yes")]


def test_a_rejected_reply_is_never_said():
    played = play(SpecAgent(hold="writes+replies"), replies=True).begins().says("weak", Reply("Which?"))
    played.says("strong", reject(1, look())).objects(None).observes()

    assert [act.action for act in played.acts] == [look()]


def test_an_accepted_look_up_at_an_outside_party_is_made_on_the_authority_of_its_verdict():
    played = play(SpecAgent(hold="writes+external")).begins().says("weak", look()).observes().says("weak", SEARCH)
    assert played.command.role == "reviewer"
    played.says("strong", accept())

    assert (played.command.action, played.command.effect) == (SEARCH, "read")
    assert played.command.authority.startswith("verdict:")


def test_a_look_up_at_an_outside_party_is_made_at_once_where_only_writes_are_held():
    played = play().begins().says("weak", SEARCH)

    assert (played.command.action, played.command.authority) == (SEARCH, "read")


def test_review_every_commits_accepted_look_ups_as_reviewed_and_goes_on():
    played = play(SpecAgent(k=1, review="every")).begins().says("weak", look()).observes().says("strong", accept())

    assert committed(played) == [(1, 1, 1, "yes")]
    assert (played.command.who, played.command.position) == ("weak", "s2.1")


def test_review_every_discards_a_rejected_look_up():
    played = play(SpecAgent(k=1, review="every")).begins().says("weak", look("A")).observes("A is red")
    played.says("strong", reject(1, look("B"))).objects(None).observes("B is blue")

    assert discarded(played) == [(1, 1, 1, "rejected")]
    texts = " ".join(message.content for message in played.command.request.messages)
    assert ("A is red" in texts, "B is blue" in texts) == (False, True)


def test_max_unreviewed_counts_from_the_last_review_on():
    played = play(SpecAgent(k=1, max_unreviewed=2)).begins()
    for name in ("A", "B"):
        played.says("weak", look(name)).observes(name)
    played.says("strong", accept()).says("weak", look("C")).observes("C")

    assert played.command.who == "weak"
    assert committed(played) == [(1, 1, 1, "no"), (2, 1, 1, "yes"), (3, 1, 1, "no")]


def test_a_stalled_segment_that_is_rejected_discards_the_repeats():
    played = play().begins()
    for _ in range(3):
        played.says("weak", look()).observes("same")
    played.says("strong", reject(2, Finish("enough"))).objects(None)

    assert (committed(played), discarded(played)) == ([(1, 1, 1, "yes")], [(1, 2, 3, "rejected")])
    assert played.command.action == Finish("enough")


def test_the_same_look_up_with_another_answer_is_no_stall():
    played = play().begins()
    for content in ("1", "2", "3"):
        played.says("weak", look()).observes(content)

    assert closed(played) == []


def test_the_same_step_that_is_never_sent_stalls_too():
    played = play().begins()
    for _ in range(3):
        played.says("weak", Call("fly", "{}"))

    assert closed(played) == ["stalled"]
    assert played.command.role == "reviewer"
