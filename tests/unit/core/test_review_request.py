"""A recorded review as plain data: what the first reviewer saw, and nothing of what came of it."""

import dataclasses

from spectrace.core.baselines import WeakOnly
from spectrace.core.fold import fold
from spectrace.core.review_request import review_requests
from spectrace.core.reviews import reviews_of
from spectrace.core.setup import setup_of
from spectrace.core.types import Effect
from tests.episodes import CANCEL, DONE, FIND, READ, recorded_events


def requests(**of_record):
    episode = fold(recorded_events(**of_record))
    return episode, review_requests(episode.id, setup_of(episode.started), reviews_of(episode))


def test_a_request_says_which_review_it_is():
    episode, found = requests()

    assert [(one.episode, one.segment, one.verdict_seq, one.position, one.derived) for one in found] == [
        (episode.id, segment.index, segment.verdict_seq, f"s{segment.index}", False) for segment in episode.segments
    ]
    assert {one.environment for one in found} == {"shop"}


def test_the_steps_are_whole_and_the_held_one_has_no_observation():
    _, found = requests()

    assert [(step.action, step.effect, step.observation is None) for step in found[1].steps] == [
        (READ, Effect.READ, False),
        (CANCEL, Effect.WRITE, True),
    ]
    assert [one.drafted for one in found] == [1, 2, 1]


def test_the_history_holds_calls_as_calls_and_stops_before_the_segment():
    _, found = requests()
    second = found[1].history

    assert [(message.role, [(call.name, call.arguments) for call in message.calls]) for message in second] == [
        ("user", []),
        ("assistant", [(FIND.tool, FIND.arguments)]),
        ("tool", []),
    ]
    assert second[0].content == found[0].history[0].content


def test_a_request_holds_no_recorded_verdict_and_nothing_that_came_later():
    episode, found = requests()
    told = str(dataclasses.asdict(found[0]))

    assert episode.segments[0].verdict.reason not in told
    assert "W200 is cancelled" not in told


def test_a_derived_request_hides_what_the_write_did():
    _, found = requests(weak=[FIND, READ, CANCEL, DONE], protocol=WeakOnly())

    assert [(one.derived, one.verdict_seq, one.segment) for one in found] == [(True, None, 1), (True, None, 2)]
    assert found[0].steps[-1].observation is None
