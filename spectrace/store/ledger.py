"""The deeds of chosen tools in a window of time, from projections: an audit reads what it tells, not the whole log.

A projection is believed only where it is current, its episode has ended, and it names exactly the writes that the
events of that tool and window name (an index over the events themselves). Every other episode is to be folded. What
was drafted and never ran has no such index: there a current projection is taken at its word.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from typing import Any

import sqlalchemy as sa

from spectrace.core.deeds import Deed
from spectrace.store import projections, tables
from spectrace.store.codec import header_text
from spectrace.store.columns import MOST, whole_number
from spectrace.store.database import Database

FOREVER = (-(1 << 62), 1 << 62)
"""A window that leaves nothing out."""

_IN_A_QUERY = 500
_POSITION = re.compile(r"s(\d+)\.(r?)(\d+)")
_CHANGED = "\ufffd"
"""What `projections.storable` may have put in place of something else: the exact text is in the events only."""
_DEED = [field.name for field in fields(Deed) if field.name not in {"episode", "taken_over"}]


@dataclass(frozen=True, slots=True)
class Account:
    """What is known of one episode's deeds in the window; None where its events have to be folded."""

    number: int
    episode: str
    started_at: int
    env: str | None
    run: str | None
    deeds: list[Deed] | None


def can_tell(tools: Sequence[str]) -> bool:
    """Whether projections name these tools as events do: a name that no header or database holds is changed there."""
    return all(
        header_text(tool) == tool and projections.storable(tool) == tool and _CHANGED not in tool for tool in tools
    )


def accounts(database: Database, tools: Sequence[str], window: tuple[int, int]) -> list[Account]:
    """Return the episodes that have, or may have, deeds of these tools whose time (asked, else drafted) is in it."""
    with database.reading() as connection:
        rows = [
            row for tool in tools for query in (sent, never_sent) for row in connection.execute(query(tool, window))
        ]
        written = {one for tool in tools for one in connection.scalars(writes(tool, window))}
        doubtful = {number for query in unfit(window) for number in connection.scalars(query)}
        told = {
            row.number << tables.SEQ_BITS | row.seq
            for row in rows
            if row.effect_declared == "write" and row.requested_at
        }
        doubtful |= {one >> tables.SEQ_BITS for one in written ^ told}
        doubtful |= {row.number for row in rows if not _exact(row)}
        numbers = sorted({row.number for row in rows} | doubtful)
        by_episode = {number: list(some) for number, some in groupby(sorted(rows, key=_order), lambda row: row.number)}
        return [
            _account(found, None if found.number in doubtful else by_episode.get(found.number, []))
            for found in _episodes(connection, numbers)
        ]


def sent(tool: str, window: tuple[int, int]) -> "sa.Select[Any]":
    """Return the query for actions of a tool that were asked in the window."""
    at = tables.actions.c.requested_at
    return sa.select(tables.actions).where(tables.actions.c.tool == tool, at >= window[0], at < window[1])


def never_sent(tool: str, window: tuple[int, int]) -> "sa.Select[Any]":
    """Return the query for actions of a tool that were drafted in the window and never asked."""
    at = tables.actions.c.drafted_at
    never = tables.actions.c.requested_at.is_(None)
    return sa.select(tables.actions).where(never, tables.actions.c.tool == tool, at >= window[0], at < window[1])


def writes(tool: str, window: tuple[int, int]) -> "sa.Select[Any]":
    """Return the query for the keys of the writes that events name. Literals: a generic plan must see the index."""
    id_ = sa.select(tables.tools.c.id).where(tables.tools.c.name == tool).scalar_subquery()
    at = tables.events.c.at
    literal = sa.text(f"events.type = {tables.ACT_REQUESTED} AND events.effect = 'write'")
    return sa.select(tables.events.c.key).where(literal, tables.events.c.tool == id_, at >= window[0], at < window[1])


def unfit(window: tuple[int, int]) -> "list[sa.Select[Any]]":
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


def _exact(row: "sa.Row[Any]") -> bool:
    """Whether a row says what its events say, to the letter, and where it stands among the others."""
    texts = (row.arguments, row.tool, row.effect_by, row.authority, row.reviewer_model, row.started_by)
    times = (row.drafted_at, row.requested_at, row.completed_at)
    return (
        _POSITION.fullmatch(row.position) is not None
        and not any(_CHANGED in text for text in texts if text)
        and all(at is None or at == whole_number(at) for at in times)
    )


def _episodes(connection: sa.Connection, numbers: Sequence[int]) -> Iterable[Any]:
    episodes, summaries = tables.episodes.c, tables.summaries.c
    query = sa.select(
        *(episodes.number, episodes.episode, episodes.started_at, episodes.ended_at),
        *(summaries.projection, summaries.problem, summaries.env, summaries.run),
    ).select_from(tables.episodes.outerjoin(tables.summaries))
    for first in range(0, len(numbers), _IN_A_QUERY):
        some = numbers[first : first + _IN_A_QUERY]
        yield from connection.execute(query.where(tables.episodes.c.number.in_(some)))


def _account(found: Any, rows: "Sequence[sa.Row[Any]] | None") -> Account:
    current = found.projection == projections.VERSION and found.problem is None and found.ended_at is not None
    deeds = [_deed(found.episode, row) for row in rows] if rows is not None and current else None
    return Account(found.number, found.episode, whole_number(found.started_at), found.env, found.run, deeds)


def _order(row: "sa.Row[Any]") -> tuple[int, int, bool, int]:
    """Order deeds as they were drafted, by episode: a repair's follow those of its segment."""
    place = _POSITION.fullmatch(row.position)
    return (row.number, int(place[1]), bool(place[2]), int(place[3])) if place else (row.number, 0, False, 0)


def _deed(episode: str, row: "sa.Row[Any]") -> Deed:
    return Deed(episode=episode, **{name: getattr(row, name) for name in _DEED})
