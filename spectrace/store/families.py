"""The line of episodes that one goes on from: its own resume-parents, up to the first one.

What was done in any of them, or in another child of one of them, was done to one and the same state: `audit.children`
looks at all of them, and `runs.resume` holds them while a child begins.
"""

from spectrace.core.deeds import RESUME
from spectrace.core.events import EpisodeStarted
from spectrace.errors import EpisodeNotFound
from spectrace.store.event_store import EventStore


def line(store: EventStore, episode: str) -> list[str]:
    """Return the episode, the one that it goes on from, and so on; the last may be one that the store lacks."""
    found = [episode]
    while (parent := goes_on_from(store, found[-1])) is not None and parent not in found:  # a log may name itself
        found.append(parent)
    return found


def goes_on_from(store: EventStore, episode: str) -> str | None:
    """Return the episode that this one goes on from; None where it goes on from none, or is not there."""
    try:
        first = next(iter(store.read(episode, 0, 1)), None)
    except EpisodeNotFound:
        return None
    body = None if first is None else first.body
    parent = body.parent if isinstance(body, EpisodeStarted) else None
    return parent.episode if parent is not None and parent.kind == RESUME else None
