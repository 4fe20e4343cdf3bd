"""`db copy`: everything that a log says, from one database into another, SQLite or Postgres alike.

Events go as their bytes, so the digests are the same on both sides; numbers are each database's own, projections are
made on the way. A copy that stopped is gone on with: what is there is not sent again. An episode that is being written
is copied as far as it was committed, and a later copy goes on with it. Administrative logs come along as episodes.

The target's own log says `admin.begun` before the first of it is there and `admin.copied` after the last, so that a
copy that stopped is not taken for the whole (`db check`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from spectrace.errors import Conflict, StoreError, UsageError
from spectrace.store import admin, leaf_rows, tables
from spectrace.store.begun import Arrivals, arrivals
from spectrace.store.database import shown
from spectrace.store.event_store import EpisodeRow
from spectrace.store.outgoing import stored_lines, unfinished
from spectrace.store.sql import SqlEventStore
from spectrace.store.transfer import REFUSALS, insert_stored

REFUSED = "refused"

_PAGE = 200
_ITEMS_AT_ONCE = 500

Progress = Callable[[int, int], None]
"""Told after each episode: how many are done, of how many."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What came of an episode. `result`: that of an `Arrival`, or refused."""

    episode: str
    result: str
    events: int
    losses: tuple[str, ...] = ()
    reason: str | None = None
    """Why it was refused."""


@dataclass(frozen=True, slots=True)
class Copy:
    """What came of a whole database."""

    episodes: tuple[Copied, ...]
    runs: int
    run_items: int
    """How many of these were not there before."""


def copy_log(source: SqlEventStore, target: SqlEventStore, progress: Progress | None = None) -> Copy:
    """Copy every episode, named run and dictionary; raise UsageError where both are the same database."""
    if source.database.url == target.database.url:
        raise UsageError(f"{shown(target.database.url)} is the database that would be copied: give another URL.")
    with source.database.reading() as connection:
        total = connection.scalar(sa.select(sa.func.count()).select_from(tables.episodes)) or 0
    record = _records(source, target, total)
    _copy_dictionaries(source, target)
    done: list[Copied] = []
    for row in _rows(source):
        done.append(_copy_episode(source, target, row, record))
        if progress is not None:
            progress(len(done), max(total, len(done)))
    try:
        runs, items = _copy_runs(source, target, record)
    except Conflict:  # no later copy would come further: it is as finished as one whose episodes were refused
        record.end()
        raise
    _copy_leaves(source, target)
    record.end()
    return Copy(tuple(done), runs, items)


def _copy_episode(source: SqlEventStore, target: SqlEventStore, row: EpisodeRow, record: Arrivals) -> Copied:
    lines = stored_lines(source, row.episode, row.events)
    record.expect(row.episode, row.head)
    project = source.log.episode(row.episode).project
    try:
        arrival = insert_stored(target, row.episode, row.head, lines, source.log.blobs, project=project)
    except REFUSALS as error:
        return Copied(row.episode, REFUSED, row.events, (), str(error))
    record.add(arrival)
    return Copied(row.episode, arrival.result, row.events, unfinished(row))


def _rows(source: SqlEventStore) -> Iterator[EpisodeRow]:
    """Yield the episodes in the order in which they began, administrative logs first."""
    column, after = tables.episodes.c.number, None
    while True:
        query = tables.episodes.select().order_by(column).limit(_PAGE)
        if after is not None:
            query = query.where(column > after)
        with source.database.reading() as connection:
            page = connection.execute(query).all()
        if not page:
            return
        yield from (source.episode_row(row) for row in page)
        after = page[-1].number


def _copy_dictionaries(source: SqlEventStore, target: SqlEventStore) -> None:
    """Rows are packed anew, but a dictionary that the source holds may be asked for by name."""
    theirs, ours = _dictionaries(source), _dictionaries(target)
    different = sorted(number for number in theirs.keys() & ours.keys() if theirs[number].digest != ours[number].digest)
    if different:
        raise StoreError(f"dictionary {different[0]} is another one in the target: one of the two was altered.")
    missing = [row._asdict() for number, row in theirs.items() if number not in ours]
    if missing:
        with target.database.writing(durable=False) as connection:
            connection.execute(tables.dictionaries.insert(), missing)


def _copy_leaves(source: SqlEventStore, target: SqlEventStore) -> None:
    """Let the tree that checkpoints sign go on in the copy; a target that has leaves has a tree of its own."""
    with source.database.reading() as connection:
        leaves = [(row.episode, row.data) for row in leaf_rows.kept(connection)]
    with target.database.writing(durable=True) as connection:
        admin.lock(connection)
        if not leaf_rows.kept(connection):
            leaf_rows.append(connection, 0, leaves)


def _dictionaries(store: SqlEventStore) -> dict[int, "sa.Row[Any]"]:
    with store.database.reading() as connection:
        return {row.id: row for row in connection.execute(tables.dictionaries.select())}


def _copy_runs(source: SqlEventStore, target: SqlEventStore, record: Arrivals) -> tuple[int, int]:
    """Copy named runs and their items; return how many of each are new."""
    runs, items = 0, 0
    with source.database.reading() as connection:
        theirs = connection.execute(tables.runs.select().order_by(tables.runs.c.id)).all()
    for row in theirs:
        number, is_new = _run(target, row, record)
        runs += is_new
        items += _items(source, target, row.id, number, record)
    return runs, items


def _run(target: SqlEventStore, row: "sa.Row[Any]", record: Arrivals) -> tuple[int, bool]:
    column = tables.runs.c
    with target.database.reading() as connection:
        known = connection.scalar(sa.select(column.id).where(column.name == row.name)) is not None
    if not known:
        record.begin()
    values = {name: value for name, value in row._asdict().items() if name != "id"}
    with target.database.writing(durable=True) as connection:
        insert = target.database.insert(tables.runs).values(values).on_conflict_do_nothing(index_elements=["name"])
        number = connection.execute(insert.returning(column.id)).scalar_one_or_none()
        there = connection.execute(tables.runs.select().where(column.name == row.name)).one()
    if (there.kind, there.selection_digest, there.settings) != (row.kind, row.selection_digest, row.settings):
        raise Conflict(
            f"the run {row.name!r} is in the target already with another kind, selection or settings. Episodes were "
            "copied, runs from this one on were not."
        )
    return there.id, number is not None


def _items(source: SqlEventStore, target: SqlEventStore, theirs: int, ours: int, record: Arrivals) -> int:
    column, after, new = tables.run_items.c, 0, 0
    if _number_of_items(source, theirs) > _number_of_items(target, ours):
        record.begin()
    while True:
        query = tables.run_items.select().where(column.run == theirs, column.id > after).order_by(column.id)
        with source.database.reading() as connection:
            page = connection.execute(query.limit(_ITEMS_AT_ONCE)).all()
        if not page:
            return new
        values = [{name: value for name, value in row._asdict().items() if name != "id"} for row in page]
        with target.database.writing(durable=True) as connection:
            mine = [{**value, "run": ours} for value in values]
            insert = target.database.insert(tables.run_items).values(mine).on_conflict_do_nothing()
            new += len(connection.execute(insert.returning(column.id)).all())
        after = page[-1].id


def _number_of_items(store: SqlEventStore, run: int) -> int:
    query = sa.select(sa.func.count()).select_from(tables.run_items).where(tables.run_items.c.run == run)
    with store.database.reading() as connection:
        return connection.scalar(query) or 0


def _records(source: SqlEventStore, target: SqlEventStore, total: int) -> Arrivals:
    """Return the records of this copy: the source's file name, or its URL without credentials, and its epoch."""
    url = source.database.url
    name = source.database.path.name if source.database.sqlite else shown(url.set(username=None, password=None))
    with source.database.reading() as connection:
        epoch = admin.current(connection)
    return arrivals(target, "copied", name, total, epoch=None if epoch is None else epoch.told)
