"""Episodes at a glance, out of the summaries: what `ls` filters by is asked of the database, a page at a time.

An ended episode costs one row. One that runs or was interrupted has no counts yet: its events are counted when it is
shown. `listing` reads first and last events instead, for whoever trusts no projection.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from spectrace.core.events import Totals
from spectrace.core.fold import tally
from spectrace.errors import UsageError
from spectrace.store import tables
from spectrace.store.event_store import EpisodeRow
from spectrace.store.projections import labels_text, storable
from spectrace.store.sql import SqlEventStore
from spectrace.store.statements import SEQ_MASK

_PAGE = 200
_E, _S = tables.episodes.c, tables.summaries.c
_COUNTS = ("steps", "segments", "reviews", "writes", "rejections", "unusable", "repairs", "weak_calls", "strong_calls")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which episodes; every condition must hold, an empty one asks nothing."""

    status: tuple[str, ...] = ()
    """completed, truncated, failed, interrupted, running."""
    env: tuple[str, ...] = ()
    protocol: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    """A part of the name of the weak or the strong model."""
    task: tuple[str, ...] = ()
    project: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    run: tuple[str, ...] = ()
    rejected: bool = False
    tool: tuple[str, ...] = ()
    """A tool that any event names."""
    since: int | None = None
    until: int | None = None
    limit: int | None = None
    after: str | None = None
    """Go on after this episode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """One episode's row with its summary."""

    row: EpisodeRow
    status: str
    """As the episode ended, else running or interrupted."""
    project: str
    env: str
    task: str
    trial: int
    protocol: str
    weak: str | None
    strong: str | None
    labels: str
    """JSON text: a list of [name, value]."""
    run: str | None
    parent: str | None
    origin: str | None
    end_reason: str | None
    reward: str | None
    cost_usd: str | None
    totals: Totals = field(default_factory=Totals)


def episodes(store: SqlEventStore, wanted: Wanted | None = None) -> Iterator[Overview]:
    """Yield the episodes that fit, newest first."""
    wanted = wanted or Wanted()
    query = sa.select(tables.episodes, tables.summaries).join_from(tables.episodes, tables.summaries)
    for condition in _conditions(wanted):
        query = query.where(condition)
    before, shown = _start(store, wanted), 0
    while page := _page(store, query, before):
        for found in page:
            one = _overview(store, found)
            if (wanted.status and one.status not in wanted.status) or (wanted.rejected and not one.totals.rejections):
                continue
            yield one
            shown += 1
            if shown == wanted.limit:
                return
        before = (page[-1].started_at, page[-1].number)


def _conditions(wanted: Wanted) -> Iterator[sa.ColumnElement[bool]]:
    among = {
        _S.env: wanted.env,
        _S.protocol: wanted.protocol,
        _S.task: wanted.task,
        _S.run: wanted.run,
        _E.project: wanted.project,
    }
    yield from (column.in_([storable(value) for value in values]) for column, values in among.items() if values)
    if wanted.model:
        yield sa.or_(*(_holds(column, part) for part in wanted.model for column in (_S.weak, _S.strong)))
    for pair in wanted.labels:
        yield _holds(_S.labels, labels_text([pair])[1:-1])
    if wanted.since is not None:
        yield _E.started_at >= wanted.since
    if wanted.until is not None:
        yield _E.started_at < wanted.until
    if wanted.rejected:
        yield sa.or_(_S.rejections > 0, _E.ended_at.is_(None))
    if wanted.status:
        yield sa.or_(_S.status.in_(wanted.status), _E.ended_at.is_(None))
    if wanted.tool:
        yield _names_a_tool(wanted.tool)


def _holds(column: "sa.Column[Any]", part: str) -> sa.ColumnElement[bool]:
    """Whether the text holds the part, upper and lower case apart: LIKE means something else on each database."""
    return sa.func.replace(column, storable(part), "") != column


def _names_a_tool(names: tuple[str, ...]) -> sa.ColumnElement[bool]:
    event, tool = tables.events.c, tables.tools.c
    first = _E.number * (SEQ_MASK + 1)
    of_this_episode = event.key.between(first, first + SEQ_MASK)
    asked = sa.select(tool.id).where(tool.name.in_(names))
    return sa.exists().where(of_this_episode, event.tool.in_(asked))


def _start(store: SqlEventStore, wanted: Wanted) -> tuple[int, int] | None:
    if wanted.limit is not None and wanted.limit < 1:
        raise UsageError(f"--limit is at least 1, not {wanted.limit}.")
    if wanted.after is None:
        return None
    row = store.log.episode(store.resolve(wanted.after))
    return row.started_at, row.number


def _page(store: SqlEventStore, query: "sa.Select[Any]", before: tuple[int, int] | None) -> "list[sa.Row[Any]]":
    if before is not None:
        query = query.where(sa.tuple_(_E.started_at, _E.number) < sa.tuple_(*map(sa.literal, before)))
    with store.database.reading() as connection:
        return list(connection.execute(query.order_by(_E.started_at.desc(), _E.number.desc()).limit(_PAGE)))


def _overview(store: SqlEventStore, found: "sa.Row[Any]") -> Overview:
    row = store.episode_row(found)
    ended = found.ended_at is not None
    return Overview(
        row=row,
        status=(found.status or "ended") if ended else row.state,
        project=found.project,
        env=found.env,
        task=found.task,
        trial=found.trial,
        protocol=found.protocol,
        weak=found.weak,
        strong=found.strong,
        labels=found.labels,
        run=found.run,
        parent=found.parent,
        origin=found.origin,
        end_reason=found.end_reason,
        reward=found.reward,
        cost_usd=found.cost_usd,
        totals=Totals(**{name: getattr(found, name) for name in _COUNTS}) if ended else _counted(store, row.episode),
    )


def _counted(store: SqlEventStore, episode: str) -> Totals:
    totals = Totals()
    for event in store.read(episode):
        totals = tally(totals, event.body)
    return totals
