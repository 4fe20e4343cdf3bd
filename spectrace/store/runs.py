"""Named runs: batches and re-verifications, with what was selected and what has been done of it.

A name is used once: beginning it again with the same selection and settings goes on where it stopped, with others is an
error. An item is recorded once however often it is worked on, so that at-least-once work is exactly-once in effect.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import sqlalchemy as sa

from spectrace.core.digest import canonical, digest
from spectrace.errors import UsageError
from spectrace.store import tables
from spectrace.store.arbiter import WHOLE, Item
from spectrace.store.asked import Grid, with_asked
from spectrace.store.projections import storable
from spectrace.store.sql import SqlEventStore

__all__ = ["Item", "Run", "ask", "begin", "cancel", "every", "find", "get", "items", "record", "whole_parts"]


@dataclass(frozen=True, slots=True)
class Run:
    """A named run. `selection` are (episode, head as hex) pairs: the data set of a table."""

    name: str
    kind: str
    """run, reverify."""
    created_at: int
    cancelled_at: int | None
    selection: tuple[tuple[str, str], ...]
    selection_digest: str
    settings: str
    """JSON text."""


def begin(
    store: SqlEventStore, name: str, kind: str, selection: Sequence[tuple[str, str]], settings: str = "{}"
) -> Run:
    """Begin a run, or go on with the one of that name, which any database can hold as it is."""
    if storable(name) != name:
        raise UsageError(f"a run's name is text without NUL and bytes that are no UTF-8, not {name[:80]!r}.")
    pairs = canonical([list(pair) for pair in selection])
    values = {
        "name": name,
        "kind": kind,
        "created_at": store.now(),
        "selection_digest": digest(pairs),
        "selection": pairs.decode(),
        "settings": settings,
    }
    with store.database.writing(durable=True) as connection:
        found = _find(connection, name)
        if found is None:
            connection.execute(tables.runs.insert().values(values))
    run = get(store, name)
    if (run.kind, run.selection_digest, run.settings) != (kind, digest(pairs), settings):
        raise UsageError(
            f"run {name!r} exists with another kind, selection or settings: the same name goes on with the same work. "
            "Give another --name."
        )
    return run


def ask(store: SqlEventStore, name: str, grid: Grid) -> None:
    """Keep what the run is asked for now, beside what it was asked for before."""
    with store.database.writing(durable=True) as connection:
        found = _find(connection, name)
        if found is None:
            raise UsageError(f"there is no run {name[:80]!r}: begin it first.")
        settings = with_asked(found.settings, grid)
        if settings != found.settings:
            connection.execute(tables.runs.update().where(tables.runs.c.name == name).values(settings=settings))


def get(store: SqlEventStore, name: str) -> Run:
    """Return the run of that name."""
    found = find(store, name)
    if found is None:
        raise UsageError(f"there is no run {name[:80]!r}: `spectrace runs` lists them.")
    return found


def find(store: SqlEventStore, name: str) -> Run | None:
    """Return the run of that name, if there is one."""
    with store.database.reading() as connection:
        row = _find(connection, name)
    return None if row is None else _run(row)


def every(store: SqlEventStore) -> list[Run]:
    """Return all runs, newest first."""
    with store.database.reading() as connection:
        rows = connection.execute(
            tables.runs.select().order_by(tables.runs.c.created_at.desc(), tables.runs.c.id.desc())
        )
        return [_run(row) for row in rows]


def cancel(store: SqlEventStore, name: str) -> Run:
    """Mark the run cancelled: whoever works on it stops before the next item."""
    get(store, name)
    mine = sa.and_(tables.runs.c.name == name, tables.runs.c.cancelled_at.is_(None))
    with store.database.writing(durable=True) as connection:
        connection.execute(tables.runs.update().where(mine).values(cancelled_at=store.now()))
    return get(store, name)


def record(store: SqlEventStore, name: str, item: Item, *, durable: bool = True) -> bool:
    """Record an item; False, and nothing changes, where it was recorded before."""
    with store.database.writing(durable=durable) as connection:
        run = _find(connection, name)
        if run is None:
            raise UsageError(f"there is no run {name[:80]!r}: begin it first.")
        key = {"parent": item.parent, "verdict_seq": item.verdict_seq, "repeat": item.repeat}
        rest = {"episode": item.episode, "at": item.at, "state": item.state, "result": item.result}
        insert = store.database.insert(tables.run_items).values(run=run.id, **key, **rest)
        done = insert.on_conflict_do_nothing().returning(tables.run_items.c.id)
        return connection.execute(done).scalar_one_or_none() is not None


def items(store: SqlEventStore, name: str, parent: str | None = None) -> list[Item]:
    """Return what has been done, in the order done; with `parent`, of that episode."""
    column = tables.run_items.c
    query = tables.run_items.select().join(tables.runs).where(tables.runs.c.name == name).order_by(column.id)
    if parent is not None:
        query = query.where(column.parent == parent)
    with store.database.reading() as connection:
        return [
            Item(
                parent=row.parent,
                verdict_seq=row.verdict_seq,
                repeat=row.repeat,
                episode=row.episode,
                at=row.at,
                state=row.state,
                result=row.result,
            )
            for row in connection.execute(query)
        ]


def whole_parts(store: SqlEventStore, name: str) -> set[tuple[str, int]]:
    """Return the (episode, repeat) of which nothing is left to be done."""
    column = tables.run_items.c
    query = sa.select(column.parent, column.repeat).join(tables.runs)
    query = query.where(tables.runs.c.name == name, column.verdict_seq == WHOLE)
    with store.database.reading() as connection:
        return {(parent, repeat) for parent, repeat in connection.execute(query)}


def _find(connection: sa.Connection, name: str) -> "sa.Row[Any] | None":
    if storable(name) != name:
        return None
    return connection.execute(tables.runs.select().where(tables.runs.c.name == name)).one_or_none()


def _run(row: "sa.Row[Any]") -> Run:
    pairs = tuple((episode, head) for episode, head in orjson.loads(row.selection))
    return Run(row.name, row.kind, row.created_at, row.cancelled_at, pairs, row.selection_digest, row.settings)
