"""`spectrace import jsonl`: episodes that `spectrace export jsonl` wrote, in.

Exit 3 where something is damaged or lost, 1 where an episode is refused, 2 where a file is.
"""

from collections.abc import Sequence
from pathlib import Path

import click

from spectrace.cli import console, document
from spectrace.cli.console import Column, arrival_span
from spectrace.cli.options import db_option, json_option
from spectrace.config import database_url
from spectrace.errors import SpectraceError
from spectrace.interchange.jsonl_import import REFUSED, ImportedFile, ImportedLines, import_jsonl
from spectrace.store.filling import filling
from spectrace.store.sql import SqlEventStore

_COLUMNS = (
    Column("episode"),
    Column("result"),
    Column("events", right=True),
    Column("first bad", right=True, rank=1),
    Column("file", rank=2),
)
_INCOMPLETE = 3


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--salvage", is_flag=True, help="Of a damaged file, import what is whole and say what is lost.")
@db_option
@json_option
@click.pass_context
def jsonl(ctx: click.Context, files: Sequence[str], db: str | None, *, salvage: bool, as_json: bool) -> None:
    """Import files that `export jsonl` wrote, byte for byte; a cut end is dropped and said, other damage refused."""
    with filling(database_url(db)) as store:
        done, errors = _imported(files, store, salvage=salvage)
    if as_json and done:
        document.write("import", [_item(file, found, one) for file, found in done for one in found.episodes])
    elif done:
        _show(done)
    for file, found in done:
        _warn(file, found)
    for error in errors:
        console.say(f"Error: {error}", style="error")
    refused = any(one.result == REFUSED for _, found in done for one in found.episodes)
    ctx.exit(2 if errors else 1 if refused else 0 if all(found.complete for _, found in done) else _INCOMPLETE)


def _imported(
    files: Sequence[str], store: SqlEventStore, *, salvage: bool
) -> tuple[list[tuple[str, ImportedFile]], list[str]]:
    """Import each file; return what came of it, and why others were refused."""
    done, errors = [], []
    with console.progress() as progress:
        for file in files:
            label = Path(file).name
            try:
                found = import_jsonl(
                    Path(file),
                    store,
                    salvage=salvage,
                    progress=lambda n, of, label=label: progress.show("import", f"{label}  {n} of {of}"),  # type: ignore[misc]
                )
            except SpectraceError as error:
                errors.append(str(error))
                continue
            done.append((file, found))
    return done, errors


def _item(file: str, found: ImportedFile, one: ImportedLines) -> dict[str, object]:
    return {
        "episode": one.episode,
        "losses": list(one.losses),
        "file": file,
        "result": one.result,
        "events": one.events,
        "first_bad_seq": one.first_bad_seq,
        "reason": one.reason,
        "damage": [
            {
                "line": fault.place.line or None,
                "offset": fault.place.offset if fault.place.line else None,
                "bytes": fault.place.length if fault.place.line else None,
                "detail": fault.detail,
            }
            for fault in found.damage
        ],
    }


def _show(done: Sequence[tuple[str, ImportedFile]]) -> None:
    rows: list[list[console.Cell]] = [
        [(one.episode, "name"), arrival_span(one.result), one.events, one.first_bad_seq, file]
        for file, found in done
        for one in found.episodes
    ]
    console.table(_COLUMNS, rows, "Nothing was imported.")


def _warn(file: str, found: ImportedFile) -> None:
    """Say on stderr what is damaged, what each episode lacks, and why one was refused."""
    for fault in found.damage:
        console.say(f"{file}: {fault.detail}", style="warning")
    said = {fault.detail for fault in found.damage}
    console.losses([(one.episode, loss) for one in found.episodes for loss in one.losses if loss not in said])
    for one in found.episodes:
        if one.reason is not None:
            console.say(f"Refused: {one.reason}", style="error")
