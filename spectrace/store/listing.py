"""Many episodes at a glance: their rows, newest first, and the two events that tell most of each: first and last.

Reading whole episodes to list them would cost their length; two rows each cost the same for every episode. Blobs are
fetched once for a page of episodes: prompts and policies are the same in most of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from spectrace.core.events import EpisodeEnded, Event
from spectrace.errors import StoreError
from spectrace.store import tables
from spectrace.store.event_store import EpisodeRow
from spectrace.store.memory import MemoryEventStore
from spectrace.store.reader import EpisodeReader
from spectrace.store.rows import Row
from spectrace.store.sql import SqlEventStore
from spectrace.store.statements import key

Listable = SqlEventStore | MemoryEventStore
_PAGE = 200


@dataclass(frozen=True, slots=True)
class Listed:
    """An episode's row with its first event and its end."""

    row: EpisodeRow
    first: Event | None
    """None where it is missing or cannot be read."""
    ended: Event | None
    """The last event, if it is `episode.ended`."""


def listed(store: Listable, *, since: int | None = None, until: int | None = None) -> Iterator[Listed]:
    """Yield the episodes that started in [since, until), newest first; times are UTC microseconds."""
    low, high = since if since is not None else 0, until if until is not None else 1 << 62
    if isinstance(store, MemoryEventStore):
        yield from _from_memory(store, low, high)
        return
    before: tuple[int, int] = (high, 0)
    while page := _page(store, low, before):
        yield from _with_ends(store, page)
        before = (page[-1].started_at, page[-1].number)


def _from_memory(store: MemoryEventStore, low: int, high: int) -> Iterator[Listed]:
    rows = [store.row(episode) for episode in store._logs]  # noqa: SLF001 - the twin of the queries below
    for row in sorted(rows, key=lambda row: row.started_at, reverse=True):
        if low <= row.started_at < high:
            events = list(store.read(row.episode))
            yield Listed(row, events[0], events[-1] if events[-1].type == EpisodeEnded.TYPE else None)


def _page(store: SqlEventStore, low: int, before: tuple[int, int]) -> "Sequence[sa.Row[Any]]":
    """Return the next page of rows: those older than the last one shown, in the order of the table's index."""
    started_at, number = tables.episodes.c.started_at, tables.episodes.c.number
    older = sa.or_(started_at < before[0], sa.and_(started_at == before[0], number < before[1]))
    query = tables.episodes.select().where(older, started_at >= low, number > 0)
    with store.database.reading() as connection:
        return connection.execute(query.order_by(started_at.desc(), number.desc()).limit(_PAGE)).all()


def _with_ends(store: SqlEventStore, page: "Sequence[sa.Row[Any]]") -> Iterator[Listed]:
    blobs = _Cache(store)
    rows = _rows(store, {key(found.number, seq) for found in page for seq in (0, max(0, found.events - 1))})
    for found in page:
        first, last = rows.get(key(found.number, 0)), rows.get(key(found.number, max(0, found.events - 1)))
        ended = last if last is not None and last.type == EpisodeEnded.TYPE else None
        yield Listed(
            store.episode_row(found), _decoded(found.episode, first, blobs), _decoded(found.episode, ended, blobs)
        )


def _rows(store: SqlEventStore, keys: set[int]) -> dict[int, Row]:
    """Return rows by key; those that cannot be unpacked are left out."""
    query = tables.events.select().where(tables.events.c.key.in_(sorted(keys)))
    with store.database.reading() as connection:
        rows: dict[int, Row] = {}
        for row in connection.execute(query).all():
            with suppress(StoreError):
                rows[row.key] = store.log.row(connection, row)
    return rows


def _decoded(episode: str, row: Row | None, blobs: "_Cache") -> Event | None:
    if row is None:
        return None
    try:
        return next(EpisodeReader(episode, blobs.fetch).events([row]))
    except StoreError:  # a listing goes on; reading the episode, or `verify`, says what is wrong with it
        return None


class _Cache:
    """The blobs of one page of episodes."""

    def __init__(self, store: SqlEventStore) -> None:
        self._store = store
        self._known: dict[str, bytes] = {}

    def fetch(self, digests: set[str]) -> Mapping[str, bytes]:
        """Return the blobs that exist."""
        missing = digests - set(self._known)
        if missing:
            self._known |= self._store.log.blobs(missing)
        return self._known
