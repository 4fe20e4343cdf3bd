"""Whether an episode's projections say what its events say. Counterpart of `projections`, which makes them.

Lists and ledgers are read from these rows, and nothing guards them; `db rebuild` makes them anew. Rows that another
version of the projections made are not compared: `db check` counts those.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from spectrace.core.events import EpisodeStarted, Unknown
from spectrace.errors import StoreError
from spectrace.store import projections, tables
from spectrace.store.sql import SqlEventStore

_TABLES = (tables.summaries, tables.segments, tables.actions, tables.search)
_NAMED = 3

Rows = Mapping[str, Sequence[Mapping[str, Any]]]


def differences(store: SqlEventStore, episode: str) -> str | None:
    """Say which rows of a run say something else than its events, and what; None where all agree.

    Of events that cannot be read nothing is said: `audit.integrity` names them.
    """
    row = store.log.episode(episode)
    there = _there(store, row.number)
    summary = there["summaries"]
    if len(summary) == 1 and summary[0]["projection"] != projections.VERSION:
        return None
    try:
        events = list(store.read(episode, prompts=False))
    except StoreError:
        return None
    started = events[0].body if events else None
    if not isinstance(started, EpisodeStarted) and not (isinstance(started, Unknown) and started.erased):
        return None
    said = projections.expected(events, ended=row.ended_at is not None)
    if isinstance(started, Unknown):  # no event says any more whose copy it is
        said["summaries"] = [{**one, "parent": there["summaries"][0]["parent"]} for one in said["summaries"] if summary]
    found = [what for table in _TABLES for what in _differing(table.name, there[table.name], said[table.name])]
    if not found:
        return None
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return (
        f"what lists and ledgers show of it is not what its events say: {'; '.join(found[:_NAMED])}{more}. Somebody "
        "altered it; `spectrace db rebuild` makes it anew"
    )


def _there(store: SqlEventStore, number: int) -> Rows:
    with store.database.reading() as connection:
        return {
            table.name: [
                {name: value for name, value in row.items() if name != "number"}
                for row in connection.execute(
                    table.select().where(table.c.number == number).order_by(*table.primary_key.columns)
                ).mappings()
            ]
            for table in _TABLES
        }


def _differing(table: str, there: Sequence[Mapping[str, Any]], said: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the columns that differ, row by row; where rows are missing or spare, that."""
    key = [column.name for column in tables.metadata.tables[table].primary_key.columns if column.name != "number"]
    found, told = _keyed(there, key), _keyed(said, key)
    where = {name: f"{table} {' '.join(map(str, name))}".rstrip() for name in found | told}
    missing = [f"{where[name]} is missing" for name in told if name not in found]
    spare = [f"{where[name]} is one too many" for name in found if name not in told]
    differing = [
        f"{where[name]} has {column} {found[name][column]!r:.40}, by its events {value!r:.40}"
        for name, row in told.items()
        if name in found
        for column, value in row.items()
        if found[name][column] != value
    ]
    return missing + spare + differing


def _keyed(rows: Sequence[Mapping[str, Any]], key: Sequence[str]) -> dict[tuple[object, ...], Mapping[str, Any]]:
    return {tuple(row[name] for name in key): row for row in rows}
