"""The deeds of a window of time, of chosen tools or of all, from projections: an audit reads what it tells, no more.

A projection is believed only where it is current, its episode has ended, and it names exactly what the headers of the
events say was sent in that window: of chosen tools the writes, by an index over the events; of all tools whatever was
no read, by the events of each episode. Every other episode is to be folded, and so is one that has events of which a
fold makes nothing (see `untold`). Of what was drafted and never ran nothing is in a header's index: there a current
projection is taken at its word, and `verify` compares the two. Which episodes there are is held in memory, about 150
bytes each (and 8 a write of chosen tools); all else is read for some hundred episodes at a time, each lot as the
database is by then.
"""

import re
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from typing import Any

import sqlalchemy as sa

from spectrace.core.deeds import SIMULATED, Deed
from spectrace.core.types import Effect
from spectrace.store import projections, tables
from spectrace.store.codec import header_text
from spectrace.store.columns import MOST, whole_number
from spectrace.store.database import Database
from spectrace.store.untold import at_work, half_told

FOREVER = (-(1 << 62), 1 << 62)
"""A window that leaves nothing out."""
Window = tuple[int, int]

_IN_A_QUERY = 500
_SEQ = (1 << tables.SEQ_BITS) - 1
_POSITION = re.compile(r"s(\d+)\.(r?)(\d+)")
_CHANGED = "\ufffd"
"""What `projections.storable` may have put in place of something else: the exact text is in the events only."""
_WHOLE = {one.name for one in tables.actions.columns if isinstance(one.type, sa.Integer | sa.Boolean)}
"""Columns of numbers; all others hold text. SQLite keeps anything in either."""
_DEED = [field.name for field in fields(Deed) if field.name not in {"episode", "taken_over", "simulated"}]
_SIMULATED = projections.labels_text([SIMULATED])[1:-1]


@dataclass(frozen=True, slots=True)
class Account:
    """What is known of one episode's deeds in the window; None where its events have to be folded."""

    number: int
    episode: str
    started_at: int
    env: str | None
    run: str | None
    deeds: list[Deed] | None


@dataclass(frozen=True, slots=True)
class Accounts:
    """The episodes that have, or may have, deeds of these tools (of all, where none is named) in the window.

    A deed's time is when it was asked, or else drafted.
    """

    database: Database
    tools: Sequence[str]
    window: Window
    numbers: Sequence[int]
    """In the order of the listing: by start; of those that began together the one with the higher number first."""
    doubtful: frozenset[int]
    written: "array[int]"
    """The keys of the writes that events name, in order; of no use where no tool is named."""

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.numbers)

    def __iter__(self) -> Iterator[Account]:
        """Read them, some hundred at a time."""
        for first in range(0, len(self.numbers), _IN_A_QUERY):
            yield from self._read(self.numbers[first : first + _IN_A_QUERY])

    def _read(self, numbers: Sequence[int]) -> Iterator[Account]:
        with self.database.reading() as connection:
            some = connection.execute(_told(numbers, self.tools, self.window))
            rows = sorted((row for row in some if type(row.number) is int), key=_order)
            episodes = {found.number: found for found in connection.execute(_episodes(numbers))}
            named = self._named(connection, numbers)
        told = {number: list(some) for number, some in groupby(rows, lambda row: row.number)}
        for number in numbers:
            if number in episodes:
                of_it = told.get(number, [])
                believed = number not in self.doubtful and self._agree(of_it, named.get(number, set()))
                yield _account(episodes[number], of_it if believed else None)

    def _named(self, connection: sa.Connection, numbers: Sequence[int]) -> dict[int, set[int]]:
        """Return the events of each episode whose headers say that something was sent, as far as it is looked at."""
        found: dict[int, set[int]] = {}
        if self.tools:
            bounds = ((number, bisect_left(self.written, number << tables.SEQ_BITS)) for number in numbers)
            for number, low in bounds:
                high = bisect_left(self.written, (number + 1) << tables.SEQ_BITS, low)
                found[number] = {key & _SEQ for key in self.written[low:high]}
            return found
        for first, last in _ranges(numbers):
            for key in connection.scalars(acts(first, last, self.window)):
                found.setdefault(key >> tables.SEQ_BITS, set()).add(key & _SEQ)
        return found

    def _agree(self, told: "Sequence[sa.Row[Any]]", named: set[int]) -> bool:
        if not all(map(_is_sound, told)):
            return False
        sent = [row for row in told if row.requested_at is not None and row.effect_declared != Effect.READ]
        looked_at = {row.seq for row in sent if not self.tools or row.effect_declared == Effect.WRITE}
        return looked_at == named and all(_exact(row) for row in told)


def can_tell(tools: Sequence[str]) -> bool:
    """Whether projections name these tools as events do: a name that no header or database holds is changed there."""
    return all(
        header_text(tool) == tool and projections.storable(tool) == tool and _CHANGED not in tool for tool in tools
    )


def accounts(database: Database, tools: Sequence[str], window: Window, *, newest_first: bool = False) -> Accounts:
    """Find the episodes that have, or may have, deeds in the window."""
    with database.reading() as connection:
        found: set[int] = set()
        for tool in tools or (None,):
            for query in (sent, never_sent):
                found.update(connection.scalars(query(tool, window)))
        written = array("q", sorted(key for tool in tools for key in connection.scalars(writes(tool, window))))
        doubtful = {number for query in unfit(window) for number in connection.scalars(query)}
        doubtful.update(half_told(connection, window))
        if not tools:
            doubtful.update(connection.scalars(without_summary()))
            found.update(connection.scalars(at_work(window)))
        found |= doubtful
        found.update(key >> tables.SEQ_BITS for key in written)
        starts = _starts(connection, sorted(number for number in found if type(number) is int))
    way = -1 if newest_first else 1
    starts.sort(key=lambda one: (way * one[0], -one[1]))
    return Accounts(database, tools, window, array("q", (number for _, number in starts)), frozenset(doubtful), written)


def sent(tool: str | None, window: Window) -> "sa.Select[Any]":
    """Return the query for the episodes of the actions (of a tool) that were asked in the window."""
    return _numbers(tool).where(*_asked(window))


def never_sent(tool: str | None, window: Window) -> "sa.Select[Any]":
    """Return the query for the episodes of the actions (of a tool) that were drafted in the window and never asked."""
    return _numbers(tool).where(*_only_drafted(window))


def _numbers(tool: str | None) -> "sa.Select[Any]":
    query = sa.select(tables.actions.c.number)
    return query if tool is None else query.where(tables.actions.c.tool == tool)


def _asked(window: Window) -> "tuple[sa.ColumnElement[bool], ...]":
    at = tables.actions.c.requested_at
    return at >= window[0], at < window[1]


def _only_drafted(window: Window) -> "tuple[sa.ColumnElement[bool], ...]":
    at = tables.actions.c.drafted_at
    return tables.actions.c.requested_at.is_(None), at >= window[0], at < window[1]


def _told(numbers: Sequence[int], tools: Sequence[str], window: Window) -> "sa.Select[Any]":
    column = tables.actions.c
    query = sa.select(tables.actions).where(
        column.number.in_(numbers), sa.or_(sa.and_(*_asked(window)), sa.and_(*_only_drafted(window)))
    )
    return query.where(column.tool.in_(tools)) if tools else query


def writes(tool: str, window: Window) -> "sa.Select[Any]":
    """Return the query for the keys of the writes that events name. Literals: a generic plan must see the index."""
    id_ = sa.select(tables.tools.c.id).where(tables.tools.c.name == tool).scalar_subquery()
    at = tables.events.c.at
    literal = sa.text(f"events.type = {tables.ACT_REQUESTED} AND events.effect = 'write'")
    return sa.select(tables.events.c.key).where(literal, tables.events.c.tool == id_, at >= window[0], at < window[1])


def acts(first: int, last: int, window: Window) -> "sa.Select[Any]":
    """Return the query for the keys of what was asked and is no read, of the episodes from `first` to `last`."""
    key, at, effect = tables.events.c.key, tables.events.c.at, tables.events.c.effect
    return sa.select(key).where(
        *(key >= first << tables.SEQ_BITS, key < (last + 1) << tables.SEQ_BITS),
        *(tables.events.c.type == tables.ACT_REQUESTED, sa.or_(effect != "read", effect.is_(None))),
        *(at >= window[0], at < window[1]),
    )


def unfit(window: Window) -> "list[sa.Select[Any]]":
    """Return the queries for episodes whose projections say nothing: without an end, of another version, unfoldable."""
    episodes, summaries = tables.episodes.c, tables.summaries.c
    return [
        sa.select(episodes.number).where(
            episodes.ended_at.is_(None),
            sa.or_(episodes.started_at < window[1], episodes.started_at >= MOST),  # the latter is no time
            episodes.number > 0,
        ),
        sa.select(summaries.number).where(summaries.projection < projections.VERSION),
        sa.select(summaries.number).where(summaries.projection > projections.VERSION),
        sa.select(summaries.number).where(summaries.problem.is_not(None)),
    ]


def without_summary() -> "sa.Select[Any]":
    """Return the query for episodes of which no projection is there: their replies are in no index of the events."""
    episodes, summaries = tables.episodes.c, tables.summaries.c
    there = sa.select(summaries.number).where(summaries.number == episodes.number).exists()
    return sa.select(episodes.number).where(episodes.number > 0, ~there)


def _ranges(numbers: Collection[int]) -> Iterator[tuple[int, int]]:
    """Yield first and last of the numbers that follow one another without a gap."""
    ordered = sorted(numbers)
    starts = [at for at, number in enumerate(ordered) if at == 0 or number != ordered[at - 1] + 1]
    for start, end in zip(starts, [*starts[1:], len(ordered)], strict=True):
        yield ordered[start], ordered[end - 1]


def _is_sound(row: "sa.Row[Any]") -> bool:
    """Whether every value is of its column's kind: a row that no spectrace wrote is not believed."""
    return all(
        value is None or type(value) is str if name not in _WHOLE else isinstance(value, int | None)
        for name, value in row._mapping.items()  # noqa: SLF001 - a row's public mapping
    )


def _exact(row: "sa.Row[Any]") -> bool:
    """Whether a row says what its events say, to the letter, and where it stands among the others."""
    texts = (row.arguments, row.tool, row.effect_by, row.authority, row.reviewer_model, row.started_by)
    times = (row.drafted_at, row.requested_at, row.completed_at)
    return (
        _POSITION.fullmatch(row.position) is not None
        and not any(_CHANGED in text for text in texts if text)
        and all(at is None or at == whole_number(at) for at in times)
    )


def _starts(connection: sa.Connection, numbers: Sequence[int]) -> list[tuple[int, int]]:
    column = tables.episodes.c
    found: list[tuple[int, int]] = []
    for first in range(0, len(numbers), _IN_A_QUERY):
        some = numbers[first : first + _IN_A_QUERY]
        query = sa.select(column.started_at, column.number).where(column.number.in_(some))
        found += [(whole_number(at), number) for at, number in connection.execute(query)]
    return found


def _episodes(numbers: Sequence[int]) -> "sa.Select[Any]":
    episodes, summaries = tables.episodes.c, tables.summaries.c
    return (
        sa.select(
            *(episodes.number, episodes.episode, episodes.started_at, episodes.ended_at),
            *(summaries.projection, summaries.problem, summaries.env, summaries.run, summaries.labels),
        )
        .select_from(tables.episodes.outerjoin(tables.summaries))
        .where(episodes.number.in_(numbers))
    )


def _account(found: Any, rows: "Sequence[sa.Row[Any]] | None") -> Account:
    current = found.projection == projections.VERSION and found.problem is None and found.ended_at is not None
    simulated = _SIMULATED in str(found.labels)
    deeds = [_deed(str(found.episode), row, simulated) for row in rows] if rows is not None and current else None
    return Account(found.number, str(found.episode), whole_number(found.started_at), found.env, found.run, deeds)


def _order(row: "sa.Row[Any]") -> tuple[int, int, bool, int]:
    """Order deeds as they were drafted, by episode: a repair's follow those of its segment."""
    place = _POSITION.fullmatch(str(row.position))
    return (row.number, int(place[1]), bool(place[2]), int(place[3])) if place else (row.number, 0, False, 0)


def _deed(episode: str, row: "sa.Row[Any]", simulated: bool) -> Deed:  # noqa: FBT001 - as the label says
    values = {name: getattr(row, name) for name in _DEED}
    return Deed(episode=episode, simulated=simulated, **values)
