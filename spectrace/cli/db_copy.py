"""`spectrace db copy`: a whole log into another database."""

from collections import Counter

import click

from spectrace.audit.lines import counted
from spectrace.cli import console, document
from spectrace.cli.options import db_option, json_option
from spectrace.config import database_url
from spectrace.store.copying import REFUSED, Copy, copy_log
from spectrace.store.sql import open_store


@click.command()
@click.argument("url", metavar="URL")
@db_option
@json_option
@click.pass_context
def copy(ctx: click.Context, url: str, db: str | None, *, as_json: bool) -> None:
    """Copy the log that --db names into the database URL, byte for byte; go on where one stopped."""
    source = open_store(database_url(db), read_only=True)
    try:
        target = open_store(url)
        try:
            with console.progress() as progress:
                found = copy_log(
                    source, target, lambda done, of: progress.show("copy", f"{done} of {counted(of, 'episode')}")
                )
        finally:
            target.close()
    finally:
        source.close()
    refused = [one for one in found.episodes if one.result == REFUSED]
    if as_json:
        document.write("db-copy", _items(found))
    else:
        _show(found)
    for one in found.episodes:
        for loss in one.losses:
            console.say(f"{one.episode}: {loss}", style="warning")
    for one in refused:
        console.say(f"Refused: {one.reason}", style="error")
    ctx.exit(1 if refused else 0)


def _items(found: Copy) -> list[dict[str, object]]:
    return [
        {
            "episode": one.episode,
            "result": one.result,
            "events": one.events,
            "losses": list(one.losses),
            "reason": one.reason,
        }
        for one in found.episodes
    ]


def _show(found: Copy) -> None:
    words = {
        "stored": "copied",
        "grew": "gone on with",
        "present": "there already",
        REFUSED: "refused",
    }
    counts = Counter(one.result for one in found.episodes)
    said = [f"{counts[result]} {word}" for result, word in words.items() if counts[result]]
    console.line(f"{counted(len(found.episodes), 'episode')}: {', '.join(said) or 'nothing to copy'}.")
    if found.runs or found.run_items:
        console.line(f"{counted(found.runs, 'run')} and {counted(found.run_items, 'item')} of runs copied.")
