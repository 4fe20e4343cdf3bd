"""`spectrace runs`: the named runs of a log."""

import click

from spectrace.audit.answers import RunSummary
from spectrace.cli import console, document
from spectrace.cli.console import Column, iso, iso_seconds, status_span
from spectrace.cli.ls import cost
from spectrace.cli.options import db_option, json_option, reading

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
    Column("cost USD", right=True, rank=2),
    Column("stated USD", right=True, rank=5),
)


@click.command()
@click.argument("run", required=False)
@db_option
@json_option
def command(run: str | None, db: str | None, *, as_json: bool) -> None:
    """List named runs, re-verifications among them, or one of them."""
    with reading(db) as reader:
        found = reader.runs(run)
    if as_json:
        document.write("runs", [_item(one) for one in found])
        return
    console.table(_COLUMNS, [_row(one) for one in found], "No run has a name: `run --name` gives one.")
    if run is not None and any(one.episodes for one in found):
        console.say(f"Its episodes: spectrace ls --run {run}", style="dim")


def _item(one: RunSummary) -> dict[str, object]:
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
    }


def _row(one: RunSummary) -> list[console.Cell]:
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
        cost(one.cost_usd, one.cost_usd_at_least),
        one.stated_usd,
    ]
