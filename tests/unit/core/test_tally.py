"""Totals are counted one event at a time; what a resumed episode took over counts in the one before it."""

from dataclasses import replace

import pytest

from spectrace.core.deeds import RESUME
from spectrace.core.events import ActCompleted, Parent, Unknown
from spectrace.core.tally import Tally
from tests.episodes import recorded_events


def counted(bodies):
    tally = Tally()
    for body in bodies:
        tally.count(body)
    return tally.totals


def test_every_event_that_counts_is_counted_once():
    events = recorded_events()

    assert counted(event.body for event in events) == events[-1].body.totals


@pytest.mark.parametrize("source", ["record", "edited"])
def test_what_a_resumed_episode_took_over_is_counted_in_its_parent(source):
    first, *rest = [event.body for event in recorded_events()]
    resumed = replace(first, parent=Parent(RESUME, "parent", 9))
    taken = [replace(body, source=source) if isinstance(body, ActCompleted) else body for body in rest]

    assert (counted([first, *rest]).reads, counted([first, *rest]).writes) == (2, 1)
    assert (counted([resumed, *taken]).reads, counted([resumed, *taken]).writes) == (0, 0)


def test_the_same_answers_in_an_episode_that_took_over_nothing_count():
    bodies = [event.body for event in recorded_events()]
    taken = [replace(body, source="record") if isinstance(body, ActCompleted) else body for body in bodies]

    assert counted(taken) == counted(bodies)


def test_of_an_erased_event_what_its_header_says_is_counted():
    bodies = [event.body for event in recorded_events()]
    names = ("effect", "authority", "outcome", "tool")
    gone = [
        Unknown(body.TYPE, body.VERSION, "null", **{name: getattr(body, name, None) for name in names})
        for body in bodies
    ]
    whole, found = counted(bodies), counted(gone)

    for name in ("segments", "reviews", "rejections", "unusable", "repairs", "writes", "reads"):
        assert getattr(found, name) == getattr(whole, name), name
    assert found.steps < whole.steps  # those of repairs are in bodies only
    assert found.weak_calls == 0
