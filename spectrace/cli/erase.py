"""`spectrace erase`: what was said leaves the log; that it was said, and by whose order it went, stays.

Counterpart of `scan-secrets`, which finds what is there. `erase` reports what it could not reach as well: an erasure
that is thought to be whole and is not does more harm than none.
"""

import time
from collections.abc import Sequence

import click

from spectrace.audit.lines import counted
from spectrace.audit.queries import Reader
from spectrace.cli import console, document
from spectrace.cli.console import Column
from spectrace.cli.options import db_option, json_option, moment, seconds_of
from spectrace.cli.select import event_of
from spectrace.config import database_url, settings_here
from spectrace.errors import UsageError
from spectrace.store.erasing import Erased, Order, erase
from spectrace.store.erasing_plan import Before, Matching, Named, Part, Plan, Wanted, plan
from spectrace.store.matching import Needle
from spectrace.store.sql import SqlEventStore, open_store

_SHOWN = 6


@click.command("erase")
@click.argument("targets", nargs=-1, metavar="[EP[:SEQ]]...")
@click.option(
    "--matching",
    metavar="TEXT",
    help="Every event that says this text, also escaped or in base64; not in hex, packed or encrypted.",
)
@click.option("--regex", is_flag=True, help="--matching is a regular expression; not looked for in base64.")
@click.option("--ignore-case", is_flag=True, help="--matching finds upper and lower case alike.")
@click.option("--before", metavar="TIME", help="Episodes that ended before: 2026-11-30, or 90d ago.")
@click.option("--retention", is_flag=True, help="Episodes whose time is over, by [retention] in spectrace.toml.")
@click.option("--dry-run", is_flag=True, help="Only say what would be erased, and what would not be reached.")
@click.option("--by", metavar="NAME", help="Who orders it; recorded.")
@click.option("--reason", metavar="TEXT", help="Why; recorded as it stands, so without the text itself.")
@click.option("--every", metavar="DURATION", help="With --retention: again and again, for example every 1d.")
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    targets: Sequence[str],
    matching: str | None,
    *,
    regex: bool,
    ignore_case: bool,
    before: str | None,
    retention: bool,
    dry_run: bool,
    by: str | None,
    reason: str | None,
    every: str | None,
    db: str | None,
    as_json: bool,
) -> None:
    """Erase what events say, with its copies and by a record that stays, so that the log still verifies."""
    given = [bool(targets), matching is not None, before is not None, retention]
    if sum(given) != 1:
        raise UsageError(
            "say what to erase: EP or EP:SEQ, --matching TEXT, --before TIME, or --retention; one of them."
        )
    if matching is None and (regex or ignore_case):
        raise UsageError("--regex and --ignore-case go with --matching TEXT.")
    pause_s = _pause(every, retention=retention, once=dry_run or as_json)
    url, order = database_url(db), Order(by, reason)
    with Reader(
        open_store(url, read_only=True)
    ) as reader:  # refuses what is missing, and what is only read from a copy
        named = tuple((reader.resolve(episode), seq) for episode, seq in map(event_of, targets))
    while True:
        wanted = _wanted(named, matching, before, regex=regex, ignore_case=ignore_case)
        store = open_store(url, read_only=dry_run)
        try:
            code = (
                _planned(store, wanted, as_json=as_json) if dry_run else _erased(store, wanted, order, as_json=as_json)
            )
        finally:
            store.close()
        if pause_s is None:
            ctx.exit(code)
        time.sleep(pause_s)


def _pause(every: str | None, *, retention: bool, once: bool) -> float | None:
    if every is None:
        return None
    if not retention or once:
        raise UsageError("--every goes with --retention, and with neither --dry-run nor --json.")
    return seconds_of(every)


def _wanted(
    named: tuple[tuple[str, int | None], ...],
    matching: str | None,
    before: str | None,
    *,
    regex: bool,
    ignore_case: bool,
) -> Wanted:
    if named:
        return Named(named)
    if matching is not None:
        return Matching(Needle(matching, regex, ignore_case, encoded=True))
    if before is not None:
        return Before(_past(before))
    settings = settings_here()
    if not settings.retention.is_set:
        where = settings.path or "there is no spectrace.toml here (`spectrace init` writes one)"
        raise UsageError(f"nothing says how long episodes are kept: {where}. Set `[retention] days = N`.")
    return settings.retention.due(time.time_ns() // 1000)


def _past(text: str) -> int | None:
    """Return the moment; a mistyped year would take every episode, and nothing brings them back."""
    at = moment(text)
    if at is not None and at > time.time_ns() // 1000:
        raise UsageError(
            f"--before {text} is in the future, so it would take every episode that has ended. Give a time that is "
            "past; for all of them, --before 0s, or name them."
        )
    return at


def _planned(store: SqlEventStore, wanted: Wanted, *, as_json: bool) -> int:
    found = plan(store, wanted)
    if as_json:
        items = [*_parts(found.parts, "planned", ()), *_refused(found.refused), _texts(len(found.blobs))]
        document.write("erase", [*items, *_said(found)])
    else:
        _table(found.parts, "would be erased")
        events = sum(part.count for part in found.parts)
        console.line(
            f"Would erase {counted(events, 'event')} of {counted(len(found.parts), 'episode')}, and "
            f"{counted(len(found.blobs), 'text')} that nothing else refers to. Nothing was changed."
        )
        _say(found)
    return 1 if found.refused or found.stays else 0


def _erased(store: SqlEventStore, wanted: Wanted, order: Order, *, as_json: bool) -> int:
    with console.progress() as progress:
        done = erase(store, wanted, order, lambda n, of: progress.show("erase", f"{n} of {counted(of, 'episode')}"))
    if as_json:
        items = [*_parts(done.parts, "erased", done.records), *_refused(done.refused), _texts(done.blobs)]
        document.write("erase", [*items, *_said(done)])
    else:
        _table(done.parts, "erased")
        events = sum(part.count for part in done.parts)
        on_record = f" On record: {', '.join(done.records[:_SHOWN])}." if done.records else ""
        console.line(
            f"Erased {counted(events, 'event')} of {counted(len({one.number for one in done.parts}), 'episode')}, and "
            f"{counted(done.blobs, 'text')} that nothing else refers to.{on_record}"
        )
        _say(done)
    return 1 if done.refused or done.stays or done.problems else 0


def _table(parts: Sequence[Part], result: str) -> None:
    rows: list[list[console.Cell]] = [[(part.episode, "name"), part.count, _ranges(part), part.why] for part in parts]
    columns = (Column("episode"), Column("events", right=True), Column(result, rank=1, flex=30), Column("why", rank=2))
    if rows:
        console.table(columns, rows, "")


def _ranges(part: Part) -> str:
    said = [str(one.first) if one.first == one.last else f"{one.first}-{one.last}" for one in part.events]
    more = f" and {len(said) - _SHOWN} more ranges" if len(said) > _SHOWN else ""
    return ", ".join(said[:_SHOWN]) + more


def _say(found: Plan | Erased) -> None:
    for episode, why in found.refused:
        console.say(f"Refused: {episode}: {why}", style="error")
    for words in found.stays:
        console.say(f"Stays: {words}.", style="warning")
    for words in getattr(found, "problems", ()):
        console.say(f"Not gone yet: {words}.", style="error")
    for words in found.beyond:
        console.say(f"Not reached: {words}.", style="dim")


def _parts(parts: Sequence[Part], result: str, records: Sequence[str]) -> list[dict[str, object]]:
    return [
        {
            "episode": part.episode,
            "result": result,
            "events": part.count,
            "ranges": [[one.first, one.last] for one in part.events],
            "why": part.why,
            "records": list(records),
            "detail": None,
        }
        for part in parts
    ]


def _item(result: str, detail: str | None, episode: str | None = None, events: int | None = None) -> dict[str, object]:
    return {
        "episode": episode,
        "result": result,
        "events": events,
        "ranges": [],
        "why": None,
        "records": [],
        "detail": detail,
    }


def _refused(refused: Sequence[tuple[str, str]]) -> list[dict[str, object]]:
    return [_item("refused", why, episode) for episode, why in refused]


def _texts(number: int) -> dict[str, object]:
    return {**_item("texts", "texts that nothing else refers to"), "events": number}


def _said(found: Plan | Erased) -> list[dict[str, object]]:
    return [
        *(_item("stays", words) for words in found.stays),
        *(_item("not_gone", words) for words in getattr(found, "problems", ())),
        *(_item("not_reached", words) for words in found.beyond),
    ]
