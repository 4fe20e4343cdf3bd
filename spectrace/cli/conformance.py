"""`spectrace conformance`: whether a database keeps what an event log must keep."""

import re
from collections.abc import Sequence

import click

from spectrace.audit.lines import counted
from spectrace.cli import console, document
from spectrace.cli.console import Column
from spectrace.cli.options import json_option
from spectrace.config import database_url
from spectrace.errors import UsageError
from spectrace.store.conformance import CHECKS, ELSEWHERE, FAILED, NOT_APPLICABLE, OK, PROJECT, Result, run_checks
from spectrace.store.database import parse_url, shown
from spectrace.store.listing import listed
from spectrace.store.sql import open_store

_COLUMNS = (Column("id"), Column("claim", flex=30), Column("result"), Column("detail", rank=1, flex=30))
_STYLES = {OK: "good", FAILED: "bad", NOT_APPLICABLE: "dim"}


@click.command()
@click.option(
    "--db", "given", required=True, metavar="URL", help="The empty database to try: a path or postgresql://..."
)
@click.option("--force", is_flag=True, help="Write into a database that holds episodes too; what is written stays.")
@json_option
@click.pass_context
def command(ctx: click.Context, given: str, *, force: bool, as_json: bool) -> None:
    """Say whether a database keeps hard values, several writers and its history, by writing episodes into it."""
    url = database_url(given)
    _check_empty(url, force=force)
    found: list[Result] = []
    with console.progress() as progress:
        for number, result in enumerate(run_checks(lambda: open_store(url)), start=1):
            found.append(result)
            progress.show("checks", (f"{number} of {len(CHECKS)}  ", "dim"), result.claim)
    results = sorted([*found, *ELSEWHERE], key=_order)
    if as_json:
        document.write("conformance", [_item(one) for one in results])
    else:
        _show(url, results)
    ctx.exit(1 if any(one.result == FAILED for one in results) else 0)


def _check_empty(url: str, *, force: bool) -> None:
    """Refuse a log that is in use: episodes of checks would stand among its own for ever."""
    store = open_store(url)
    try:
        first = next(listed(store), None)
    finally:
        store.close()
    if first is not None and not force:
        raise UsageError(
            f"{shown(parse_url(url))} holds episodes ({first.row.episode} and perhaps more): the checks need an empty "
            "database or schema, because a log is append-only and what they write stays in it. --force writes into "
            f"this one all the same; `spectrace ls --project {PROJECT}` tells those episodes from the others."
        )


def _show(url: str, results: Sequence[Result]) -> None:
    rows: list[list[console.Cell]] = [
        [one.id, one.claim, (one.result, _STYLES[one.result]), one.detail or None] for one in results
    ]
    console.table(_COLUMNS, rows, "")
    told = [f"{sum(one.result == state for one in results)} {state}" for state in _STYLES]
    console.line(f"{counted(len(results), 'check')} of {shown(parse_url(url))}: {', '.join(told)}.")
    console.say(f"The episodes that were written for it stay there, under the project {PROJECT}.", "dim")


def _order(one: Result) -> tuple[str, int]:
    """C2 before C10, and those before H1."""
    letter, digits = re.fullmatch(r"([A-Z])(\d+)", one.id).groups()  # type: ignore[union-attr]  # a test says so
    return letter, int(digits)


def _item(one: Result) -> dict[str, object]:
    return {"id": one.id, "claim": one.claim, "result": one.result, "detail": one.detail}
