"""Whatever a log holds, in whatever order, every rule can be asked of it: none raises, none hides another."""

from dataclasses import fields, replace
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from spectrace.audit.rules import Tally, violations
from spectrace.core.events import Event, Unknown
from spectrace.store.samples import sample_episode
from tests.episodes import recorded_events

SOUND = recorded_events()


def failed(events):
    tally = Tally()
    violations(events, tally=tally)
    return tally.failed


@settings(max_examples=60, derandomize=True, database=None, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_events_of_every_kind_in_any_order_can_be_judged(seed, numbered):
    events = [Event("any", seq, "", seq, body) for seq, body in enumerate(sample_episode(seed))]
    Random(seed).shuffle(events)  # noqa: S311 - a test's order
    if numbered:
        events = [replace(event, seq=seq) for seq, event in enumerate(events)]

    assert failed(events) == []


def altered(random: Random) -> list[Event]:
    """Return a sound episode in which something is missing, moved, erased, told twice or said otherwise."""
    events = list(SOUND)
    for _ in range(random.randint(1, 6)):
        place = random.randrange(len(events))
        event, other = events[place], random.choice(events)
        match random.choice(("drop", "swap", "erase", "again", "otherwise")):
            case "drop":
                del events[place]
            case "swap":
                there = events.index(other)
                events[place], events[there] = other, event
            case "erase":
                events[place] = replace(event, body=Unknown(event.type, 1, "null", "write", "verdict:3", None, "x"))
            case "again":
                events.append(replace(event, seq=len(events)))
            case _:
                shared = [f.name for f in fields(event.body) if hasattr(other.body, f.name)]
                values = {name: getattr(other.body, name) for name in random.sample(shared, min(1, len(shared)))}
                events[place] = replace(event, body=replace(event.body, **values))
    return events


@settings(max_examples=150, derandomize=True, database=None, deadline=None)
@given(st.randoms(use_true_random=False), st.booleans())
def test_an_episode_that_was_altered_anyhow_can_be_judged(random, numbered):
    events = altered(random)
    if numbered:
        events = [replace(event, seq=seq) for seq, event in enumerate(events)]

    assert failed(events) == []
