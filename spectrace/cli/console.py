"""What people see: tables, paragraphs, progress. The only module that imports rich.

Recorded text is hostile: every text passes through `visible` and reaches rich as a Text, never as markup. Results go to
stdout, messages and progress to stderr. A table that does not fit leaves out its less important columns and says which.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from traceback import format_exc
from typing import NoReturn, TextIO

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from spectrace.audit.reading import Unread
from spectrace.audit.visible import one_line, visible
from spectrace.cli.messages import without_secrets

_PIPE_WIDTH = 1000
"""Nobody watches a pipe: lines stay whole for grep."""
_RULE_WIDTH = 100
_UNKNOWN = 3
_WORDS = re.compile(r"[^\s-]*-|[^\s-]+\s*|\s+")
"""Pieces of a head between which a line may end."""
_STYLES: Mapping[str, str] = {
    "": "",
    "error": "bold red",
    "warning": "yellow",
    "good": "green",
    "bad": "red",
    "dim": "dim",
    "strong": "bold",
    "name": "cyan",
    "held": "magenta",
}

Span = tuple[str, str] | str
"""Text with a style of `_STYLES`, or plain text."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column. `rank` 0 is always shown; of the others the highest goes first when the width does not suffice.

    One that is empty in every row goes too, if it may. One whose words tell rows apart stays as long as another can go.
    """

    title: str
    rank: int = 0
    right: bool = False
    flex: int = 0
    """Free text: folded over several lines where it must be, to no less than this width."""


Cell = Span | int | None


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Leave it to the command group, which ends every error; rich would exit with 1, our `no`."""
        raise BrokenPipeError


def out() -> Console:
    """Return the console of stdout, as it is now."""
    return _console(sys.stdout)


def err() -> Console:
    """Return the console of stderr, as it is now."""
    return _console(sys.stderr)


def _console(stream: TextIO) -> Console:
    width = None if stream.isatty() or os.environ.get("COLUMNS") else _PIPE_WIDTH
    return _Console(file=stream, width=width, highlight=False, markup=False, emoji=False, soft_wrap=False)


def text(*spans: Span, lines: bool = False) -> Text:
    """Return a rich text of recorded or own words, nothing hidden in it."""
    made = Text(overflow="fold")
    for span in spans:
        words, style = (span, "") if isinstance(span, str) else span
        made.append(visible(words, lines=lines), _STYLES[style])
    return made


def say(words: str, style: str = "", *, lines: bool = False) -> None:
    """Write a paragraph to stderr; with `lines` the breaks in it stand, which are our own: a name may hold some too."""
    console = err()
    words = without_secrets(words)  # an error repeats what a server, a driver or a library said
    shown = words if lines else one_line(words)
    console.print(text((shown, style), lines=lines), soft_wrap=not console.is_terminal)


def lost(found: Sequence[Unread]) -> int:
    """Write to stderr what could not be read; return the exit code that says so (unknown), or 0 where all was read."""
    for detail in dict.fromkeys(one.detail for one in found):
        say(f"Incomplete: {detail}", style="error")
    return _UNKNOWN if found else 0


def losses(found: Sequence[tuple[str, str]]) -> None:
    """Write to stderr what each episode lost: (episode, loss); what several lost is said once, with their number."""
    by_loss: dict[str, list[str]] = {}
    for episode, loss in found:
        by_loss.setdefault(loss, []).append(episode)
    for loss, episodes in by_loss.items():
        who = episodes[0] if len(episodes) == 1 else f"{len(episodes)} episodes"
        say(f"{who}: {loss}", style="warning")


def line(*spans: Span, indent: int = 0, hang: int = 0) -> None:
    """Write a line to stdout, indented; where it is folded, what follows hangs so much further in."""
    _block(text(*spans), indent, hang)


def block(words: str, style: str = "", indent: int = 0) -> None:
    """Write recorded text of several lines to stdout, indented as one block."""
    _block(text((words, style), lines=True), indent)


def _block(words: Text, indent: int, hang: int = 0) -> None:
    console = out()
    parts = words.wrap(console, max(20, console.width - indent - hang), overflow="fold") or [words]
    for number, part in enumerate(parts):
        part.rstrip()
        margin = indent + (hang if number else 0)
        console.print(Text(" " * margin if part else "") + part, soft_wrap=True)


def rule(title: str = "") -> None:
    """Write a dividing line, with a title in it."""
    console = out()
    width = min(console.width, _RULE_WIDTH)
    head = f"── {visible(title)} " if title else ""
    console.print(
        Text(head + "─" * max(0, width - cell_len(head)), _STYLES["strong" if title else "dim"]), soft_wrap=True
    )


def table(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], empty: str) -> None:
    """Write a table to stdout, or say that it is empty; columns that do not fit are left out and named."""
    console = out()
    if not rows:
        console.print(text((empty, "dim")), soft_wrap=True)
        return
    cells = [[_cell(value) for value in row] for row in rows]
    needed = _needed(columns, cells)
    shown = _fitting(columns, cells, needed, _useful(columns, rows), console.width)
    fits = _width(needed, shown) <= console.width
    heads = _heads(columns, needed, shown, console.width)
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    for column, head in zip((columns[index] for index in shown), heads, strict=True):
        # A column that may not wrap is cut by rich where even the rest leaves too little room: then all may.
        made.add_column(
            Text(head),
            justify="right" if column.right else "left",
            no_wrap=fits and not column.flex,
            overflow="fold",
        )
    for row in cells:
        made.add_row(*(row[index] for index in shown))
    with console.capture() as drawn:
        console.print(made)
    for drawn_row in drawn.get().splitlines():
        console.file.write(f"{drawn_row.rstrip()}\n")
    left_out = [columns[index].title for index in _useful(columns, rows) if index not in shown]
    if left_out:
        say(f"Not shown at this width: {', '.join(left_out)}. A wider terminal or --json shows all.", style="dim")


def _useful(columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> list[int]:
    """Return the columns that must be shown, or say something in some row."""
    return [
        index for index, column in enumerate(columns) if not column.rank or any(row[index] is not None for row in rows)
    ]


def _needed(columns: Sequence[Column], cells: Sequence[Sequence[Text]]) -> list[int]:
    """Return the least width of each column; free text can do with less than it has, a head with that of its words."""
    needed = []
    for index, column in enumerate(columns):
        widest = max(row[index].cell_len for row in cells)
        head = max(map(cell_len, _WORDS.findall(column.title)), default=0)
        needed.append(max(head, min(widest, column.flex) if column.flex else widest))
    return needed


def _heads(columns: Sequence[Column], needed: Sequence[int], shown: Sequence[int], width: int) -> list[str]:
    """Return the heads: on one line each from the left, as far as there is room, the others broken between words."""
    room, heads = width - _width(needed, shown), []
    for index in shown:
        title = columns[index].title
        more = cell_len(title) - needed[index]
        if more <= max(room, 0):
            room -= max(more, 0)
            heads.append(title)
        else:
            heads.append(_broken(title, needed[index]))
    return heads


def _broken(title: str, width: int) -> str:
    """Break a head into lines, behind spaces and hyphens only."""
    lines = [""]
    for word in _WORDS.findall(title):
        if lines[-1] and cell_len((lines[-1] + word).rstrip()) > width:
            lines.append("")
        lines[-1] += word
    return "\n".join(one.rstrip() for one in lines)


def _width(needed: Sequence[int], shown: Sequence[int]) -> int:
    return sum(needed[index] + 2 for index in shown) - 2


def _fitting(
    columns: Sequence[Column], cells: Sequence[Sequence[Text]], needed: Sequence[int], useful: Sequence[int], width: int
) -> list[int]:
    shown = list(useful)
    while _width(needed, shown) > width:
        candidates = [index for index in shown if columns[index].rank > 0]
        if not candidates:
            break
        blind = [index for index in candidates if not _tells_apart(columns, cells, shown, index)]
        shown.remove(max(blind or candidates, key=lambda index: (columns[index].rank, index)))
    return shown


def _tells_apart(columns: Sequence[Column], cells: Sequence[Sequence[Text]], shown: Sequence[int], index: int) -> bool:
    """Whether rows differ by the words of a column and by no other words that are shown."""
    if columns[index].right:
        return False
    words = [one for one in shown if not columns[one].right]
    return len({tuple(row[one].plain for one in words) for row in cells}) > len(
        {tuple(row[one].plain for one in words if one != index) for row in cells}
    )


def _cell(value: Cell) -> Text:
    match value:
        case None:
            return Text("-", _STYLES["dim"])
        case int():
            return Text(str(value))
        case str():
            return Text(one_line(value), overflow="fold")
        case (words, style):
            return Text(one_line(words), _STYLES[style], overflow="fold")


def traceback() -> None:
    """Write the current exception's traceback to stderr."""
    say(format_exc(), lines=True)


def iso(microseconds: int | None) -> str | None:
    """Return a time as UTC ISO 8601, to the microsecond."""
    if microseconds is None:
        return None
    return datetime.fromtimestamp(microseconds / 1e6, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def iso_seconds(microseconds: int | None) -> str | None:
    """Return a time as UTC ISO 8601, to the second."""
    whole = iso(microseconds)
    return None if whole is None else f"{whole[:19]}Z"


def status_span(status: str) -> Span:
    """Return a status in its colour."""
    style = {
        "completed": "good",
        "same": "good",
        "consistent": "good",
        "valid": "good",
        "ok": "good",
        "accept": "good",
        "truncated": "warning",
        "interrupted": "warning",
        "cancelled": "warning",
        "running": "name",
        "untestable": "warning",
        "stopped": "warning",
        "ended": "good",
        "unknown": "warning",
        "never": "dim",
    }.get(status, "bad")
    return status, style


def arrival_span(result: str) -> Span:
    """Return what came of an episode from elsewhere, in its colour."""
    return result, {"stored": "good", "grew": "good", "present": "dim"}.get(result, "bad")


class Progress:
    """Lines on stderr that change in place; on a pipe, nothing but what `note` says."""

    def __init__(self, live: Live | None) -> None:
        """Made by `progress`."""
        self._live = live
        self._lines: dict[str, Sequence[Span]] = {}

    def show(self, key: str, *spans: Span) -> None:
        """Show or change the line of a key."""
        self._lines[key] = spans
        self._draw()

    def drop(self, key: str) -> None:
        """Take a line away."""
        self._lines.pop(key, None)
        self._draw()

    def note(self, words: str, style: str = "") -> None:
        """Write a line that stays."""
        if self._live is None:
            say(words, style)
        else:
            self._live.console.print(text((one_line(without_secrets(words)), style)), soft_wrap=False)

    def _draw(self) -> None:
        if self._live is None:
            return
        drawn = Text("\n").join(_clipped(text(*spans), self._live.console.width) for spans in self._lines.values())
        self._live.update(drawn)


def _clipped(words: Text, width: int) -> Text:
    """A line that moves may be cut: what it says is in the log."""
    words.truncate(width - 1, overflow="ellipsis")
    return words


@contextmanager
def progress() -> Iterator[Progress]:
    """Lend a Progress."""
    console = err()
    if not console.is_terminal:
        yield Progress(None)
        return
    with Live(console=console, refresh_per_second=8, transient=True) as live:
        yield Progress(live)
