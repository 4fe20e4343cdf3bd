"""`spectrace recover`: the episodes whose writer is gone get their end, and what they left open is told."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict

import click

from spectrace.audit.integrity import CONSISTENT
from spectrace.audit.queries import Reader
from spectrace.audit.recovery import OpenAction, Recovered, interrupted, recover
from spectrace.cli import console, document
from spectrace.cli.console import Column, status_span
from spectrace.cli.options import db_option, json_option
from spectrace.cli.select import named
from spectrace.config import database_url
from spectrace.errors import Conflict, NewerSchema, UsageError
from spectrace.store.sql import open_store

_COLUMNS = (
    Column("episode"),
    Column("state"),
    Column("events", right=True, rank=3),
    Column("last event", rank=4),
    Column("never started", right=True, rank=1),
    Column("indeterminate", right=True),
    Column("verified", rank=2),
    Column("detail", rank=5, flex=30),
)
_FAILED = 1


@click.command()
@click.argument("episodes", nargs=-1, metavar="[EP]...")
@click.option("--all", "every", is_flag=True, help="Every interrupted episode.")
@db_option
@json_option
@click.pass_context
def command(ctx: click.Context, episodes: Sequence[str], db: str | None, *, every: bool, as_json: bool) -> None:
    """Give interrupted episodes their end, and say which of their writes may have happened."""
    if every == bool(episodes):
        raise UsageError("name episodes by id or unique prefix, or - (ids on stdin), or give --all; one of them.")
    url = database_url(db)
    # Refuses what is missing, where opening to write would make it, and what is only read from a copy.
    with Reader(open_store(url, read_only=True)) as reader:
        names = interrupted(reader.store) if every else named(reader, episodes)
    found, refused = _recovered(url, names)
    if as_json:
        document.write("recover", [item(one) for one in found])
    else:
        show(found)
    for why in refused:
        console.say(f"Not recovered: {why}", style="error")
    ctx.exit(_FAILED if refused or any(one.result != CONSISTENT for one in found) else 0)


def _recovered(url: str, names: Iterable[str]) -> tuple[list[Recovered], list[str]]:
    """Recover each; return what was found, and why the others were refused."""
    found, refused = [], []
    store = open_store(url)
    try:
        for name in names:
            try:
                found.append(recover(store, name))
            except (Conflict, NewerSchema) as error:
                refused.append(str(error))
    finally:
        store.close()
    return found, refused


def show(found: Sequence[Recovered]) -> None:
    """Write a table, and below it each action that is open."""
    console.table(_COLUMNS, [_row(one) for one in found], "No episode is interrupted.")
    for one in found:
        for action in one.indeterminate:
            _line(one, action, "indeterminate", "warning", "asked, no outcome: it may have happened")
        for action in one.never_started:
            meaning = "it did not happen" if one.result == CONSISTENT else "by a record that is not whole"
            _line(one, action, "never started", "dim", meaning)
        for word in one.settled:
            said = f" by {word.by} (event {word.seq}): {word.evidence}"
            console.line(
                (f"{one.episode}:{word.request}", "name"), " settled as ", status_span(word.outcome), said, hang=2
            )
    open_ = [f"{one.episode}:{action.seq}" for one in found for action in one.indeterminate]
    if open_:
        console.say(
            "Nothing runs an indeterminate write again: look there whether it happened, and say so with "
            f"`spectrace audit settle {open_[0] if len(open_) == 1 else 'EP:SEQ'} --outcome ok|error|never "
            "--evidence TEXT --by NAME`; then `spectrace resume` goes on.",
            style="warning",
        )


def _row(one: Recovered) -> list[console.Cell]:
    return [
        (one.episode, "name"),
        status_span(one.state),
        one.events,
        None if one.last_type is None else f"{one.last_seq} {one.last_type}",
        len(one.never_started),
        (str(len(one.indeterminate)), "warning") if one.indeterminate else 0,
        status_span(one.result),
        one.detail,
    ]


def _line(one: Recovered, action: OpenAction, word: str, style: str, meaning: str) -> None:
    what = f"{action.tool} {action.arguments}" if action.tool else f"{action.kind}: {action.arguments}"
    console.line((f"{one.episode}:{action.seq}", "name"), " ", (word, style), f" ({meaning}): {what}", hang=2)


def item(one: Recovered) -> dict[str, object]:
    """Return the JSON item of an episode."""
    return {
        "episode": one.episode,
        "parent": one.parent,
        "state": one.state,
        "events": one.events,
        "last_seq": one.last_seq,
        "last_type": one.last_type,
        "never_started": [_open(action) for action in one.never_started],
        "indeterminate": [_open(action) for action in one.indeterminate],
        "result": one.result,
        "detail": one.detail,
        "settled": [asdict(word) for word in one.settled],
    }


def _open(action: OpenAction) -> dict[str, object]:
    return {
        "seq": action.seq,
        "position": action.position,
        "kind": action.kind,
        "tool": action.tool,
        "arguments": action.arguments,
        "idempotency_key": action.idempotency_key,
    }
