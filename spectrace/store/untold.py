"""Episodes whose projections tell less than the events that are there: of unknown types, and erased ones that matter.

A fold passes over both, so their projections are current and without a problem. An account made from them is not whole
and has to say so; these episodes are folded for it. (A newer version of a known type is a problem in the summary.)
Most databases hold neither: the `types` and `erasures` tables say so, and no event is read. Else the headers of the
episodes that were at work in the window are.
"""

from collections.abc import Collection, Iterator
from typing import Any

import sqlalchemy as sa

from spectrace.core.deeds import UNTOLD
from spectrace.core.events import TYPE_NUMBERS
from spectrace.core.versions import CLASSES
from spectrace.store import tables

_UNTOLD = sorted(number for cls, number in TYPE_NUMBERS.items() if cls.TYPE in UNTOLD)


def at_work(window: tuple[int, int]) -> "sa.Select[Any]":
    """Return the query for the episodes that began before the window ended, and ended after it began."""
    column = tables.episodes.c
    return sa.select(column.number).where(
        column.number > 0, column.started_at < window[1], column.ended_at >= window[0]
    )


def half_told(connection: sa.Connection, window: tuple[int, int]) -> Iterator[int]:
    """Yield the numbers of episodes with an end, at work in the window, of which a fold leaves something out."""
    if foreign := foreign_types(connection):
        yield from connection.scalars(of_types(foreign, window))
    if connection.scalar(sa.select(tables.erasures.c.key).limit(1)) is not None:
        yield from connection.scalars(erased(window))


def foreign_types(connection: sa.Connection) -> list[int]:
    """Return the numbers of the types that the database has a name for, and this spectrace no class.

    Names decide, not numbers: a newer spectrace's migration may have given out one below `foreign_names.FIRST`.
    """
    return [number for number, name in connection.execute(sa.select(tables.types)) if name not in CLASSES]


def of_types(types: Collection[int], window: tuple[int, int]) -> "sa.Select[Any]":
    """Return the query for those of these episodes that have an event of these types."""
    key = tables.events.c.key
    first = tables.episodes.c.number * (1 << tables.SEQ_BITS)
    there = sa.select(key).where(key >= first, key < first + (1 << tables.SEQ_BITS), tables.events.c.type.in_(types))
    return at_work(window).where(there.correlate(tables.episodes).exists())


def erased(window: tuple[int, int]) -> "sa.Select[Any]":
    """Return the query for those of these episodes of which an event is erased whose header tells no deed."""
    key, first = tables.erasures.c.key, tables.episodes.c.number * (1 << tables.SEQ_BITS)
    event = sa.select(tables.events.c.key).where(tables.events.c.key == key, tables.events.c.type.in_(_UNTOLD))
    there = sa.select(key).where(
        key >= first, key < first + (1 << tables.SEQ_BITS), event.correlate(tables.erasures).exists()
    )
    return at_work(window).where(there.correlate(tables.episodes).exists())
