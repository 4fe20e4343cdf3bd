"""Which episodes go on from an interrupted one, and whether one of them has acted: an action is gone on from once.

An interrupted episode may be resumed again as long as nothing came of it: a child that only asked models, read, or was
interrupted before it had taken over its record. Once a child has changed something, or may have, going on from the
parent again would do it twice: what comes next is the child's.
"""

import sqlalchemy as sa

from spectrace.core.deeds import RESUME, changes_state, own_deeds
from spectrace.core.events import EpisodeStarted
from spectrace.errors import Conflict, UsageError
from spectrace.store import tables
from spectrace.store.listing import Listable
from spectrace.store.projections import storable
from spectrace.store.sql import SqlEventStore


def resumed_in(store: Listable, episode: str) -> list[str]:
    """Return the episodes that go on from this one, the oldest first."""
    return [name for name in _named(store, episode) if _goes_on_from(store, name) == episode]


def require_untouched(store: Listable, episode: str) -> None:
    """Raise UsageError where a child has acted since, naming it; Conflict while one is at work."""
    for child in resumed_in(store, episode):
        state = store.row(child).state
        if state == "running":
            raise Conflict(f"{episode} is being gone on with, in {child}: wait for it, or end it.")
        if any(deed.requested_at is not None and changes_state(deed) for deed in own_deeds(store.read(child))):
            todo = (
                f"`spectrace show {child}` says how far it came, `spectrace resume {child}` goes on if it was cut off"
            )
            raise UsageError(f"{episode} was gone on with in {child}, which has acted since: {todo}.")
        require_untouched(store, child)


def _named(store: Listable, episode: str) -> list[str]:
    """Return the episodes whose rows name this one as their parent; nothing guards a row."""
    if not isinstance(store, SqlEventStore):
        return [name for name in store._logs if name != episode]  # noqa: SLF001 - the twin of the query below
    episodes, summaries = tables.episodes.c, tables.summaries.c
    query = (
        sa.select(episodes.episode)
        .join_from(tables.summaries, tables.episodes)
        .where(summaries.parent == storable(episode), episodes.episode != episode)
        .order_by(episodes.number)
    )
    with store.database.reading() as connection:
        return list(connection.scalars(query))


def _goes_on_from(store: Listable, episode: str) -> str | None:
    first = next(iter(store.read(episode, 0, 1)), None)
    body = None if first is None else first.body
    parent = body.parent if isinstance(body, EpisodeStarted) else None
    return parent.episode if parent is not None and parent.kind == RESUME else None
