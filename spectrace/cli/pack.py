"""`spectrace pack`: episodes into one file that anybody can verify."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from spectrace.audit import packing
from spectrace.audit.answers import Filters
from spectrace.audit.lines import counted
from spectrace.cli import console, document
from spectrace.cli.options import db_option, filter_options, force_option, json_option, output_option, reading
from spectrace.cli.select import chosen, episodes_argument
from spectrace.store.bundle import Packed, pack, with_logs
from spectrace.store.listing import Listable
from spectrace.store.manifest import Period
from spectrace.store.sql import SqlEventStore


@click.command()
@episodes_argument
@output_option
@force_option
@click.option(
    "--checkpoint",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="A checkpoint to put in, with all leaves of its tree. [default: the newest that the database keeps]",
)
@filter_options()
@db_option
@json_option
def command(
    episodes: Sequence[str],
    output: Path,
    checkpoint: Path | None,
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
        tree = _tree(reader.store, checkpoint)
        period = _period(episodes, filters)
        packed = pack(
            reader.store,
            names,
            output,
            force=force,
            progress=lambda done, of: progress.show("pack", f"{output.name}  {done} of {of}"),
            period=period,
            checkpoint=None if tree is None else tree.proved(with_logs(reader.store, names)),
        )
    running = [one for one in packed.episodes if one.state == "running"]
    if as_json:
        document.write("pack", _items(packed))
    else:
        events = sum(one.events for one in packed.episodes)
        what = f"{counted(len(packed.episodes), 'episode')} with {counted(events, 'event')}"
        console.line("Packed ", (what, "strong"), f", {packed.bytes:,} bytes, into ", (str(packed.path), "name"))
        console.line(("SHA-256  ", "dim"), packed.sha256)
    if tree is None and period is not None:
        console.say(
            "Without a checkpoint nobody can see that nothing was left out: `spectrace checkpoint create` makes one.",
            style="warning",
        )
    for one in running:
        console.say(f"{one.episode} is still being written: its first {one.events} events are packed.", style="warning")


def _tree(store: Listable, checkpoint: Path | None) -> packing.Tree | None:
    if not isinstance(store, SqlEventStore):
        return None
    return packing.newest(store) if checkpoint is None else packing.given(checkpoint, store)


def _period(episodes: Sequence[str], filters: Filters) -> Period | None:
    """Return what the episodes are the whole of: chosen by nothing but when they began, they leave none out."""
    if episodes or replace(filters, since=None, until=None) != Filters():
        return None
    return Period(filters.since, filters.until)


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
