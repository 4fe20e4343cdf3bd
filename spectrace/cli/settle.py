"""`spectrace audit settle`: what a person found out about a write that was asked and has no outcome."""

import click

from spectrace.audit.children import require_untouched, taken_back
from spectrace.audit.queries import Reader
from spectrace.audit.settling import OUTCOMES, Settled, settle, unmoved
from spectrace.cli import console, document
from spectrace.cli.options import db_option, json_option
from spectrace.cli.select import event_of
from spectrace.config import database_url
from spectrace.errors import SpectraceError, UsageError
from spectrace.runs.interrupted import left_by
from spectrace.store.sql import SqlEventStore, open_store


@click.command("settle")
@click.argument("event", metavar="EP:SEQ")
@click.option(
    "--outcome",
    required=True,
    type=click.Choice(OUTCOMES),
    help="What became of it: it was done, it was tried and failed, or it never happened.",
)
@click.option("--evidence", required=True, metavar="TEXT", help="How that is known; it is recorded as it stands.")
@click.option("--by", required=True, metavar="NAME", help="Who says so.")
@db_option
@json_option
def command(event: str, outcome: str, evidence: str, by: str, db: str | None, *, as_json: bool) -> None:
    """Add a person's word on a write that was asked and has no outcome, as a new fact at the end of its episode."""
    prefix, seq = event_of(event)
    if seq is None:
        raise UsageError(f"name the write as EP:SEQ, found {event!r}; `spectrace recover {prefix}` lists what is open.")
    url = database_url(db)
    # Refuses what is missing, where opening to write would make it, and what is only read from a copy.
    with Reader(open_store(url, read_only=True)) as reader:
        episode = reader.resolve(prefix)
    store = open_store(url)
    try:
        found = settle(store, episode, seq, outcome, evidence=evidence, by=by)
        after = _after(store, episode)
    finally:
        store.close()
    if as_json:
        document.write("audit-settle", [item(found)])
    else:
        show(found)
    for said in after:
        console.say(said, style="warning" if said != _goes_on(episode) else "")


def _after(store: SqlEventStore, episode: str) -> list[str]:
    """Say who went on with another word, and whether anything goes on from here now."""
    said = [f"{one}. Nothing goes on from {one.child}." for one in taken_back(store, episode)]
    said += unmoved(list(store.read(episode, prompts=False)))
    try:
        left_by(list(store.read(episode)))
    except SpectraceError:  # another write is open, or nobody here can go on with it: `resume` says which
        return said
    try:
        require_untouched(store, episode)
    except SpectraceError as error:
        return [*said, f"It is on the record, and nothing goes on from here: {error}"]
    return [*said, _goes_on(episode)]


def _goes_on(episode: str) -> str:
    return f"`spectrace resume {episode} --env ENV` goes on from there."


def show(found: Settled) -> None:
    """Say what was added, and what it took the place of."""
    console.line(
        (f"{found.episode}:{found.request}", "name"),
        f" {found.tool or 'reply'}: ",
        console.status_span(found.outcome),
        f" says {found.by} (event {found.seq}); the ledger said {found.before}.",
        hang=2,
    )


def item(found: Settled) -> dict[str, object]:
    """Return the JSON item of a word."""
    return {
        "episode": found.episode,
        "seq": found.seq,
        "request": found.request,
        "tool": found.tool,
        "outcome": found.outcome,
        "before": found.before,
        "by": found.by,
        "evidence": found.evidence,
    }
