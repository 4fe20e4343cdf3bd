"""Reading a system's own records, for `reconciling`: CSV with a header, one thing that the system did a row.

| field       |                                                                                             |
|-------------|---------------------------------------------------------------------------------------------|
| `tool`      | the tool's name; or one tool for the whole file                                             |
| `arguments` | the call's arguments as JSON text, or                                                       |
| `arg.NAME`  | one argument, as JSON or as plain text; every row of the file tells the same ones           |
| `key`       | the idempotency key that the call carried                                                   |
| `at`        | when: ISO 8601, UTC where it names no zone                                                  |
| `outcome`   | ok, or error for what was tried and not done; none is ok                                    |
| `id`        | the system's own name for it, for people                                                    |

Other columns are not read; a column of another name is taken for a field by `--map COLUMN=FIELD`. UTF-8; a byte order
mark, CRLF and blank lines are fine. The file is somebody else's: every error names its line, and nothing in it is run.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from spectrace.audit.repeats import key_of
from spectrace.errors import UsageError

FIELDS = ("tool", "arguments", "key", "at", "outcome", "id")
ARGUMENT = "arg."
_MAX_BYTES = 1 << 28
_MAX_CELL = 1 << 20
_OUTCOMES = ("ok", "error")
_FORMULA = re.compile(r"'(?=\s*[=+\-@])")
"""What a spreadsheet, or our own CSV, puts before a text that is no formula."""


@dataclass(frozen=True, slots=True)
class Record:
    """One row."""

    line: int
    """Where it begins in its file, from 1."""
    tool: str
    arguments: str | None
    """Canonical, see `repeats.key_of`."""
    given: tuple[tuple[str, str], ...]
    """Single arguments by name, as they stand in the file."""
    key: str | None
    at: int | None
    done: bool
    id: str | None

    @property
    def where(self) -> str:
        """The row in words."""
        return f"line {self.line}" + (f" (id {self.id})" if self.id else "")


@dataclass(frozen=True, slots=True)
class RecordFile:
    """A file of records; the digest is that of its bytes."""

    name: str
    digest: str
    records: tuple[Record, ...]
    tools: tuple[str, ...]
    """What it is about."""


def read_records(path: Path, mapped: Mapping[str, str], tool: str | None = None) -> RecordFile:
    """Read a file; raise UsageError, with the line, for what cannot be read as such a one."""
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"the records {path} cannot be read: {error.strerror}.") from None
    if len(data) > _MAX_BYTES:
        raise UsageError(f"{path.name} has more than {_MAX_BYTES >> 20} MiB: reconcile a shorter time at once.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{path.name}, line {line}: it is not UTF-8 (byte {error.start}); save it as UTF-8.") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise UsageError(
            f"{path.name}, line {line}: it holds a NUL character, so it is no CSV text (UTF-16, or binary)."
        )
    records = tuple(_records(path.name, text, mapped, tool))
    _require_alike(path.name, records)
    tools = tuple(dict.fromkeys([*([tool] if tool is not None else []), *(one.tool for one in records)]))
    return RecordFile(path.name, f"sha256:{sha256(data).hexdigest()}", records, tools)


def _records(name: str, text: str, mapped: Mapping[str, str], tool: str | None) -> Iterator[Record]:
    rows = _rows(name, text)
    line, header = next(rows, (1, []))
    fields = _fields(name, line, header, mapped, tool)
    for line, row in rows:
        if len(row) != len(header):
            raise UsageError(f"{name}, line {line}: it has {len(row)} cells, the header has {len(header)}.")
        cells = {field: cell for field, cell in zip(fields, row, strict=True) if field is not None and cell.strip()}
        yield _record(f"{name}, line {line}", line, cells, tool)


def _rows(name: str, text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each row that is not blank with the line that it begins in."""
    reader, line = csv.reader(io.StringIO(text, newline=""), strict=True), 1
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise UsageError(f"{name}, line {line}: it is not well-formed CSV: {error}.") from None
        if row is None:
            return
        if any(len(cell) > _MAX_CELL for cell in row):
            raise UsageError(f"{name}, line {line}: a cell has more than {_MAX_CELL >> 20} Mi characters.")
        if any(cell.strip() for cell in row):
            yield line, row
        line = reader.line_num + 1


def _fields(
    name: str, line: int, header: Sequence[str], mapped: Mapping[str, str], tool: str | None
) -> list[str | None]:
    """Return the field of each column; None for one that is not read."""
    columns = [_unquoted(cell).strip() for cell in header]
    twice = [column for column in dict.fromkeys(columns) if columns.count(column) > 1]
    if twice:
        raise UsageError(f"{name}, line {line}: the header names {twice[0]!r} twice.")
    for column, field in mapped.items():
        if column not in columns:
            raise UsageError(f"{name}, line {line}: --map names the column {column!r}; there are {_named(columns)}.")
        if not _is_field(field):
            raise UsageError(f"--map {column}={field}: the fields are {', '.join(FIELDS)} and {ARGUMENT}NAME.")
    found = [mapped.get(column, column if _is_field(column) else "") for column in columns]
    again = [field for field in dict.fromkeys(found) if field and found.count(field) > 1]
    if again:
        raise UsageError(f"{name}, line {line}: two columns are the field {again[0]!r}.")
    if "tool" not in found and tool is None:
        raise UsageError(
            f"{name}, line {line}: no column is the tool; there are {_named(columns)}. Name it with --map COLUMN=tool, "
            "or, where all records are of one, with --tool NAME."
        )
    if not any(field in {"arguments", "key"} or field.startswith(ARGUMENT) for field in found):
        raise UsageError(
            f"{name}, line {line}: no column says which call it was: arguments, {ARGUMENT}NAME or key; there are "
            f"{_named(columns)}. Name it with --map COLUMN=FIELD."
        )
    return [field or None for field in found]


def _is_field(field: str) -> bool:
    return field in FIELDS or (field.startswith(ARGUMENT) and len(field) > len(ARGUMENT))


def _named(columns: Sequence[str]) -> str:
    return ", ".join(repr(column) for column in columns) or "none"


def _record(where: str, line: int, cells: Mapping[str, str], tool: str | None) -> Record:
    of = _unquoted(cells["tool"]).strip() if "tool" in cells else tool
    if of is None:
        raise UsageError(f"{where}: it names no tool.")
    given = tuple((field, _unquoted(cells[field])) for field in cells if field.startswith(ARGUMENT))
    if not given and "arguments" not in cells and "key" not in cells:
        raise UsageError(f"{where}: it does not say which call it was: its arguments and key are empty.")
    outcome = cells.get("outcome", "ok").strip().lower()
    if outcome not in _OUTCOMES:
        raise UsageError(f"{where}: an outcome is {' or '.join(_OUTCOMES)}, found {cells['outcome']!r}.")
    return Record(
        line=line,
        tool=of,
        arguments=key_of(cells["arguments"]) if "arguments" in cells else None,
        given=tuple((field.removeprefix(ARGUMENT), cell) for field, cell in given),
        key=_unquoted(cells["key"]).strip() if "key" in cells else None,
        at=_moment(where, cells["at"]) if "at" in cells else None,
        done=outcome == "ok",
        id=cells.get("id"),
    )


def _require_alike(name: str, records: Sequence[Record]) -> None:
    """Refuse rows of a tool that tell different things of it: one write could then fit two of them, each in part."""
    first: dict[str, Record] = {}
    for one in records:
        other = first.setdefault(one.tool, one)
        if _told(one) != _told(other):
            raise UsageError(
                f"{name}, line {one.line}: it tells {_told(one)} of {one.tool}, line {other.line} {_told(other)}: the "
                "records of a tool must tell the same."
            )


def _told(one: Record) -> str:
    told = [*(["key"] if one.key is not None else []), *(["arguments"] if one.arguments is not None else [])]
    return ", ".join([*told, *(f"{ARGUMENT}{field}" for field, _ in one.given)])


def _moment(where: str, text: str) -> int:
    try:
        parsed = datetime.fromisoformat(_unquoted(text).strip())
        known = parsed if parsed.tzinfo is not None else parsed.replace(tzinfo=UTC)
        return round(known.timestamp() * 1_000_000)
    except (ValueError, OverflowError):
        raise UsageError(f"{where}: a time is ISO 8601, such as 2026-11-30T12:00:00Z, found {text[:40]!r}.") from None


def _unquoted(text: str) -> str:
    return _FORMULA.sub("", text, count=1) if _FORMULA.match(text) else text
