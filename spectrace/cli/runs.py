"""`spectrace runs`: the named runs of a log, and how the shards stand of those that are worked on from a queue."""

from collections.abc import Mapping
from dataclasses import asdict

import click

from spectrace.audit.answers import RunSummary
from spectrace.audit.lines import counted
from spectrace.audit.queries import Reader, open_reader
from spectrace.cli import console, document
from spectrace.cli.console import Column, iso, iso_seconds, status_span
from spectrace.cli.loop import run_loop
from spectrace.cli.ls import cost
from spectrace.cli.options import db_option, json_option, reading
from spectrace.config import database_url
from spectrace.core.rereviews import REVERIFY
from spectrace.errors import UsageError
from spectrace.store import queue_schema, runs
from spectrace.store.jobs import Standing, queue_key
from spectrace.store.queue import open_queue
from spectrace.store.sql import SqlEventStore, open_store

_COLUMNS = (
    Column("run"),
    Column("kind"),
    Column("started", rank=3),
    Column("selection", flex=24),
    Column("total", right=True),
    Column("done", right=True),
    Column("failed", right=True),
    Column("left", right=True),
    Column("episodes", right=True, rank=4),
    Column("reviews", right=True, rank=2),
    Column("rejected", right=True, rank=2),
    Column("unusable", right=True, rank=4),
    Column("state"),
    Column("shards queued", right=True, rank=1),
    Column("shards begun", right=True, rank=1),
    Column("shards failed", right=True, rank=1),
    Column("cost USD", right=True, rank=2),
    Column("stated USD", right=True, rank=5),
)


@click.command()
@click.argument("run", required=False)
@click.option("--cancel", is_flag=True, help="Cancel the re-verification RUN: nothing more of it is begun.")
@db_option
@json_option
def command(run: str | None, db: str | None, *, cancel: bool, as_json: bool) -> None:
    """List named runs, re-verifications among them, or one of them."""
    if cancel:
        _cancel(run, database_url(db))
    with reading(db) as reader:
        found, shards = reader.runs(run), _shards(reader)
    if as_json:
        document.write("runs", [_item(one, shards.get(queue_key(one.run))) for one in found])
        return
    rows = [_row(one, shards.get(queue_key(one.run))) for one in found]
    console.table(_COLUMNS, rows, "No run has a name: `run --name` gives one.")
    if run is not None and any(one.episodes for one in found):
        console.say(f"Its episodes: spectrace ls --run {run}", style="dim")


def _cancel(run: str | None, url: str) -> None:
    """Mark a re-verification cancelled, and take its shards out of the queue."""
    if run is None:
        raise UsageError("--cancel takes the run to cancel: spectrace runs RUN --cancel.")
    with open_reader(url) as reader:  # refuses what is missing, where opening to write would make it
        found = [one for one in reader.runs(run) if one.kind == REVERIFY]
    if not found:
        raise UsageError(f"run {run!r} records episodes: stop it with Ctrl-C where it runs; its name goes on.")
    if found[0].state == "ended":
        raise UsageError(f"run {run!r} is done: nothing of it is left to cancel.")
    store = open_store(url)
    try:
        runs.cancel(store, run)
        with store.database.reading() as connection:
            waiting = queue_schema.standings(connection).get(queue_key(run), Standing()).queued
    finally:
        store.close()
    taken_out = run_loop(_take_out(url, run)) if waiting else 0
    console.say(f"Run {run} is cancelled; {counted(taken_out, 'shard')} taken out of the queue.")


async def _take_out(url: str, run: str) -> int:
    async with open_queue(url) as jobs:
        return await jobs.cancel(run)


def _shards(reader: Reader) -> Mapping[str, Standing]:
    """Return how each queue of the log stands, by its key."""
    if not isinstance(reader.store, SqlEventStore):
        return {}
    with reader.store.database.reading() as connection:
        return queue_schema.standings(connection)


def _item(one: RunSummary, shards: Standing | None) -> dict[str, object]:
    return {
        "run": one.run,
        "kind": one.kind,
        "started": iso(one.started_at),
        "selection": one.selection,
        "selection_digest": one.selection_digest,
        "total": one.total,
        "done": one.done,
        "failed": one.failed,
        "left": one.left,
        "episodes": one.episodes,
        "reviews": one.reviews,
        "rejections": one.rejections,
        "unusable": one.unusable,
        "cost_usd": one.cost_usd,
        "cost_usd_at_least": one.cost_usd_at_least,
        "stated_usd": one.stated_usd,
        "state": one.state,
        "shards": None if shards is None else asdict(shards),
    }


def _row(one: RunSummary, shards: Standing | None) -> list[console.Cell]:
    return [
        (one.run, "name"),
        one.kind,
        iso_seconds(one.started_at),
        one.selection,
        one.total,
        one.done,
        (str(one.failed), "bad") if one.failed else one.failed,
        (str(one.left), "warning") if one.left else one.left,
        one.episodes,
        one.reviews,
        one.rejections,
        one.unusable,
        status_span(one.state),
        None if shards is None else shards.queued,
        None if shards is None else shards.doing,
        None if shards is None else (str(shards.failed), "bad") if shards.failed else shards.failed,
        cost(one.cost_usd, one.cost_usd_at_least),
        one.stated_usd,
    ]
