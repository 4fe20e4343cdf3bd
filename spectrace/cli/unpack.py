"""`spectrace unpack`: a bundle's episodes into a database."""

from pathlib import Path

import click

from spectrace.cli import console, document
from spectrace.cli.console import Column, arrival_span
from spectrace.cli.options import db_option, json_option
from spectrace.config import database_url
from spectrace.store.bundle_reader import Bundle
from spectrace.store.filling import filling
from spectrace.store.unpacking import Unpacked, unpack
from spectrace.store.zip_members import LIMITS, Limits

_COLUMNS = (Column("episode"), Column("result"), Column("events", right=True), Column("detail", rank=1, flex=30))
_GIB = 30


@click.command()
@click.argument("bundle", type=click.Path(path_type=Path), metavar="BUNDLE")
@click.option(
    "--max-gib",
    type=click.IntRange(min=1),
    default=LIMITS.bytes >> _GIB,
    show_default=True,
    help="Refuse a bundle that would take more, unpacked.",
)
@db_option
@json_option
@click.pass_context
def command(ctx: click.Context, bundle: Path, max_gib: int, db: str | None, *, as_json: bool) -> None:
    """Store a bundle's episodes, byte for byte, after all of it was verified."""
    limits = Limits(bytes=max_gib << _GIB)
    Bundle(bundle, limits).close()  # refuses what is none, before a database is made for it
    with filling(database_url(db)) as store, console.progress() as progress:
        found = unpack(
            bundle,
            store,
            limits=limits,
            progress=lambda done, of: progress.show("unpack", f"{bundle.name}  {done} of {of}"),
        )
    if as_json:
        document.write("unpack", _items(found))
    else:
        _show(found)
    for _, reason in found.refused:
        console.say(f"Refused: {reason}", style="error")
    ctx.exit(1 if found.refused else 0)


def _items(found: Unpacked) -> list[dict[str, object]]:
    arrived: list[dict[str, object]] = [
        {
            "episode": one.episode,
            "result": one.result,
            "events": one.events,
            "head": one.head.hex(),
            "ended": one.ended,
            "reason": None,
            "sha256": found.sha256,
        }
        for one in found.arrivals
    ]
    return arrived + [
        {
            "episode": episode,
            "result": "refused",
            "events": None,
            "head": None,
            "ended": None,
            "reason": reason,
            "sha256": found.sha256,
        }
        for episode, reason in found.refused
    ]


def _show(found: Unpacked) -> None:
    words = {"stored": "", "grew": "its earlier events were here", "present": "was here already, with all these events"}
    rows: list[list[console.Cell]] = [
        [(one.episode, "name"), arrival_span(one.result), one.events, words[one.result] or None]
        for one in found.arrivals
    ]
    rows += [[(episode, "name"), ("refused", "bad"), None, None] for episode, _ in found.refused]
    console.table(_COLUMNS, rows, "The bundle holds no episode.")
    console.line(("SHA-256  ", "dim"), found.sha256)
