"""`spectrace audit reconcile`: the log beside the records of the system that its writes went to.

Exit 1 where the two differ; 3 where it cannot be told: only ambiguous ones, an episode that cannot be read, or a
write that was to be settled and could not be.

A period is one of both sides, but a call and its record may lie on its two sides: what lies beyond it is read too, to
find out which belong together, and then only what lies in it is told. That the system has no record is settled as
`never` only of a call that lies, with the window around it, in the time that the records are known to span.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from spectrace.audit.answers import Filters
from spectrace.audit.lines import counted
from spectrace.audit.queries import Reader
from spectrace.audit.reading import Unread
from spectrace.audit.reconciling import RESULTS, Reconciled, Write, reconcile
from spectrace.audit.record_file import RecordFile, read_records
from spectrace.audit.settling import person, settle
from spectrace.cli import console, document
from spectrace.cli.console import Column, iso_seconds
from spectrace.cli.listing import between as period
from spectrace.cli.listing import counts
from spectrace.cli.options import Seconds, db_option, json_option, reading
from spectrace.config import database_url
from spectrace.core.deeds import Deed
from spectrace.core.events import ActRequested
from spectrace.core.types import Effect
from spectrace.errors import SpectraceError, UsageError
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
_OUTCOMES = {"found": "ok", "failed": "error", "not_found": "never"}
"""What may be settled, and as what."""
_DAY_US = 86_400_000_000
_WINDOWS = 8
"""How far beyond a period calls are read: a day, or so many windows."""


@dataclass(frozen=True, slots=True)
class _Span:
    """The time, both ends in it, that the records are known to be of: as was said, else from the first to the last."""

    low: int | None
    high: int | None
    window_us: int

    def has(self, deed: Deed) -> bool:
        """Whether a record of this call would be among them, wherever in its window it lies."""
        if self.low is None or self.high is None or deed.requested_at is None:
            return False
        ended = max(deed.requested_at, deed.completed_at or 0)
        return self.low <= deed.requested_at - self.window_us and ended + self.window_us <= self.high

    def __str__(self) -> str:
        return f"{iso_seconds(self.low) or '?'} to {iso_seconds(self.high) or '?'}"


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
@click.option("--since", metavar="TIME", help="Only what was asked, drafted or recorded at or after it.")
@click.option("--until", metavar="TIME", help="Only what was before this time.")
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
    between, window_us = period(since, until), round(window * 1_000_000)
    file = read_records(path, dict(_mapped(maps)), tool)
    if not file.tools:
        raise UsageError(f"{file.name} has no record: say which tool it is about with --tool NAME.")
    lost: list[Unread] = []
    with reading(db) as reader:
        writes = list(_writes(reader, file, _beyond(between, file, window_us), lost))
        found = [one for one in reconcile(file, writes, window_us) if _within(one.at, between)]
        running = _running(reader, found)
    span = _span(file, between, window_us)
    due = [] if by is None else list(_due(found, file, span, running))
    settled = {} if by is None else _settled(database_url(db), due, f"{file.name} ({file.digest}, {span})", by)
    if as_json:
        document.write("audit-reconcile", (item(one, file, settled) for one in found))
    else:
        show(found, file)
    for (episode, request), seq in settled.items():
        console.say(f"{episode}:{request} is settled (event {seq}).")
    unreadable = console.lost(lost)
    unknown = len(settled) < len(due) or any(one.result == "ambiguous" for one in found)
    ctx.exit(1 if any(one.is_difference for one in found) else _UNKNOWN if unknown else unreadable)


def _mapped(maps: Sequence[str]) -> Iterator[tuple[str, str]]:
    for text in maps:
        column, equals, field = text.rpartition("=")
        if not equals or not column or not field:
            raise UsageError(f"--map takes COLUMN=FIELD, found {text!r}.")
        yield column, field


def _within(at: int | None, between: tuple[int | None, int | None]) -> bool:
    low, high = between
    return at is None or ((low is None or at >= low) and (high is None or at < high))


def _beyond(between: tuple[int | None, int | None], file: RecordFile, window_us: int) -> tuple[int | None, int | None]:
    """Return the time of which calls are read; records without a time are of the period itself."""
    if any(one.at is None for one in file.records):
        return between
    low, high = between
    more = max(_DAY_US, _WINDOWS * window_us)
    return None if low is None else low - more, None if high is None else high + more


def _span(file: RecordFile, between: tuple[int | None, int | None], window_us: int) -> _Span:
    times = [one.at for one in file.records if one.at is not None]
    low = between[0] if between[0] is not None else min(times, default=None)
    return _Span(low, between[1] if between[1] is not None else max(times, default=None), window_us)


def _running(reader: Reader, found: Sequence[Reconciled]) -> set[str]:
    """Return the episodes that are still being written, of those whose calls may be settled."""
    names = {one.deed.episode for one in found if one.deed is not None and one.result in _OUTCOMES}
    return {name for name in names if reader.store.row(name).state == "running"}


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


def _due(
    found: Sequence[Reconciled], file: RecordFile, span: _Span, running: Collection[str]
) -> Iterator[tuple[Deed, Reconciled]]:
    """Yield what may be settled; that nothing is recorded of a time that the records do not span says nothing."""
    for one in found:
        deed = one.deed
        if deed is None or deed.requested_at is None or one.result not in _OUTCOMES:
            continue
        if deed.episode in running:
            why = "its episode is still being written, so it may be answered yet."
        elif one.result == "not_found" and not span.has(deed):
            why = (
                f"it was asked outside the time that {file.name} spans ({span}), or nearer to its end than --window; "
                "--since and --until say what it does."
            )
        else:
            yield deed, one
            continue
        console.say(f"{deed.episode}:{deed.seq} is not settled: {why}", style="warning")


def _settled(url: str, due: Sequence[tuple[Deed, Reconciled]], records: str, by: str) -> dict[tuple[str, int], int]:
    """Add a fact for each write that the log knew nothing of; return (episode, act.requested) -> the fact's number.

    What cannot be settled is said, and the others are: each is a fact of its own.
    """
    if not due:
        return {}
    done: dict[tuple[str, int], int] = {}
    store = open_store(url)
    try:
        for deed, one in due:
            outcome, evidence = _OUTCOMES[one.result], f"{records}: {one.detail}"
            try:
                said = settle(store, deed.episode, deed.seq, outcome, evidence=evidence, by=by)
            except SpectraceError as error:
                console.say(f"{deed.episode}:{deed.seq} is not settled: {error}", style="warning")
            else:
                done[deed.episode, deed.seq] = said.seq
    finally:
        store.close()
    return done


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
    style = "bad" if one.is_difference else "good" if one.result == "matched" else "warning"
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
        "differs": one.differs,
        "settled_seq": settled.get((deed.episode, deed.seq)) if deed is not None else None,
        "records": file.digest,
    }
