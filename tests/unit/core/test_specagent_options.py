"""unreviewed=revisable: the next review reaches back to the last irrevocable step."""

from spectrace.core.events import SegmentCommitted, StepsDiscarded, VerdictGiven
from spectrace.core.fold import fold
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Finish, Reply
from tests.episodes import CANCEL, DONE, FIND, READ, recorded_events
from tests.playbook import Playbook, accept, change, look, reject, setup


def play(**options: object) -> Playbook:
    options = {"unreviewed": "revisable", "k": 2} | options
    return Playbook(SpecAgent(**options).run(setup(replies=True))).begins()


def two_reads(played: Playbook) -> Playbook:
    return played.says("weak", look("A")).observes("A is red").says("weak", look("B")).observes("B is blue")


def committed(played: Playbook) -> list[tuple[int, int, int, str]]:
    return [(f.segment, f.start, f.end, f.reviewed) for f in played.told(SegmentCommitted)]


def discarded(played: Playbook) -> list[tuple[int, int, int]]:
    return [(f.segment, f.start, f.end) for f in played.told(StepsDiscarded)]


def test_a_review_that_accepts_commits_the_open_segments_as_reviewed():
    played = two_reads(play())
    assert committed(played) == []

    played.says("weak", change()).says("strong", accept())

    assert played.told(VerdictGiven)[0].drafted == 3
    assert committed(played) == [(1, 1, 2, "yes"), (2, 1, 1, "yes")]


def test_a_rejection_reaches_back_over_the_segments_before():
    played = two_reads(play()).says("weak", change())
    played.says("strong", reject(2, look("C"))).objects(None).observes("C is green")

    assert committed(played) == [(1, 1, 1, "yes")]
    assert discarded(played) == [(1, 2, 2), (2, 1, 1)]
    assert [message.content for message in played.command.request.messages if "B is blue" in message.content] == []


def test_the_drafter_goes_on_from_the_open_steps():
    played = two_reads(play())

    assert any("B is blue" in message.content for message in played.command.request.messages)


def test_a_reply_cannot_be_taken_back_and_settles_what_was_open():
    played = two_reads(play()).says("weak", Reply("one moment")).observes("fine")

    assert committed(played) == [(1, 1, 2, "no"), (2, 1, 1, "no")]

    played.says("weak", change()).says("strong", accept())

    assert played.told(VerdictGiven)[0].drafted == 1


def test_what_is_open_when_the_episode_ends_stays_unreviewed():
    played = two_reads(play(max_steps=2))

    assert committed(played) == [(1, 1, 2, "no")]
    assert played.outcome.reason == "max_steps"


def test_a_review_that_is_not_answered_discards_its_own_segment_only():
    played = two_reads(play()).says("weak", Finish("done")).fails("unreachable")

    assert committed(played) == [(1, 1, 2, "no")]
    assert discarded(played) == [(2, 1, 1)]


def test_final_steps_are_out_of_reach():
    played = two_reads(play(unreviewed="final")).says("weak", change())

    assert committed(played) == [(1, 1, 2, "no")]
    assert len(played.command.request.messages[-1].content.splitlines()) == 3


def test_the_fold_gives_the_review_the_steps_that_it_reached_back_over():
    weak, strong = [FIND, READ, CANCEL, DONE], [reject(2, READ), accept(), accept()]
    events = recorded_events(
        weak=[*weak[:3], CANCEL, DONE], strong=strong, protocol=SpecAgent(unreviewed="revisable", k=2)
    )
    first, second, *_ = fold(events).segments

    assert (first.verdict, second.verdict.drafted, second.earlier) == (None, 3, (first,))
    assert [step.action for step in second.under_review] == [FIND, READ, CANCEL]
    assert [item.fate for item in second.judged] == ["committed", "discarded", "discarded"]
    assert second.history.steps == ()
