from typing import get_args

from spectrace.core.events import TYPE_NUMBERS, AdminBody, EpisodeEnded, EpisodeStarted
from spectrace.store.samples import pending, sample_episode


def test_a_sample_holds_every_event_type_of_a_run():
    assert {type(body) for body in sample_episode(1)} == set(TYPE_NUMBERS) - set(get_args(AdminBody))


def test_equal_seeds_give_equal_episodes():
    assert sample_episode(5) == sample_episode(5) != sample_episode(6)


def test_a_sample_begins_and_ends_as_an_episode_does():
    bodies = sample_episode(1)

    assert isinstance(bodies[0], EpisodeStarted)
    assert isinstance(bodies[-1], EpisodeEnded)


def test_pending_events_are_numbered_without_gaps():
    assert [item.seq for item in pending(sample_episode(1)[:3], 4)] == [4, 5, 6]
