"""`spectrace verify`: whether episodes are intact by their own account."""

from collections.abc import Sequence

import click

from spectrace.audit.answers import Filters
from spectrace.audit.integrity import CONSISTENT, INVALID, NOT_PROVED, VerifyResult, verify_episode
from spectrace.cli import console, document
from spectrace.cli.console import Column, status_span
from spectrace.cli.options import db_option, filter_options, json_option, reading
from spectrace.cli.select import chosen, episodes_argument

_COLUMNS = (
    Column("episode"),
    Column("result"),
    Column("events", right=True, rank=2),
    Column("first bad", right=True, rank=1),
    Column("covered to", right=True, rank=3),
    Column("detail", flex=30),
)
_UNKNOWN = 3


@click.command()
@episodes_argument
@filter_options()
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context, episodes: Sequence[str], db: str | None, *, filters: Filters, every: bool, as_json: bool
) -> None:
    """Say whether episodes are intact by their own account, from the stored bytes."""
    with reading(db) as reader:
        names = chosen(reader, episodes, every, filters)
        if every and filters == Filters():
            names += reader.administrative()  # what was done to the database is evidence too
        results = [verify_episode(reader.store, name) for name in names]
    if as_json:
        document.write("verify", [item(one) for one in results])
    else:
        show(results)
    found = {one.result for one in results}
    ctx.exit(1 if INVALID in found else 0 if found <= {CONSISTENT} else _UNKNOWN)


def show(results: Sequence[VerifyResult]) -> None:
    """Write the results as a table, and what they do not prove."""
    rows: list[list[console.Cell]] = [
        [
            (one.episode, "name"),
            status_span(one.result),
            one.events,
            one.first_bad_seq,
            one.covered_to,
            one.detail,
        ]
        for one in results
    ]
    console.table(_COLUMNS, rows, "No episode passes.")
    if any(one.result == CONSISTENT for one in results):
        console.line((NOT_PROVED, "dim"))


def item(one: VerifyResult) -> dict[str, object]:
    """Return the JSON item of a result."""
    return {
        "episode": one.episode,
        "result": one.result,
        "events": one.events,
        "first_bad_seq": one.first_bad_seq,
        "covered_to": one.covered_to,
        "detail": one.detail,
    }
