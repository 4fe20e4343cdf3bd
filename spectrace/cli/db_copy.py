"""`spectrace db copy`: a whole log into another database."""

from collections import Counter
from contextlib import closing

import click

from spectrace.audit.lines import counted
from spectrace.cli import console, document
from spectrace.cli.options import db_option, json_option
from spectrace.config import database_url
from spectrace.store.address import parse_url, refuse_bundle
from spectrace.store.copying import REFUSED, Copy, copy_log
from spectrace.store.evidence import opened
from spectrace.store.filling import filling
from spectrace.store.sql import open_store


@click.command()
@click.argument("url", metavar="URL")
@db_option
@json_option
@click.pass_context
def copy(ctx: click.Context, url: str, db: str | None, *, as_json: bool) -> None:
    """Copy the log that --db names into the database URL, byte for byte; go on where one stopped."""
    found = _copied(database_url(db), url)
    refused = [one for one in found.episodes if one.result == REFUSED]
    if as_json:
        document.write("db-copy", _items(found))
    else:
        _show(found)
    console.losses([(one.episode, loss) for one in found.episodes for loss in one.losses])
    for one in refused:
        console.say(f"Refused: {one.reason}", style="error")
    ctx.exit(1 if refused else 0)


def _copied(url: str, target_url: str) -> Copy:
    """Copy; an older log, as evidence is that nobody may upgrade, from a temporary copy that is."""
    refuse_bundle(parse_url(url))
    with opened(url) as evidence, closing(open_store(evidence.url, read_only=True)) as source:
        with filling(target_url) as target, console.progress() as progress:
            found = copy_log(
                source, target, lambda done, of: progress.show("copy", f"{done} of {counted(of, 'episode')}")
            )
        if evidence.note is not None:
            console.say(evidence.note)
        return found


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
