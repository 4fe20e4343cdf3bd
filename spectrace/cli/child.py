"""How a child episode that ran live is told, by `fork` and by `resume`: its item, and its row of a table."""

from collections.abc import Mapping

from spectrace.cli import console
from spectrace.cli.console import Cell, Column, status_span
from spectrace.runs.live import Recorded

_COLUMNS = (
    Column("status"),
    Column("reason", rank=2),
    Column("reward", right=True),
    Column("steps", right=True, rank=4),
    Column("writes", right=True, rank=1),
)
Item = Mapping[str, object]


def outcome_of(child: Recorded) -> dict[str, object]:
    """Return what a JSON item says of how the child came out."""
    return {
        "task": child.task,
        "protocol": child.protocol,
        "status": child.outcome.status,
        "end_reason": child.outcome.reason,
        "reward": child.outcome.reward,
        "steps": child.totals.steps,
        "writes": child.totals.writes,
        "rejections": child.totals.rejections,
    }


def show(found: Item, parent: str, column: Column, cell: Cell) -> None:
    """Write an item as a table of one row; `parent` titles where it comes from, `column` and `cell` what is its own."""
    words = {name: None if value is None else str(value) for name, value in found.items()}
    row: list[Cell] = [
        (str(found["episode"]), "name"),
        (f"{found['parent']}:{found['seq']}", "name"),
        cell,
        status_span(str(found["status"])),
        words["end_reason"],
        words["reward"],
        words["steps"],
        words["writes"],
    ]
    console.table((Column("episode"), Column(parent), column, *_COLUMNS), [row], "")
