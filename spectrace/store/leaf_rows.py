"""What checkpoints say of episodes, in SQL: how each stands now, and the leaves that were kept of it, in their order.

A leaf is what `audit.leaves` makes of a `Standing`. All of it is asked in a few statements, whatever the number of
episodes: writes are counted from headers by the index of writes, an end is looked up by its key. Columns are not
trusted: SQLite holds what it is given.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

import sqlalchemy as sa

from spectrace.core.events import TYPE_NUMBERS, EpisodeEnded
from spectrace.store import tables
from spectrace.store.statements import SEQ_MASK

ADMINISTRATIVE, OPEN = "administrative", "open"

T = TypeVar("T")
_BITS = tables.SEQ_BITS
_ENDED = TYPE_NUMBERS[EpisodeEnded]
_ASK = tables.ACT_REQUESTED
_FEW = 500
"""Of so many episodes or fewer the writes are counted in their own ranges, of more in the index of all writes."""
_RANGES = 100
_PAGE = 2000
_SAID = f"""
SELECT number, episode, project,
  CASE WHEN number > 0 THEN started_at ELSE (SELECT at FROM events WHERE key = number * {1 << _BITS}) END,
  ended_at, events, head,
  CASE WHEN ended_at IS NULL THEN NULL ELSE (
    SELECT outcome FROM events WHERE key >= number << {_BITS} AND key < (number << {_BITS}) + events AND type = {_ENDED}
    ORDER BY key DESC LIMIT 1) END
FROM episodes"""  # noqa: S608 - our own numbers


class Standing(NamedTuple):
    """How an episode stands by its row and its headers; the types are those of an honest database."""

    number: int
    episode: str
    project: str
    started_at: int
    ended_at: int | None
    events: int
    head: bytes
    status: str
    """The outcome of its end; `open` without one, `administrative` for an administrative log."""


class Kept(NamedTuple):
    """A row of `leaves`."""

    place: int
    episode: str
    data: bytes


def standings(connection: sa.Connection) -> list[Standing]:
    """Return how each episode stands, administrative logs first, the oldest of them first."""
    found = []
    for clause, order in (("number <= 0", "number DESC"), ("number > 0", "number")):
        for number, *said, outcome in connection.exec_driver_sql(f"{_SAID} WHERE {clause} ORDER BY {order}"):
            status = ADMINISTRATIVE if number <= 0 else OPEN if said[3] is None else str(outcome)
            found.append(Standing._make((number, *said, status)))
    return found


def kept(connection: sa.Connection) -> list[Kept]:
    """Return the leaves that are there, by their places."""
    return [Kept(*row) for row in connection.exec_driver_sql("SELECT place, episode, data FROM leaves ORDER BY place")]


def writes(connection: sa.Connection, of: Collection[tuple[int, int]]) -> Mapping[int, int]:
    """Return how many of the first events of episodes, given as (number, events), asked for a write; 0 is left out."""
    is_write = f"asked.type = {_ASK} AND asked.effect = 'write'"
    if len(of) > _FEW:
        limits = dict(of)
        by_index = " INDEXED BY ix_events_writes" if _has_index(connection) else ""
        counted: dict[int, int] = {}
        for key in connection.exec_driver_sql(
            f"SELECT asked.key FROM events AS asked{by_index} WHERE {is_write}"  # noqa: S608 - our own words
        ).scalars():
            number = key >> _BITS
            if key & SEQ_MASK < limits.get(number, 0):
                counted[number] = counted.get(number, 0) + 1
        return counted
    counted = {}
    for some in _some(of, _RANGES):
        query = (
            f"SELECT asked.key >> {_BITS}, count(*) FROM events AS asked "  # noqa: S608 - our own numbers
            f"WHERE {is_write} AND ({_ranges(some, 'asked.key')}) GROUP BY 1"
        )
        counted.update({number: count for number, count in connection.exec_driver_sql(query)})  # noqa: C416 - rows
    return counted


def _has_index(connection: sa.Connection) -> bool:
    """Whether the index of writes can be named: only SQLite has to be told of it, which fails where it was dropped."""
    if connection.dialect.name != "sqlite":
        return False
    named = "SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = 'ix_events_writes' AND tbl_name = 'events'"
    return connection.exec_driver_sql(named).first() is not None


def endings(connection: sa.Connection, of: Collection[tuple[int, int]]) -> Mapping[int, tuple[int, str]]:
    """Return when and how episodes ended within their first events, given as (number, events); open ones left out."""
    found: dict[int, tuple[int, str]] = {}
    for some in _some(of, _RANGES):
        ranges = _ranges(some, "key")
        query = f"SELECT key >> {_BITS}, at, outcome FROM events WHERE type = {_ENDED} AND ({ranges})"  # noqa: S608 - numbers
        found.update({number: (at, str(outcome)) for number, at, outcome in connection.exec_driver_sql(query)})
    return found


def links(connection: sa.Connection, keys: Collection[int]) -> Mapping[int, bytes]:
    """Return the links of events by their keys; those that are missing are left out."""
    column = tables.events.c
    found: dict[int, bytes] = {}
    for some in _some(keys, _FEW):
        query = sa.select(column.key, column.link).where(column.key.in_(some))
        found.update({key: link for key, link in connection.execute(query)})  # noqa: C416 - rows are no pairs to mypy
    return found


def append(connection: sa.Connection, first: int, leaves: Sequence[tuple[str, bytes]]) -> None:
    """Add leaves, given as (episode, data), from place `first` on; inside the transaction that signs their root."""
    for some in _some(list(enumerate(leaves, first)), _PAGE):
        values = [{"place": place, "episode": episode, "data": data} for place, (episode, data) in some]
        connection.execute(tables.leaves.insert(), values)


def _ranges(of: Sequence[tuple[int, int]], column: str) -> str:
    return " OR ".join(
        f"({column} >= {int(number) << _BITS} AND {column} < {(int(number) << _BITS) + int(events)})"
        for number, events in of
    )


def _some(of: Collection[T], size: int) -> Iterator[list[T]]:
    """Yield so many at a time."""
    rest = iter(of)
    while page := list(islice(rest, size)):
        yield page
