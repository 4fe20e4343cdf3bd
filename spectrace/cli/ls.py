"""`spectrace ls`: the episodes of a log."""

from collections.abc import Sequence
from dataclasses import replace

import click

from spectrace.audit.answers import EpisodeSummary, Filters
from spectrace.audit.batches import kind_of
from spectrace.audit.reading import Unread
from spectrace.audit.visible import shortened
from spectrace.cli import console, document
from spectrace.cli.console import Column, iso, iso_seconds, status_span
from spectrace.cli.options import db_option, filter_options, json_option, reading, whole
from spectrace.cli.select import require_runs

_SHOWN = 50
_LONG = 60
"""Characters of a task's name in the table; --json has it whole."""

_COLUMNS = (
    Column("episode"),
    Column("started", rank=6),
    Column("status"),
    Column("end reason", rank=3, flex=12),
    Column("env", rank=2, flex=12),
    Column("task", flex=20),
    Column("protocol", rank=1, flex=19),
    Column("weak", rank=9, flex=20),
    Column("strong", rank=8, flex=20),
    Column("events", right=True, rank=7),
    Column("steps", right=True, rank=5),
    Column("writes", right=True, rank=4),
    Column("rejected", right=True, rank=4),
    Column("unusable", right=True, rank=10),
    Column("reward", right=True),
    Column("cost USD", right=True, rank=4),
    Column("stated USD", right=True, rank=5),
)


@click.command()
@filter_options()
@click.option("--sort", default="-started_at", metavar="FIELD", help="Order by a field; -FIELD turns it round.")
@click.option("--limit", type=whole(0), help=f"At most so many; 0 is all. [default: {_SHOWN}; --json: all]")
@click.option("--after", metavar="EP", help="Go on after this episode of the same listing.")
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    sort: str,
    limit: int | None,
    after: str | None,
    db: str | None,
    *,
    filters: Filters,
    as_json: bool,
) -> None:
    """List episodes, newest first."""
    lost: list[Unread] = []
    most = (None if as_json else _SHOWN) if limit is None else limit or None
    asked = replace(filters, sort=sort, after=after, limit=None if most is None else most + 1)
    with reading(db) as reader:
        require_runs(reader, filters)
        found = reader.episodes(asked, lost=lost)
    shown = found if most is None else found[:most]
    if as_json:
        document.write("ls", [item(one) for one in shown])
    else:
        console.table(_columns(shown), [_row(one) for one in shown], "No episode passes.")
    if len(found) > len(shown):
        console.say(f"{len(shown)} shown, and there are more: --after {shown[-1].episode}, or --limit 0 for all.")
    ctx.exit(console.lost(lost))


def _columns(shown: Sequence[EpisodeSummary]) -> list[Column]:
    """Return the columns; the protocol stays where it is what tells a second verdict from an episode of its own."""
    again = any(kind_of(one) == "reverify" for one in shown)
    return [replace(column, rank=0) if again and column.title == "protocol" else column for column in _COLUMNS]


def item(one: EpisodeSummary) -> dict[str, object]:
    """Return the JSON item of an episode."""
    return {
        "episode": one.episode,
        "started": iso(one.started_at),
        "ended": iso(one.ended_at),
        "status": one.status,
        "end_reason": one.end_reason,
        "env": one.env,
        "task": one.task,
        "trial": one.trial,
        "protocol": one.protocol,
        "weak": one.weak,
        "strong": one.strong,
        "project": one.project,
        "labels": dict(one.labels),
        "run": one.run,
        "events": one.events,
        "steps": one.steps,
        "segments": one.segments,
        "reviews": one.reviews,
        "writes": one.writes,
        "rejections": one.rejections,
        "unusable": one.unusable,
        "repairs": one.repairs,
        "weak_calls": one.weak_calls,
        "strong_calls": one.strong_calls,
        "reward": one.reward,
        "cost_usd": one.cost_usd,
        "cost_usd_at_least": one.cost_usd_at_least,
        "stated_usd": one.stated_usd,
        "parent": one.parent,
        "origin": one.origin,
    }


def _row(one: EpisodeSummary) -> list[console.Cell]:
    return [
        (one.episode, "name"),
        iso_seconds(one.started_at),
        status_span(one.status),
        one.end_reason,
        one.env,
        shortened(one.task, _LONG),
        one.protocol,
        one.weak,
        one.strong,
        one.events,
        one.steps,
        one.writes,
        (str(one.rejections), "bad") if one.rejections else one.rejections,
        (str(one.unusable), "bad") if one.unusable else one.unusable,
        one.reward,
        cost(one.cost_usd, one.cost_usd_at_least),
        one.stated_usd,
    ]


def cost(known: str | None, at_least: str | None) -> str | None:
    """Return a cost as a table shows it."""
    return f"≥ {at_least}" if at_least is not None else known
