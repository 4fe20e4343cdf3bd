"""Which episodes go on from an interrupted one, and whether one of them has acted: an action is gone on from once.

An interrupted episode may be resumed again as long as nothing came of it: a child that only asked models, read, or was
interrupted before it had taken over its record. Once a child has changed something, or may have, going on from the
parent again would do it twice: what comes next is the child's. So it is with every child of the episodes that it goes
on from itself: all of a family work on one state. Nor does anything go on from a word that was taken back (`words`).
"""

from collections.abc import Collection, Mapping
from itertools import pairwise

import sqlalchemy as sa

from spectrace.audit.words import Contradiction, contradictions
from spectrace.core.deeds import changes_state, own_deeds
from spectrace.errors import Conflict, EpisodeNotFound, StoreError, UsageError
from spectrace.store import tables
from spectrace.store.families import goes_on_from, line
from spectrace.store.listing import Listable
from spectrace.store.projections import storable
from spectrace.store.sql import SqlEventStore


def resumed_in(store: Listable, episode: str) -> list[str]:
    """Return the episodes that go on from this one, the oldest first."""
    return [name for name in _named(store, episode) if goes_on_from(store, name) == episode]


def require_untouched(store: Listable, episode: str) -> None:
    """Raise UsageError where one of its family has acted since, or denies what it goes on with; name who and what.

    Raises Conflict while one is at work.
    """
    ancestors = line(store, episode)
    _require_idle(store, episode, {episode})
    for passed, ancestor in pairwise(ancestors):
        _require_idle(store, ancestor, set(ancestors), beside=episode)
        _require_standing(store, ancestor, passed)


def taken_back(store: Listable, episode: str) -> list[Contradiction]:
    """Return the words on this episode's writes that a child went on with, and that its last words deny."""
    return [one for child in resumed_in(store, episode) for one in contradictions(store, episode, child)]


def families(store: Listable, episodes: Collection[str]) -> Mapping[str, str]:
    """Return of each episode the first one of those that it goes on from, itself where it goes on from none."""
    children = _children(store) if isinstance(store, SqlEventStore) else set(episodes)
    found = {}
    for name in episodes:
        try:
            found[name] = line(store, name)[-1] if name in children else name
        except StoreError:  # what cannot be read has no family; the ledger says so of it
            found[name] = name
    return found


def _require_idle(store: Listable, episode: str, seen: set[str], beside: str | None = None) -> None:
    """Refuse where something below `episode`, `seen` aside, works or has acted."""
    for child in resumed_in(store, episode):
        if child in seen:
            continue
        seen.add(child)
        state = store.row(child).state
        if state == "running":
            raise Conflict(f"{episode} is being gone on with, in {child}: wait for it, or end it.")
        if _has_acted(store, child):
            shared = "" if beside is None else f" {beside} goes on from {episode} as well: both work on one state."
            raise UsageError(
                f"{episode} was gone on with in {child}, which has acted since: `spectrace show {child}` says how far "
                f"it came, `spectrace resume {child}` goes on if it was cut off.{shared}"
            )
        _require_idle(store, child, seen, beside)


def _require_standing(store: Listable, parent: str, child: str) -> None:
    """Refuse where the child went on with a word that its parent's last one denies."""
    try:
        found = contradictions(store, parent, child)
    except EpisodeNotFound:
        return
    if found:
        acted = any(_has_acted(store, one) for one in _below(store, parent))
        todo = (
            f"something was done on the strength of it since: look what is true there; to go on all the same, settle "
            f"{parent}:{found[0].request} as it was"
            if acted
            else f"`spectrace resume {parent}` goes on with the last word"
        )
        raise UsageError(f"{found[0]}. Nothing goes on from a word that was taken back: {todo}.")


def _below(store: Listable, episode: str) -> list[str]:
    """Return everything that goes on from an episode, at any distance."""
    found: list[str] = []
    left = [episode]
    while left:
        for child in resumed_in(store, left.pop()):
            if child not in found and child != episode:
                found.append(child)
                left.append(child)
    return found


def _has_acted(store: Listable, episode: str) -> bool:
    """Whether an episode has itself changed something, or may have."""
    return any(deed.requested_at is not None and changes_state(deed) for deed in own_deeds(store.read(episode)))


def _children(store: SqlEventStore) -> set[str]:
    """Return the episodes whose rows name a parent of whatever kind."""
    episodes, summaries = tables.episodes.c, tables.summaries.c
    query = (
        sa.select(episodes.episode).join_from(tables.summaries, tables.episodes).where(summaries.parent.is_not(None))
    )
    with store.database.reading() as connection:
        return set(connection.scalars(query))


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
