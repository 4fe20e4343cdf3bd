"""`spectrace audit reconcile`: the log beside the records of the system that its writes went to.

Exit 1 where the two differ; 3 where it cannot be told: only ambiguous ones, or an episode that cannot be read.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from spectrace.audit.answers import Filters
from spectrace.audit.lines import counted
from spectrace.audit.queries import Reader
from spectrace.audit.reading import Unread
from spectrace.audit.reconciling import DIFFER, RESULTS, Reconciled, Write, reconcile
from spectrace.audit.record_file import RecordFile, read_records
from spectrace.audit.settling import person, settle
from spectrace.cli import console, document
from spectrace.cli.console import Column, iso_seconds
from spectrace.cli.listing import counts
from spectrace.cli.options import Seconds, db_option, json_option, moment, reading
from spectrace.config import database_url
from spectrace.core.deeds import Deed
from spectrace.core.events import ActRequested
from spectrace.core.types import Effect
from spectrace.errors import UsageError
from spectrace.store.sql import open_store

_COLUMNS = (
    Column("result"),
    Column("event"),
    Column("line", right=True),
    Column("time (UTC)", rank=2),
    Column("action", flex=25),
    Column("detail", flex=25),
)
_UNKNOWN = 3
_Due = tuple[str, int, str, str]
"""Episode, act.requested, what became of it, how that is known."""


@click.command("reconcile")
@click.option("--with", "path", required=True, type=click.Path(path_type=Path), metavar="CSV", help="The records.")
@click.option(
    "--map", "maps", multiple=True, metavar="COLUMN=FIELD", help="Take a column for a field; may be repeated."
)
@click.option("--tool", metavar="TOOL", help="The tool of all records, where no column names it.")
@click.option(
    "--window",
    type=Seconds(),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How far a record's time may lie from the call's.",
)
@click.option("--since", metavar="TIME", help="Only writes asked, or drafted, and records at or after this time.")
@click.option("--until", metavar="TIME", help="Only those before this time.")
@click.option(
    "--settle", "settles", is_flag=True, help="Add what was found, and what was not, as outcome.settled facts."
)
@click.option("--by", metavar="NAME", help="Who says so; with --settle.")
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    path: Path,
    maps: Sequence[str],
    tool: str | None,
    window: float,
    since: str | None,
    until: str | None,
    by: str | None,
    db: str | None,
    *,
    settles: bool,
    as_json: bool,
) -> None:
    """Compare the writes of the log with a system's own records (CSV: tool, arguments or arg.NAME or key, at, id)."""
    if settles != (by is not None):
        raise UsageError("--settle and --by NAME go together: a settled outcome names who says so.")
    if by is not None:
        person(by)  # before anything is read
    between = moment(since), moment(until)
    file = _within(read_records(path, dict(_mapped(maps)), tool), between)
    if not file.tools:
        raise UsageError(f"{file.name} has no record: say which tool it is about with --tool NAME.")
    lost: list[Unread] = []
    with reading(db) as reader:
        writes = list(_writes(reader, file, between, lost))
        found = list(reconcile(file, writes, round(window * 1_000_000)))
    settled = {} if by is None else _settled(database_url(db), list(_due(found, file, between)), file, by)
    if as_json:
        document.write("audit-reconcile", (item(one, file, settled) for one in found))
    else:
        show(found, file)
    for (episode, request), seq in settled.items():
        console.say(f"{episode}:{request} is settled (event {seq}).")
    unreadable, results = console.lost(lost), {one.result for one in found}
    ctx.exit(1 if results & DIFFER else _UNKNOWN if "ambiguous" in results else unreadable)


def _mapped(maps: Sequence[str]) -> Iterator[tuple[str, str]]:
    for text in maps:
        column, equals, field = text.rpartition("=")
        if not equals or not column or not field:
            raise UsageError(f"--map takes COLUMN=FIELD, found {text!r}.")
        yield column, field


def _within(file: RecordFile, between: tuple[int | None, int | None]) -> RecordFile:
    low, high = between
    kept = tuple(
        one
        for one in file.records
        if one.at is None or ((low is None or one.at >= low) and (high is None or one.at < high))
    )
    return RecordFile(file.name, file.digest, kept, file.tools)


def _writes(
    reader: Reader, file: RecordFile, between: tuple[int | None, int | None], lost: list[Unread]
) -> Iterator[Write]:
    """Yield the writes of the tools that the file is about; a dry run's are none."""
    keyed = any(one.key is not None for one in file.records)
    filters = Filters(tool=file.tools, until=between[1], sort="started_at")
    for deed in reader.actions(filters, between=between, lost=lost):
        if not deed.simulated and (deed.effect_declared in {Effect.WRITE, ""} or deed.state_changed):
            yield Write(deed, _key(reader, deed) if keyed else None)


def _key(reader: Reader, deed: Deed) -> str | None:
    if deed.requested_at is None:
        return None
    asked = next(reader.store.read(deed.episode, deed.seq, deed.seq + 1, prompts=False), None)
    return asked.body.idempotency_key if asked is not None and isinstance(asked.body, ActRequested) else None


def _due(found: Sequence[Reconciled], file: RecordFile, between: tuple[int | None, int | None]) -> Iterator[_Due]:
    """Yield what may be settled; that nothing is recorded of a time that the records do not span says nothing."""
    times = [one.at for one in file.records if one.at is not None]
    low = between[0] if between[0] is not None else min(times, default=None)
    high = between[1] if between[1] is not None else max(times, default=None)
    for one in found:
        deed = one.deed
        if deed is None or deed.requested_at is None or one.result not in {"found", "not_found"}:
            continue
        outside = (low is not None and deed.requested_at < low) or (high is not None and deed.requested_at > high)
        if one.result == "not_found" and outside:
            console.say(
                f"{deed.episode}:{deed.seq} is not settled: it was asked outside the time that {file.name} spans; "
                "--since and --until say what it does.",
                style="warning",
            )
            continue
        yield deed.episode, deed.seq, "ok" if one.result == "found" else "never", one.detail


def _settled(url: str, due: Sequence[_Due], file: RecordFile, by: str) -> dict[tuple[str, int], int]:
    """Add a fact for each write that the log knew nothing of; return (episode, act.requested) -> the fact's number."""
    if not due:
        return {}
    store = open_store(url)
    try:
        return {
            (episode, seq): settle(
                store, episode, seq, outcome, evidence=f"{file.name} ({file.digest}): {detail}", by=by
            ).seq
            for episode, seq, outcome, detail in due
        }
    finally:
        store.close()


def show(found: Sequence[Reconciled], file: RecordFile) -> None:
    """Write the pairs as a table, the gravest first, and below it how many there are of each result."""
    order = {result: place for place, result in enumerate(RESULTS)}
    rows = [_row(one) for one in sorted(found, key=lambda one: order[one.result])]
    tools = ", ".join(file.tools)
    console.table(_COLUMNS, rows, f"Neither the log nor {file.name} has a write of {tools}.")
    counts((one.result for one in found), RESULTS)
    console.say(
        f"Compared: {tools}, {counted(len(file.records), 'record')} of {file.name} ({file.digest}).", style="dim"
    )


def _row(one: Reconciled) -> list[console.Cell]:
    deed, record = one.deed, one.record
    style = "bad" if one.result in DIFFER else "good" if one.result == "matched" else "warning"
    at = (deed.requested_at or deed.drafted_at) if deed is not None else record.at if record is not None else None
    return [
        (one.result, style),
        (f"{deed.episode}:{deed.seq}", "name") if deed is not None else None,
        record.line if record is not None else None,
        iso_seconds(at),
        f"{deed.tool} {deed.arguments}" if deed is not None else record.tool if record is not None else None,
        one.detail,
    ]


def item(one: Reconciled, file: RecordFile, settled: dict[tuple[str, int], int]) -> dict[str, object]:
    """Return the JSON item."""
    deed, record = one.deed, one.record
    return {
        "result": one.result,
        "episode": deed.episode if deed is not None else None,
        "seq": deed.seq if deed is not None else None,
        "kind": one.result,
        "tool": deed.tool if deed is not None else record.tool if record is not None else None,
        "arguments": deed.arguments if deed is not None else None,
        "outcome": deed.outcome if deed is not None else None,
        "line": record.line if record is not None else None,
        "id": record.id if record is not None else None,
        "detail": one.detail,
        "settled_seq": settled.get((deed.episode, deed.seq)) if deed is not None else None,
        "records": file.digest,
    }
