"""`reverify --verifier labels:FILE --template`: a CSV of the selected reviews for people to fill in.

Blind: it holds what the first reviewer saw, neither its verdict nor what came of it. Recorded text is literal: nothing
hidden in it, no cell is a formula, and one longer than a spreadsheet's cell is cut in the middle and says so. Read
back by `models.label_file`.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from spectrace.audit.queries import Reader
from spectrace.audit.visible import visible
from spectrace.cli.grids import no_formula
from spectrace.core.fold import fold
from spectrace.core.prompts import written
from spectrace.core.rereviews import selected
from spectrace.core.review_request import ReviewRequest, review_requests
from spectrace.core.setup import setup_of
from spectrace.core.types import Message, Step
from spectrace.errors import UsageError

_COLUMNS = (
    "episode",
    "verdict_seq",
    "segment",
    "task",
    "context",
    "steps",
    "decision",
    "accepted",
    "category",
    "reason",
    "by",
)
_CELL = 30_000
"""Spreadsheets hold 32,767 characters in a cell, and lose the rest."""


def selected_requests(reader: Reader, episodes: Sequence[str], *, only_rejected: bool) -> Iterator[ReviewRequest]:
    """Yield the selected reviews of some episodes, one episode at a time."""
    for name in episodes:
        episode = fold(reader.events(name))
        reviews = selected(episode, only_rejected=only_rejected)
        yield from review_requests(episode.id, setup_of(episode.started), reviews)


def write_template(file: str, requests: Iterable[ReviewRequest]) -> int:
    """Write a row for each review and return how many; refuse a file that is there, which may hold labels."""
    path = Path(file).expanduser()
    rows = 0
    try:
        with path.open("x", encoding="utf-8-sig", newline="") as stream:  # the mark tells Excel that this is UTF-8
            writer = csv.writer(stream)
            writer.writerow(_COLUMNS)
            for request in requests:
                writer.writerow(_row(request))
                rows += 1
    except FileExistsError:
        raise UsageError(
            f"{file} is there already, and may hold labels: name another file, or leave out --template to judge by it."
        ) from None
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}.") from None
    return rows


def _row(request: ReviewRequest) -> list[str | int | None]:
    context = "\n".join(["POLICY", request.instructions, "", "HISTORY", *map(_message, request.history)])
    steps = "\n".join(_step(number, step) for number, step in enumerate(request.steps, 1))
    texts = [_cell(text) for text in (request.episode, request.task.id, context, steps)]
    return [texts[0], request.verdict_seq, request.segment, *texts[1:], "", None, "", "", ""]


def _message(message: Message) -> str:
    calls = [f"{call.name}({call.arguments})" for call in message.calls]
    return f"{message.role}: {' '.join([*([message.content] if message.content else []), *calls])}"


def _step(number: int, step: Step) -> str:
    if step.observation is None:
        return f"{number}. {written(step.action)}\n   NOT EXECUTED: this is what is to be decided"
    failed = "ERROR: " if step.observation.error else ""
    return f"{number}. {written(step.action)}\n   -> {failed}{step.observation.content}"


def _cell(text: str) -> str:
    shown = no_formula(visible(text, lines=True))
    if len(shown) <= _CELL:
        return shown
    return f"{shown[: _CELL // 2]}\n[cut: {len(shown) - _CELL} characters not shown]\n{shown[-_CELL // 2 :]}"
