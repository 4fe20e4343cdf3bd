"""`spectrace verify`: whether episodes are intact by their own account."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from spectrace.audit.answers import Filters
from spectrace.audit.bundles import verify_bundle
from spectrace.audit.integrity import CONSISTENT, INVALID, NOT_PROVED, VerifyResult
from spectrace.audit.verifying import verify_all
from spectrace.cli import console, document
from spectrace.cli.console import Column, status_span
from spectrace.cli.options import db_option, filter_options, json_option, reading, whole
from spectrace.cli.select import chosen, episodes_argument
from spectrace.store.bundle_reader import is_zip

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
@click.option("--jobs", type=whole(1), metavar="N", help="Processes, where the log is large. [default: one a core]")
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    episodes: Sequence[str],
    jobs: int | None,
    db: str | None,
    *,
    filters: Filters,
    every: bool,
    as_json: bool,
) -> None:
    """Say whether episodes, or those of a bundle, are intact by their own account, from the stored bytes."""
    bundles = [name for name in episodes if _is_bundle(name)]
    results = [result for name in bundles for result in _bundle(Path(name))]
    if len(bundles) < len(episodes) or not bundles or every or filters != Filters():
        with reading(db) as reader:
            names = chosen(reader, [name for name in episodes if name not in bundles], every, filters)
            if every and filters == Filters():
                names += reader.administrative()  # what was done to the database is evidence too
            with console.progress() as progress:
                told = partial(_show_progress, progress)
                results += verify_all(reader.store, names, jobs, told)
    if as_json:
        document.write("verify", [item(one) for one in results])
    else:
        show(results)
    found = {one.result for one in results}
    ctx.exit(1 if INVALID in found else 0 if found <= {CONSISTENT} else _UNKNOWN)


def _is_bundle(name: str) -> bool:
    """Whether a file is meant, not an episode: what is called a zip and is there, or looks like one."""
    path = Path(name)
    return is_zip(path) or (path.suffix == ".zip" and path.is_file())


def _show_progress(progress: console.Progress, done: int, total: int) -> None:
    if total > 1:
        progress.show("verify", (f"{done:,} of {total:,} episodes verified", "dim"))


def _bundle(path: Path) -> Sequence[VerifyResult]:
    found = verify_bundle(path)
    console.say(f"{path} is a bundle, read as it lies. SHA-256 {found.sha256}.")
    return found.results


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
