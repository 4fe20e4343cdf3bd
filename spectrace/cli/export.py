"""`spectrace export`: episodes out, in a format that other programs read."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

import click

from spectrace.audit.answers import Filters
from spectrace.audit.lines import counted
from spectrace.cli import console, document
from spectrace.cli.options import db_option, filter_options, force_option, json_option, output_option, reading
from spectrace.cli.select import chosen, episodes_argument
from spectrace.interchange.jsonl_export import Exported, export_jsonl
from spectrace.interchange.openai_chat_export import export_openai
from spectrace.store.event_store import EventStore


class Export(Protocol):
    """Writes episodes into one new file."""

    def __call__(
        self,
        store: EventStore,
        episodes: Sequence[str],
        target: Path,
        *,
        force: bool,
        progress: Callable[[int, int], None],
    ) -> list[Exported]:
        """Return what was written, and what of each episode the format cannot say."""
        ...


FORMATS: Mapping[str, Export] = MappingProxyType({"jsonl": export_jsonl, "openai": export_openai})
"""Name -> what writes it."""


@click.command()
@click.argument("format_", type=click.Choice(list(FORMATS)), metavar="FORMAT")
@episodes_argument
@output_option
@force_option
@filter_options()
@db_option
@json_option
def command(
    format_: str,
    episodes: Sequence[str],
    output: Path,
    db: str | None,
    *,
    force: bool,
    filters: Filters,
    every: bool,
    as_json: bool,
) -> None:
    """Write episodes as jsonl (one record a line, every byte of the chain) or openai (chat messages)."""
    with reading(db) as reader, console.progress() as progress:
        names = chosen(reader, episodes, every, filters)
        done = FORMATS[format_](
            reader.store,
            names,
            output,
            force=force,
            progress=lambda n, of: progress.show("export", f"{output.name}  {n} of {of}"),
        )
    if as_json:
        items = [{"episode": one.episode, "losses": list(one.losses), "events": one.events} for one in done]
        document.write("export", [{**item, "file": str(output)} for item in items])
    else:
        console.line("Exported ", (counted(len(done), "episode"), "strong"), " into ", (str(output), "name"))
    console.losses([(one.episode, loss) for one in done for loss in one.losses])
