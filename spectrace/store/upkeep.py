"""Looking after a database: what it holds (`db stats`), and its projections made anew (`db rebuild`).

Whether it is sound is `soundness`'s to say.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from spectrace.core.events import EpisodeStarted, Event, Unknown
from spectrace.errors import StoreError
from spectrace.store import projections, sight, tables
from spectrace.store.event_store import FULL_EPISODE, EpisodeRow
from spectrace.store.evidence import opened
from spectrace.store.soundness import reading
from spectrace.store.sql import SqlEventStore, open_store

_PENDING = 0
"""In place of a projection's version: a rebuild has begun and has not come to this episode."""
_TRIES = 5

Told = Callable[[int, int], None]
"""Told how many episodes of how many are done."""


@dataclass(frozen=True, slots=True)
class TableSize:
    """One table: its rows and the bytes that it and its indexes take; None where the database does not say.

    To a role that is shown one project it tells the rows of that, and of texts none.
    """

    table: str
    rows: int | None
    bytes: int | None


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild did; `lost` are (episode, why) of those that cannot be read."""

    episodes: int
    lost: tuple[tuple[str, str], ...]


def stats(url: str) -> list[TableSize]:
    """Return the size of every table."""
    with opened(url) as evidence, reading(evidence.url) as connection:
        sizes = _sizes(connection)
        hidden = () if sight.lists_texts(connection) else (tables.blobs,)
        every = tables.metadata.sorted_tables
        rows = {
            table: connection.scalar(sa.select(sa.func.count()).select_from(table))
            for table in every
            if table not in hidden
        }
        return [TableSize(table.name, rows.get(table), sizes.get(table.name)) for table in every]


def rebuild(url: str, told: Told | None = None, *, old: bool = False) -> Rebuilt:
    """Make every run's projections anew from its events; one that was broken off goes on where it stopped.

    `old`: only those that an earlier spectrace made, or that are missing.

    It may run beside writers: an episode that has not ended gets its summary only, as from its writer, which writes
    the rest with the end.
    """
    store = open_store(url)
    lost: list[tuple[str, str]] = []
    try:
        todo = _todo(store, old=old)
        for done, (number, episode) in enumerate(todo):
            if told is not None:
                told(done, len(todo))
            try:
                _rebuild_one(store, number, episode)
            except StoreError as error:
                lost.append((episode, str(error)))
        return Rebuilt(len(todo) - len(lost), tuple(lost))
    finally:
        store.close()


def _todo(store: SqlEventStore, *, old: bool) -> list[tuple[int, str]]:
    """Mark every summary, unless a rebuild was broken off; return (number, episode) of those marked or missing."""
    marked = tables.summaries.c.projection == _PENDING
    if old:
        marked = tables.summaries.c.projection != projections.VERSION
    with store.database.writing(durable=False) as connection:
        if not old and not connection.scalar(sa.select(sa.func.count()).where(marked)):
            connection.execute(tables.summaries.update().values(projection=_PENDING))
        joined = tables.episodes.outerjoin(tables.summaries)
        query = sa.select(tables.episodes.c.number, tables.episodes.c.episode).select_from(joined)
        missing = tables.summaries.c.number.is_(None)
        found = query.where(tables.episodes.c.number > 0, marked | missing).order_by(tables.episodes.c.number)
        return [(number, episode) for number, episode in connection.execute(found)]


def _rebuild_one(store: SqlEventStore, number: int, episode: str) -> None:
    """Read it, then write unless it has grown meanwhile: reading takes long, and writers wait for a transaction."""
    for _ in range(_TRIES):
        row = store.row(episode)
        events = list(store.read(episode, 0, FULL_EPISODE if row.ended_at is not None else 1, prompts=False))
        started = events[0].body if events else None
        erased = isinstance(started, Unknown) and started.erased and events[0].type == EpisodeStarted.TYPE
        if not isinstance(started, EpisodeStarted) and not erased:
            raise StoreError(f"{episode} has no event 0 that can be read. `spectrace verify {episode}` says more.")
        if row.ended_at is None or row.events == len(events):
            if _projected(store, number, row, started if isinstance(started, EpisodeStarted) else None, events):
                return
        elif store.row(episode) == row:
            raise StoreError(
                f"{episode} has {row.events} events by its own row, {len(events)} are there. "
                f"`spectrace verify {episode}` says more."
            )
    raise StoreError(f"{episode} grew each time that it was read: run `spectrace db rebuild` again.")


def _projected(
    store: SqlEventStore, number: int, row: EpisodeRow, started: EpisodeStarted | None, events: Sequence[Event]
) -> bool:
    """Write what the events say; False where the episode has ended or grown since its row was read."""
    held = sa.select(tables.episodes.c.events, tables.episodes.c.ended_at).where(tables.episodes.c.number == number)
    with store.database.writing(durable=False) as connection:
        count, ended_at = connection.execute(held.with_for_update()).one()
        if ended_at != row.ended_at or (ended_at is not None and count != row.events):
            return False
        projections.begin_again(connection, number, started)
        if ended_at is not None:
            projections.project(connection, number, events)
    return True


def _sizes(connection: sa.Connection) -> Mapping[str, int]:
    if connection.dialect.name != "sqlite":
        query = (
            "SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relkind = 'r' AND pg_table_is_visible(oid)"
        )
        return {name: size for name, size in connection.exec_driver_sql(query)}  # noqa: C416 - rows are no pairs to mypy
    query = (
        "SELECT s.tbl_name, sum(d.pgsize) FROM dbstat('main', 1) AS d JOIN sqlite_schema AS s ON s.name = d.name "
        "GROUP BY s.tbl_name"
    )
    try:
        return {name: size for name, size in connection.exec_driver_sql(query)}  # noqa: C416 - rows are no pairs to mypy
    except sa.exc.OperationalError:  # this build of SQLite came without dbstat
        return {}
