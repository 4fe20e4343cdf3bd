"""Explore a protocol: play scripts, let every claim judge each episode, and tell which branches were taken."""

from collections.abc import Callable, Mapping, Sequence

from hypothesis import event, example, given, settings

from spectrace.runs.live import EpisodeProtocol
from spectrace.store.event_store import EventStore
from tests.properties.branches import Taken, taken
from tests.properties.claims import HOLDS
from tests.properties.claims_of_readers import READABLE
from tests.properties.played import play
from tests.properties.scripts import BUDGETS, Script, options, scripts

Episodes = Sequence[tuple[Script, dict[str, object]]]
Table = Mapping[str, tuple[object, ...]]


def not_reached(  # noqa: PLR0913 - what to explore, and how far
    protocol: Callable[..., EpisodeProtocol],
    branches: Mapping[str, Taken],
    table: Table,
    examples: int,
    rehearsed: Episodes = (),
    store: EventStore | None = None,
) -> list[str]:
    """Play the rehearsed episodes and so many random ones; return the branches that none of them took.

    Derandomized: what is found here is found everywhere.
    """
    reached: set[str] = set()

    @settings(max_examples=examples, derandomize=True, database=None)
    @given(scripts(), options(table, BUDGETS))
    def explore(script: Script, chosen: dict[str, object]) -> None:
        played = play(script, protocol, chosen, store)
        for name in taken(branches, played):
            event(name)
            reached.add(name)
        for holds in (*HOLDS, *READABLE):
            holds(played)

    for script, chosen in rehearsed:
        explore = example(script, chosen)(explore)
    explore()
    return sorted(set(branches) - reached)
