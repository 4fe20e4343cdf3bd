"""`spectrace import`: other programs' recordings, in."""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import click

from spectrace.cli import console, document
from spectrace.cli.console import Column
from spectrace.cli.import_jsonl import jsonl
from spectrace.cli.options import db_option, json_option
from spectrace.config import database_url, settings_here
from spectrace.errors import UsageError
from spectrace.interchange import openai_chat, tau2
from spectrace.interchange.imported import Imported
from spectrace.redaction.filing import require_plain
from spectrace.redaction.opening import open_redactor
from spectrace.redaction.redactor import Redactor
from spectrace.store.event_store import EventStore
from spectrace.store.filling import filling
from spectrace.store.redaction_key import note_key

_COLUMNS = (Column("episode"), Column("task"), Column("state", flex=30))


@click.group()
def command() -> None:
    """Import other programs' recordings."""


class Import(Protocol):
    """Records what a file holds."""

    def __call__(
        self,
        path: Path | str,
        store: EventStore,
        *,
        project: str,
        run: str | None,
        progress: Callable[[int, int], None],
        redactor: Redactor | None,
    ) -> list[Imported]:
        """Return what came of each entry; raise UsageError, before anything is recorded, for another file."""
        ...


def _format(name: str, import_file: Import, help_: str) -> None:
    """Add the command of a format."""

    @command.command(name, help=help_)
    @click.argument("files", nargs=-1, required=True, metavar="FILE...")
    @click.option("--project", metavar="NAME", help="File the episodes under this project.")
    @click.option("--name", metavar="NAME", help="Name the import, so that `--run NAME` finds its episodes.")
    @db_option
    @json_option
    @click.pass_context
    def import_(
        ctx: click.Context,
        files: Sequence[str],
        project: str | None,
        name: str | None,
        db: str | None,
        *,
        as_json: bool,
    ) -> None:
        settings = settings_here()
        require_plain(settings.redaction, {"the project": project or settings.project, "the run": name})
        done: list[tuple[str, Imported]] = []
        refused: list[str] = []
        with filling(database_url(db, settings)) as store, console.progress() as progress:
            redactor = open_redactor(settings.redaction, os.environ)
            for file in files:
                label = Path(file).name
                try:
                    found = import_file(
                        file,
                        store,
                        project=project or settings.project,
                        run=name,
                        progress=lambda n, of, label=label: progress.show("import", f"{label}  {n} of {of}"),  # type: ignore[misc]
                        redactor=redactor,
                    )
                except UsageError as error:
                    refused.append(str(error))
                    continue
                done.extend((file, one) for one in found)
            if done and redactor is not None:  # a file that was refused leaves no log, not even this record
                note_key(store, redactor.key_id)
        _tell(done, refused, as_json=as_json)
        ctx.exit(2 if refused else 0)


_format(
    "tau2",
    tau2.import_file,
    "Import τ²-bench result files; each simulation becomes an episode that keeps all that the file says.",
)
_format(
    "openai",
    openai_chat.import_file,
    "Import chat messages in OpenAI's format; each dialogue becomes an episode that gives them back as they were.",
)
command.add_command(jsonl)


def _tell(done: Sequence[tuple[str, Imported]], refused: Sequence[str], *, as_json: bool) -> None:
    if as_json and (done or not refused):
        document.write("import", [_item(file, one) for file, one in done])
    elif done:
        _show([one for _, one in done])
    for reason in refused:
        console.say(f"Error: {reason}", style="error")


def _item(file: str, one: Imported) -> dict[str, object]:
    return {
        "episode": one.episode,
        "losses": list(one.losses),
        "file": file,
        "task": one.task,
        "unfit": one.unfit,
        "skipped": one.skipped,
    }


def _show(found: Sequence[Imported]) -> None:
    rows: list[list[console.Cell]] = [[(one.episode, "name"), one.task, _state(one)] for one in found]
    console.table(_COLUMNS, rows, "Nothing was imported.")
    losses = Counter(loss for one in found for loss in one.losses)
    if losses:
        console.line(("What the files do not say, and in how many of these episodes:", "strong"))
    for loss, n in losses.most_common():
        console.line((f"{n:>4}  ", "dim"), loss, hang=6)
    new = sum(one.skipped is None for one in found)
    unfit = sum(one.unfit is not None for one in found)
    console.line(f"{new} imported, {len(found) - new} were here already, {unfit} whose task does not fit.")


def _state(one: Imported) -> console.Span:
    if one.skipped is not None:
        return one.skipped, "dim"
    return (one.unfit, "warning") if one.unfit is not None else ("imported", "good")
