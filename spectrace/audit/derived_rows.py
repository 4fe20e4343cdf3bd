"""The table of derived reviews in words: acceptance by held action and by reward. Counterpart of `derived`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from spectrace.audit.agreement_figures import Figure
from spectrace.audit.derived import Cell, DerivedReview, Held, cells, gold_less_other
from spectrace.stats.bootstrap import TaskBootstrap
from spectrace.stats.estimates import Estimate

HELD = {
    "gold": "gold write",
    "other": "other write",
    "finish": "finish",
    "unknown": "write (gold unknown)",
    None: "all",
}
GRADES = {"passed": "passed", "failed": "failed", "ungraded": "no grade", None: "all"}
COLUMNS = ("held action", "episode", "n", "accepted", "95 %", "tasks", "rejected", "left out")
_NONE = "none: "


@dataclass(frozen=True, slots=True)
class DerivedRow:
    """A line of the table, as text."""

    held: str
    grade: str
    n: int
    accepted: str | None
    interval: str | None
    tasks: int
    rejected: str
    left_out: str


def derived_rows(reviews: Sequence[DerivedReview]) -> list[DerivedRow]:
    """Return the rows of the table."""
    anchored = any(one.held in {"gold", "other"} for one in reviews)
    return [_row(one, held_words(one.held, anchored=anchored)) for one in cells(reviews)]


def held_words(held: Held | None, *, anchored: bool) -> str:
    """Return a row's name; where no task names gold actions, a write is no more than that."""
    return "write" if held == "unknown" and not anchored else HELD[held]


def _row(cell: Cell, held: str) -> DerivedRow:
    found = cell.accepted
    return DerivedRow(
        held,
        GRADES[cell.grade],
        cell.n,
        None if found.value is None else f"{100 * found.value:.1f} %",
        None if found.low is None or found.high is None else f"[{100 * found.low:.1f}, {100 * found.high:.1f}]",
        found.clusters,
        _counts(cell.rejected),
        _counts(cell.left_out),
    )


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in counts.items())


def derived_notes(reviews: Sequence[DerivedReview], bootstrap: TaskBootstrap) -> Iterator[str]:
    """Yield the sentences under the table."""
    found = cells(reviews)
    for method in dict.fromkeys(one.accepted.method for one in found):
        if not method.startswith(_NONE):
            yield f"Interval of accepted: {method}."
    without = [one for one in found if one.accepted.value is not None and one.accepted.method.startswith(_NONE)]
    for reason in dict.fromkeys(one.accepted.method for one in without):
        yield f"No interval{'' if len(without) == len(found) else ' where none stands'}: {reason.removeprefix(_NONE)}."
    apart = gold_less_other(reviews, bootstrap)
    if apart.value is not None:
        spans = "" if apart.low is None or apart.high is None else f" [{100 * apart.low:.1f}, {100 * apart.high:.1f}]"
        yield (
            f"Gold writes less other writes, over the {apart.clusters} tasks that have both: "
            f"{100 * apart.value:.1f}{spans} points ({apart.method.removeprefix(_NONE)})."
        )
    if any(one.held in {"gold", "other"} for one in reviews):
        yield "A gold write is one that the task's author lists; another one may be right as well."
    else:
        yield "These tasks record no gold actions: acceptance is told by reward alone."


def derived_figures(reviews: Sequence[DerivedReview], bootstrap: TaskBootstrap) -> Iterator[Figure]:
    """Yield every cell as figures: `derived_gold_passed`, and each category `derived_gold_passed_rejected_unsafe`."""
    for cell in cells(reviews) if reviews else ():
        name = f"derived_{cell.held or 'all'}_{cell.grade or 'all'}"
        yield _count(name, "n", cell.n, cell)
        yield Figure(metric=name, title="", estimate=cell.accepted)
        for category, n in cell.rejected.items():
            yield _count(name, f"rejected_{category}", n, cell)
        for kind, n in cell.left_out.items():
            yield _count(name, f"left_out_{kind}", n, cell)
    apart = gold_less_other(reviews, bootstrap)
    if apart.clusters:
        yield Figure(metric="derived_gold_less_other", title="", estimate=apart, form="points")


def _count(name: str, what: str, value: int, cell: Cell) -> Figure:
    found = Estimate(value=value, n=cell.n, clusters=cell.accepted.clusters, method="count")
    return Figure(metric=f"{name}_{what}", title="", estimate=found, form="count")
