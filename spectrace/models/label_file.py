"""Reading a file of people's labels: CSV with a header, or JSON Lines where the name ends in .jsonl or .ndjson.

One label a row; an empty cell, null and an absent member are the same, and so are `2`, `"2"` and `2.0` (as pandas
writes it) where a number is meant.

| column        |                                                                                              |
|---------------|----------------------------------------------------------------------------------------------|
| `episode`     | its id, or the beginning of it that no other episode of the selection has                    |
| `verdict_seq` | event number of the recorded verdict, or                                                     |
| `segment`     | number of the segment; the only one where segments are derived; both must mean the same       |
| `decision`    | accept or reject                                                                             |
| `accepted`    | how many steps stand, from the first on; a reject of several steps needs it                  |
| `category`    | of a reject: wrong_tool, unsafe, ... [other]                                                 |
| `reason`      | of a reject, in words                                                                        |
| `by`          | who says so                                                                                  |
| `task`, `context`, `steps`, `note` | for people: not read                                                    |

A row without decision and accepted is not labelled yet. UTF-8; a byte order mark, CRLF and blank lines are fine. Every
error names the file and the line; another column is refused, because a misspelt `acepted` must not pass for nothing.
"""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from spectrace.core.foreign_json import Unreadable, members
from spectrace.core.setup import CATEGORIES
from spectrace.errors import UsageError

COLUMNS = ("episode", "verdict_seq", "segment", "decision", "accepted", "category", "reason", "by")
FOR_PEOPLE = ("task", "context", "steps", "note")
_DECISIONS = ("accept", "reject")
_WHOLE = re.compile(r"([0-9]{1,7})(?:\.0+)?")
_FORMULA = ("=", "+", "-", "@")


@dataclass(frozen=True, slots=True)
class Label:
    """What somebody says of one review."""

    line: int
    """Where it begins in its file, from 1."""
    episode: str
    verdict_seq: int | None
    segment: int | None
    decision: str | None
    accepted: int | None
    category: str | None = None
    reason: str | None = None
    by: str | None = None

    def stands(self, drafted: int) -> int | None:
        """Return how many of so many steps it lets stand; None where it cannot be meant of so many."""
        if self.accepted is None:
            whole = self.decision == "accept"
            return drafted if whole else 0 if drafted == 1 else None
        fits = self.accepted <= drafted and self.decision in {
            None,
            "accept" if self.accepted == drafted else "reject",
        }
        return self.accepted if fits else None


def read_labels(text: str, name: str) -> list[Label]:
    """Return the labels of a file's text, in order; rows that are not labelled yet are left out."""
    text = text.removeprefix("\ufeff")
    rows = _json_rows if name.lower().endswith((".jsonl", ".ndjson")) else _csv_rows
    read = [_label(name, line, row) for line, row in rows(text, name)]
    return [label for label in read if label is not None]


def _json_rows(text: str, name: str) -> Iterator[tuple[int, dict[str, str]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            found = members(line, strict=True)
        except (Unreadable, RecursionError) as error:
            raise UsageError(f"{name}, line {number}: {error}.") from None
        yield number, {key: _plain(name, number, key, value) for key, value in found.items()}


def _plain(name: str, line: int, key: str, value: str) -> str:
    """Return a member as a cell would hold it."""
    if value == "null" or key in FOR_PEOPLE:
        return ""
    read = json.loads(value) if value.startswith('"') else value
    if value[0] in "{[tf":
        raise UsageError(f"{name}, line {line}: {key} is a text or a number, found {value[:40]}.")
    return str(read)


def _csv_rows(text: str, name: str) -> Iterator[tuple[int, dict[str, str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    begins = 1
    try:
        for cells in reader:
            line, begins = begins, reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = [cell.strip() for cell in cells]
                _check_header(name, line, header)
                continue
            if len(cells) > len(header):
                raise UsageError(f"{name}, line {line}: {len(cells)} cells under a header of {len(header)}.")
            yield line, dict(zip(header, cells, strict=False))
    except csv.Error as error:
        raise UsageError(f"{name}, line {begins}: this is no CSV: {error}.") from None
    if header is None:
        raise UsageError(f"{name} is empty: expected a header with {', '.join(COLUMNS)}.")


def _check_header(name: str, line: int, header: list[str]) -> None:
    twice = next((column for column in header if column and header.count(column) > 1), None)
    if twice is not None:
        raise UsageError(f"{name}, line {line}: two columns are called {twice!r}.")
    if "episode" not in header:
        found = ",".join(header)[:80]
        raise UsageError(
            f"{name}, line {line}: expected a header with the columns {', '.join(COLUMNS)}, separated by commas; "
            f"found {found!r}."
        )


def _label(name: str, line: int, row: Mapping[str, str]) -> Label | None:
    where = f"{name}, line {line}"
    unknown = next((key for key, cell in row.items() if key not in {*COLUMNS, *FOR_PEOPLE} and cell.strip()), None)
    if unknown is not None:
        known = ", ".join((*COLUMNS, *FOR_PEOPLE))
        raise UsageError(f"{where}: {unknown!r} is not known. Columns are {known}.")
    cells = {key: cell.strip() for key, cell in row.items()}
    decision, accepted = cells.get("decision", "").lower(), _number(where, cells, "accepted")
    if not decision and accepted is None:
        return None
    if decision not in {"", *_DECISIONS}:
        raise UsageError(f"{where}: decision is accept or reject, found {decision[:40]!r}.")
    category = cells.get("category") or None
    if category is not None and category not in CATEGORIES:
        raise UsageError(f"{where}: category is one of {', '.join(CATEGORIES)}, found {category[:40]!r}.")
    if decision == "accept" and category is not None:
        raise UsageError(f"{where}: an accept has no category, found {category!r}. Which one is meant?")
    label = Label(
        line=line,
        episode=_unquoted(cells.get("episode", "")),
        verdict_seq=_number(where, cells, "verdict_seq"),
        segment=_number(where, cells, "segment"),
        decision=decision or None,
        accepted=accepted,
        category=category,
        reason=_unquoted(cells.get("reason", "")) or None,
        by=_unquoted(cells.get("by", "")) or None,
    )
    if not label.episode:
        raise UsageError(f"{where}: a label names its episode, and this one has none.")
    if label.verdict_seq is None and label.segment is None:
        raise UsageError(f"{where}: a label names its review by verdict_seq or segment, and this one has neither.")
    return label


def _number(where: str, cells: Mapping[str, str], column: str) -> int | None:
    text = cells.get(column, "")
    if not text:
        return None
    whole = _WHOLE.fullmatch(text)
    if whole is None:
        raise UsageError(f"{where}: {column} is a whole number, 0 or more, found {text[:40]!r}.")
    return int(whole[1])


def _unquoted(text: str) -> str:
    """Take off the apostrophe that a template puts before what a spreadsheet would take for a formula."""
    return text[1:] if text.startswith("'") and text[1:].lstrip().startswith(_FORMULA) else text
