"""`spectrace pack`: episodes into one file that anybody can verify."""

from collections.abc import Sequence
from pathlib import Path

import click

from spectrace.audit.answers import Filters
from spectrace.audit.lines import counted
from spectrace.cli import console, document
from spectrace.cli.options import db_option, filter_options, force_option, json_option, output_option, reading
from spectrace.cli.select import chosen, episodes_argument
from spectrace.store.bundle import Packed, pack


@click.command()
@episodes_argument
@output_option
@force_option
@filter_options()
@db_option
@json_option
def command(
    episodes: Sequence[str],
    output: Path,
    db: str | None,
    *,
    force: bool,
    filters: Filters,
    every: bool,
    as_json: bool,
) -> None:
    """Write episodes into a bundle: one zip that can be verified without spectrace."""
    with reading(db) as reader, console.progress() as progress:
        names = chosen(reader, episodes, every, filters)
        packed = pack(
            reader.store,
            names,
            output,
            force=force,
            progress=lambda done, of: progress.show("pack", f"{output.name}  {done} of {of}"),
        )
    running = [one for one in packed.episodes if one.state == "running"]
    if as_json:
        document.write("pack", _items(packed))
    else:
        events = sum(one.events for one in packed.episodes)
        what = f"{counted(len(packed.episodes), 'episode')} with {counted(events, 'event')}"
        console.line("Packed ", (what, "strong"), f", {packed.bytes:,} bytes, into ", (str(packed.path), "name"))
        console.line(("SHA-256  ", "dim"), packed.sha256)
    for one in running:
        console.say(f"{one.episode} is still being written: its first {one.events} events are packed.", style="warning")


def _items(packed: Packed) -> list[dict[str, object]]:
    return [
        {
            "bundle": str(packed.path),
            "sha256": packed.sha256,
            "bytes": packed.bytes,
            "episode": one.episode,
            "events": one.events,
            "head": one.head.hex(),
            "state": one.state,
        }
        for one in packed.episodes
    ]
