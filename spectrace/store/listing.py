"""Many episodes at a glance: their rows, newest first, and the two events that tell most of each: first and last.

Reading whole episodes to list them would cost their length; two rows each cost the same for every episode. Blobs are
fetched once for a page of episodes: prompts and policies are the same in most of them.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import sqlalchemy as sa

from spectrace.core.events import EpisodeEnded, Event, OutcomeSettled
from spectrace.core.fold import fold
from spectrace.core.money import spent
from spectrace.errors import StoreError
from spectrace.store import projections, tables
from spectrace.store.columns import MOST
from spectrace.store.event_store import EpisodeRow
from spectrace.store.memory import MemoryEventStore
from spectrace.store.reader import EpisodeReader
from spectrace.store.rows import Row
from spectrace.store.sql import SqlEventStore
from spectrace.store.statements import key

Listable = SqlEventStore | MemoryEventStore
_PAGE = 200
_COST = re.compile(rf"(?:{projections.AT_LEAST})?\d+(?:\.\d+)?", re.ASCII)
"""Nothing guards a summary: what is no cost is none."""


@dataclass(frozen=True, slots=True)
class Listed:
    """An episode's row with its first event and its end."""

    row: EpisodeRow
    first: Event | None
    """None where it is missing or cannot be read."""
    ended: Event | None
    """`episode.ended`; only a person's later words stand behind it."""
    cost: str | None = None
    """What an ended episode's own calls cost, as its summary says it (see `projections.cost_text`)."""
    segments: int | None = None
    """How many an ended episode has, as its summary says it."""


def listed(store: Listable, *, since: int | None = None, until: int | None = None) -> Iterator[Listed]:
    """Yield the episodes that started in [since, until), newest first; times are UTC microseconds.

    Nothing guards an episode's row. One whose time is none comes first, with the time of its first event.
    """
    low, high = -MOST if since is None else since, MOST if until is None else until
    if isinstance(store, MemoryEventStore):
        yield from _from_memory(store, low, high)
        return
    for found in _paged(store, _without_time):
        at = found.row.started_at if found.first is None else found.first.at
        if found.first is None or low <= at < high:
            yield replace(found, row=replace(found.row, started_at=at))
    yield from _paged(store, partial(_in_time, max(low, -MOST), min(high, MOST)))


def _from_memory(store: MemoryEventStore, low: int, high: int) -> Iterator[Listed]:
    rows = [store.row(episode) for episode in store._logs]  # noqa: SLF001 - the twin of the queries below
    for row in sorted(rows, key=lambda row: row.started_at, reverse=True):
        if low <= row.started_at < high:
            events = list(store.read(row.episode))
            ended = next((event for event in reversed(events) if event.type == EpisodeEnded.TYPE), None)
            cost, segments = (
                (None, None) if ended is None else (projections.cost_text(spent(events)), _segments(events))
            )
            yield Listed(row, events[0], ended, cost, segments)


def _paged(store: SqlEventStore, page_after: Callable[[SqlEventStore, Any], list[Any]]) -> Iterator[Listed]:
    last = None
    while page := page_after(store, last):
        yield from _with_ends(store, page)
        last = page[-1]


def _without_time(store: SqlEventStore, last: Any) -> list[Any]:
    """Return the next page of rows whose time is none: SQLite has texts and bytes behind all numbers."""
    before = (1 << 63) - 1 if last is None else last.number
    where = f"(started_at < ? OR started_at >= ?) AND number > 0 AND number < ? ORDER BY number DESC LIMIT {_PAGE}"
    return store.log.episodes(where, (-MOST, MOST, before))


def _in_time(low: int, high: int, store: SqlEventStore, last: Any) -> list[Any]:
    """Return the next page of rows: those older than the last one shown, in the order of the table's index."""
    at, number = (high, 0) if last is None else (last.started_at, last.number)
    where = "(started_at < ? OR (started_at = ? AND number < ?)) AND started_at >= ? AND number > 0"
    return store.log.episodes(f"{where} ORDER BY started_at DESC, number DESC LIMIT {_PAGE}", (at, at, number, low))


def _with_ends(store: SqlEventStore, page: Sequence[Any]) -> Iterator[Listed]:
    blobs = _Cache(store)
    ends = [(found, store.episode_row(found)) for found in page]
    rows = store.log.at({key(found.number, seq) for found, row in ends for seq in (0, max(0, row.events - 1))})
    lasts = _before_words(store, {found.number: max(0, row.events - 1) for found, row in ends}, rows)
    told = _summaries(store, [found.number for found in page])
    for found, row in ends:
        first, last = rows.get(key(found.number, 0)), lasts[found.number]
        ended = last if last is not None and last.type == EpisodeEnded.TYPE else None
        cost, segments = (None, None) if ended is None else told.get(found.number, (None, None))
        yield Listed(row, _decoded(row.episode, first, blobs), _decoded(row.episode, ended, blobs), cost, segments)


def _before_words(store: SqlEventStore, places: Mapping[int, int], rows: Mapping[int, Row]) -> Mapping[int, Row | None]:
    """Return each episode's last event, going back past a person's later words: few episodes have any, of them few."""
    lasts = {number: rows.get(key(number, seq)) for number, seq in places.items()}
    places = dict(places)
    while settled := [number for number, row in lasts.items() if row is not None and row.type == OutcomeSettled.TYPE]:
        places = {number: places[number] - 1 for number in settled}
        rows = store.log.at({key(number, seq) for number, seq in places.items()})
        lasts |= {number: rows.get(key(number, seq)) for number, seq in places.items()}
    return lasts


def _summaries(store: SqlEventStore, numbers: Sequence[int]) -> Mapping[int, tuple[str | None, int | None]]:
    """Return what episodes cost and their segments by their summaries, as far as this spectrace made those."""
    column = tables.summaries.c
    current = sa.select(column.number, column.cost_usd, column.segments).where(
        column.number.in_(numbers), column.projection == projections.VERSION
    )
    with store.database.reading() as connection:
        return {
            number: (
                cost if _COST.fullmatch(str(cost)) else None,
                segments if isinstance(segments, int) and segments >= 0 else None,
            )
            for number, cost, segments in connection.execute(current)
        }


def _segments(events: Sequence[Event]) -> int | None:
    try:
        return len(fold(events).segments)
    except (ValueError, StoreError):
        return None


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
