"""`spectrace show`: an episode's timeline, or one event in full."""

import json
import time
from collections.abc import Sequence
from itertools import pairwise

import click

from spectrace.audit.answers import EventDetail, EventLine
from spectrace.audit.erasures import record_words
from spectrace.audit.queries import Reader
from spectrace.audit.reading import Unread
from spectrace.audit.visible import one_line, shortened
from spectrace.cli import console, document
from spectrace.cli.console import Column, iso
from spectrace.cli.options import db_option, json_option, reading
from spectrace.cli.select import event_of
from spectrace.core.digest import text_digest
from spectrace.core.events import TYPE_NUMBERS, EpisodeStarted, GenerateRequested
from spectrace.core.types import Message
from spectrace.errors import StoreError, UsageError
from spectrace.settings import meant
from spectrace.store.erasures import Erasure

_POLL_S = 0.5
_LONG = 20_000
"""Characters of one text of a body; a cut is marked, with the digest of the whole."""
_MESSAGES = 100
"""Messages of a prompt that are shown as part of its event; of more, the number and how to see them."""
_SUMMARY = 400
"""Characters of a timeline's summary; a cut is marked, `show EP:SEQ` has all."""

_COLUMNS = (
    Column("seq", right=True),
    Column("time (UTC)", rank=4),
    Column("lane", rank=6),
    Column("type"),
    Column("effect", rank=3),
    Column("authority", rank=2),
    Column("outcome", rank=1),
    Column("what", flex=44),
)


@click.command()
@click.argument("event", metavar="EP[:SEQ]")
@click.option("--type", "types", multiple=True, metavar="TYPE", help="Only events of this type, e.g. verdict.given.")
@click.option("--follow", is_flag=True, help="Go on showing events until the episode ends.")
@click.option(
    "--as",
    "form",
    type=click.Choice(["prompt"]),
    help="The exact messages of a generate.requested, as the model got them.",
)
@click.option("--stored", is_flag=True, help="The stored canonical bytes, header and body, as the chain covers them.")
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    event: str,
    types: tuple[str, ...],
    form: str | None,
    db: str | None,
    *,
    follow: bool,
    stored: bool,
    as_json: bool,
) -> None:
    """Show an episode's events one line each, or one event in full."""
    name, seq = event_of(event)
    if follow and (seq is not None or as_json):
        raise UsageError("--follow shows a whole episode to people: leave out :SEQ and --json.")
    lost: list[Unread] = []
    with reading(db) as reader:
        episode = reader.resolve(name)
        _require_types(reader, episode, types)
        if form == "prompt":
            _prompt(reader, episode, seq, as_json=as_json)
        elif seq is not None:
            _event(reader, episode, seq, stored=stored, as_json=as_json)
        elif as_json or stored:
            details = [one for one in reader.details(episode, lost=lost) if not types or one.type in types]
            if as_json:
                document.write("show", [_item(one, stored=stored) for one in details])
            else:
                for one in details:
                    _stored(one)
        else:
            _timeline(reader, episode, types, lost, follow=follow)
        if seq is None and not follow and not lost:
            lost = reader.unread(episode)
            if (words := reader.erased(episode)) is not None:  # on record, so nothing is missing
                console.say(f"The {words}.")
    ctx.exit(console.lost(lost))


def _require_types(reader: Reader, episode: str, types: Sequence[str]) -> None:
    """Refuse a type that neither this spectrace nor the episode (a newer one's, perhaps) knows."""
    known = [cls.TYPE for cls in TYPE_NUMBERS]
    unknown = [name for name in types if name not in known]
    there = {one.type for one in reader.timeline(episode)} if unknown else set()
    for name in unknown:
        if name not in there:
            raise UsageError(f"no event is of type {name!r}{meant(name, known)}; there are {', '.join(known)}.")


def _timeline(reader: Reader, episode: str, types: tuple[str, ...], lost: list[Unread], *, follow: bool) -> None:
    try:
        first = reader.first(episode)
    except StoreError as error:
        lost.append(Unread(episode, None, str(error)))
        return
    console.line(("episode ", "dim"), (episode, "name"), f"  started {iso(first.at)}")
    if isinstance(first.body, EpisodeStarted):  # else gone, or newer: its line says which
        environment, task = first.body.environment, first.body.task
        console.line(("task    ", "dim"), f"{environment.name} {task.id}: {task.request}")
    if follow:
        _follow(reader, episode, types)
        return
    lines = reader.timeline(episode, lost=lost)
    rows = [_row(one) for one in lines if not types or one.type in types]
    console.table(_COLUMNS, rows, "No event is of that type.")
    for before, one in pairwise(lines):
        if one.at < before.at:
            console.say(
                f"The wall clock went back {(before.at - one.at) / 1e6:g} s at event {one.seq}: events stand in their "
                "order, their times are what the clock said.",
                style="warning",
            )


def _follow(reader: Reader, episode: str, types: tuple[str, ...]) -> None:
    """Write each event as one line, until the episode ends or its writer is gone."""
    shown, running = 0, True
    while running:
        running = reader.state(episode) == "running"  # asked before reading: what comes in between is not missed
        lines = reader.timeline(episode, shown)
        shown += len(lines)
        for one in lines:
            if not types or one.type in types:
                what = one_line(shortened(one.summary, _SUMMARY))
                head = f"{one.seq:>5}  {(iso(one.at) or '')[11:23]}  "
                console.line((head, "dim"), (f"{one.type:<20}", _style(one)), f" {what}")
        if running:
            time.sleep(_POLL_S)
    console.line((f"Its state is {reader.state(episode)}.", "dim"))


def _row(one: EventLine) -> list[console.Cell]:
    whole = iso(one.at) or ""
    return [
        one.seq,
        (whole[11:23], "dim"),
        one.lane or None,
        (one.type, _style(one)),
        one.effect,
        one.authority,
        console.status_span(one.outcome) if one.outcome else None,
        shortened(one.summary, _SUMMARY),
    ]


def _style(one: EventLine) -> str:
    match one.type:
        case "verdict.given":
            return "good" if one.outcome == "accept" else "bad"
        case "progress.judged":
            return "good" if one.outcome == "progress" else "bad"
        case "action.held":
            return "held"
        case "act.requested" if one.effect == "write":
            return "warning"
        case "generate.requested" | "generate.completed" | "step.drafted":
            return ""
        case _:
            return "strong" if one.type.startswith("episode.") else ""


def _event(reader: Reader, episode: str, seq: int, *, stored: bool, as_json: bool) -> None:
    if as_json:
        document.write("show", [_item(reader.event(episode, seq), stored=stored)])
        return
    one = reader.event(episode, seq, prompt=False)
    if stored:
        _stored(one)
        return
    console.rule(f"{one.episode}:{one.seq} {one.type} v{one.version}")
    for name, value in (*_header(one).items(), ("link", one.link)):
        console.line((f"{name:<10}", "dim"), str(value) if value is not None else "-")
    console.rule("body")
    if one.erased:
        console.line("erased" + (f": {record_words(one.erasure)}" if one.erasure else ", and no record says so"))
        return
    console.block(_body(reader, one))
    if one.unknown:
        console.rule("fields that this spectrace does not know")
        for path, text in one.unknown:
            console.line((f"{path} ", "dim"), text)


def _body(reader: Reader, one: EventDetail) -> str:
    """Return the body for people: of very long texts the beginning, and no prompt that nobody could read here."""
    body = json.loads(one.body)
    if one.type == GenerateRequested.TYPE and isinstance(body, dict) and body.get("messages") == []:
        sent = reader.messages(one.episode, one.seq, slice(0, 0))
        body = json.loads(reader.event(one.episode, one.seq).body) if sent.total <= _MESSAGES else body
        if sent.total > _MESSAGES:
            body["messages"] = f"{sent.total:,} messages: spectrace show {one.episode}:{one.seq} --as prompt"
    return json.dumps(_cut(body), indent=2, ensure_ascii=False)


def _cut(value: object) -> object:
    match value:
        case str() if len(value) > _LONG:
            rest = len(value) - _LONG
            return f"{value[:_LONG]}… (+{rest:,} characters; {text_digest(value)}; --json has it whole)"
        case list():
            return [_cut(item) for item in value]
        case dict():
            return {name: _cut(item) for name, item in value.items()}
        case _:
            return value


def _stored(one: EventDetail) -> None:
    console.line(("header ", "dim"), one.stored_header)
    console.line(("body   ", "dim"), one.stored_body if one.stored_body is not None else "erased")
    console.line(("salt   ", "dim"), one.salt or "erased")
    console.line(("link   ", "dim"), one.link)


def _header(one: EventDetail) -> dict[str, object]:
    return {
        "episode": one.episode,
        "seq": one.seq,
        "lane": one.lane,
        "type": one.type,
        "version": one.version,
        "at": iso(one.at),
        "effect": one.effect,
        "authority": one.authority,
        "outcome": one.outcome,
        "tool": one.tool,
    }


def _item(one: EventDetail, *, stored: bool) -> dict[str, object]:
    item: dict[str, object] = {
        "seq": one.seq,
        "type": one.type,
        "version": one.version,
        "at": iso(one.at),
        "header": _header(one),
        "body": None if one.erased else json.loads(one.body),
        "link": one.link,
    }
    if one.erased:
        item["erased"] = _erasure(one.erasure)
    if one.unknown:
        item["unknown_fields"] = {path: json.loads(text) for path, text in one.unknown}
    if stored:
        item["stored"] = {"header": one.stored_header, "body": one.stored_body, "salt": one.salt}
    return item


def _erasure(found: Erasure | None) -> dict[str, object] | None:
    """Return the record of an erasure; null where there is none."""
    if found is None:
        return None
    by = f"{found.body.by.user}@{found.body.by.host}"
    person, reason = found.body.person, found.body.reason
    return {"record": found.record, "at": iso(found.at), "by": by, "person": person, "reason": reason}


def _prompt(reader: Reader, episode: str, seq: int | None, *, as_json: bool) -> None:
    if seq is None:
        raise UsageError("--as prompt shows one model call: name it, EP:SEQ.")
    messages = reader.prompt(episode, seq)
    if as_json:
        document.write("show", [_message(message) for message in messages])
        return
    for number, message in enumerate(messages, 1):
        console.rule(f"{number} {message.role}{f' (answers {message.call_id})' if message.call_id else ''}")
        if message.content:
            console.block(message.content)
        for call in message.calls:
            console.line((f"{call.id} ", "dim"), (call.name, "strong"), f" {call.arguments}")


def _message(message: Message) -> dict[str, object]:
    calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.calls]
    return {"role": message.role, "content": message.content, "calls": calls, "call_id": message.call_id}
