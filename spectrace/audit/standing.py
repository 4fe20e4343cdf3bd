"""Which episodes stand for their cells where a cell was run more than once. Shared by `columns` and `costing`.

Of several episodes of one cell the first with a score stands, and the others are superseded: counted, never chosen
from. Without a score the last one stands.
"""

from collections.abc import Callable, Hashable, Sequence
from decimal import Decimal, InvalidOperation
from typing import TypeVar

from spectrace.core.endings import score

T = TypeVar("T")


def standing(episodes: Sequence[T], cell: Callable[[T], Hashable], scored: Callable[[T], float | None]) -> list[T]:
    """Return the episodes that stand for their cells, cell by cell; the episodes come oldest first."""
    cells: dict[Hashable, list[T]] = {}
    for one in episodes:
        cells.setdefault(cell(one), []).append(one)
    return [next((one for one in each if scored(one) is not None), each[-1]) for each in cells.values()]


def score_number(status: str, reason: str | None, reward: str | None) -> float | None:
    """Return the reward that counts; None where there is none: a log from elsewhere may hold one that is no number."""
    try:
        number = Decimal(score(status, reason, reward) or "nan")
    except InvalidOperation:
        return None
    return float(number) if number.is_finite() else None
