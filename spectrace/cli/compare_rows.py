"""The rows of a comparison, as people read them: which metrics, under which titles, and why some say nothing.

Counterpart of `compare`, which writes them as a table, Markdown or LaTeX; csv and JSON have every metric instead.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from spectrace.audit.comparison import BEST_CASE
from spectrace.stats.estimates import Estimate

Estimates = Mapping[tuple[str, str], Estimate]
"""By (label of a column, metric)."""

_IN = {
    "flops": "FLOPs",
    "hbm_read_low": "HBM-read at least",
    "hbm_read_high": "HBM-read at most",
    "seconds": "time",
    "usd": "money",
}
MARK = " *"
"""Behind a row that is the best case, and in front of the note that says so."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table. `scale`: what a value is multiplied by; `optional`: left out where it says nothing."""

    metric: str
    title: str
    digits: int = 1
    scale: int = 1
    optional: bool = False
    least: float = 0.0
    """Below it a value is shown as less than that."""


_ROWS = (
    Row("tasks", "tasks", 0),
    Row("episodes", "episodes", 0),
    Row("excluded", "excluded", 0),
    Row("superseded", "superseded", 0, optional=True),
    Row("pass1", "Pass@1 %", 1, 100),
    Row("pass1_bounds", "Pass@1 %, bounds", 1, 100, optional=True),
    Row("reward", "reward, mean", 3),
    Row("pass1_difference", "less {baseline}, points", 1, 100),
    Row("pass1_difference_p", "p of no difference", 3, least=0.001),
    Row("gap_recovered", "gap recovered %", 1, 100),
    Row("strong_calls", "strong calls / episode"),
    Row("weak_calls", "weak calls / episode"),
    Row("strong_output", "strong tokens out / episode", 0),
    Row("strong_uncached", "uncached strong in, measured", 0),
    Row("strong_uncached_modelled", "uncached strong in, modelled", 0),
    Row("wall_s", "wall time s / episode", 1),
    Row("cost_usd", "cost USD / episode", 6),
    Row("r_accounted", "R accounted", 3),
    Row("r_proposition", "R by Proposition 1", 3),
    Row("r_predicted", "R predicted", 3),
    Row("r_apart", "apart from R", 3, optional=True),
    Row("r_per_task", "strong cost / task", 3),
    Row("unusable_reviews", "unusable reviews", 0),
    Row("unreviewed_share", "unreviewed steps %", 1, 100),
    Row("near_threshold", "scored within 0.15 nat %", 1, 100, optional=True),
)
"""Costs are means over episodes, so for one task as it was tried; uncached tokens in are the strong model's.

`R` is per committed step, `strong cost / task` all strong calls of a task, both in units of strong-only.
"""


def rows_of(labels: Sequence[str], estimates: Estimates, baseline: str | None) -> list[Row]:
    """Return the rows, R in each measure; `baseline` is the label of what differences are taken to."""
    each = [one for row in _ROWS for one in _in_measures(row, labels, estimates)]
    return [_titled(row, baseline, labels, estimates) for row in each]


def _in_measures(row: Row, labels: Sequence[str], estimates: Estimates) -> Iterator[Row]:
    """Yield a row of R in each measure; a dense model reads the same at most as at least: one row."""
    if not row.metric.startswith("r_"):
        yield row
        return
    low, high = ([estimates[label, f"{row.metric}_hbm_read_{end}"] for label in labels] for end in ("low", "high"))
    dense = low == high
    for measure, words in _IN.items():
        if not dense or measure != "hbm_read_high":
            shown = words.removesuffix(" at least") if dense else words
            yield replace(row, metric=f"{row.metric}_{measure}", title=f"{row.title} ({shown})")


def _titled(row: Row, baseline: str | None, labels: Sequence[str], estimates: Estimates) -> Row:
    """Return a row with its title as it is in this comparison."""
    found = [estimates.get((label, row.metric)) for label in labels]
    best = any(one is not None and one.method.endswith(BEST_CASE) for one in found)
    return replace(row, title=f"{row.title.replace('{baseline}', baseline or '')}{MARK if best else ''}")


def drawn_row(row: Row, labels: Sequence[str], estimates: Estimates) -> list[str] | None:
    """Return the cells of a row; None where it says nothing of any column: then `reasons` tells why."""
    found = [estimates.get((label, row.metric)) for label in labels]
    cells = ["-" if one is None else _cell(one, row) for one in found]
    silent = row.optional and all(_silent(one) for one in found)
    return None if silent or set(cells) == {"-"} else [row.title, *cells]


def _silent(one: Estimate | None) -> bool:
    """Whether a value says no more than its absence would."""
    return one is None or not (one.value or (one.spans and one.low != one.high))


def _cell(one: Estimate, row: Row) -> str:
    def shown(value: float) -> str:
        if 0 < value < row.least:
            return f"<{row.least:g}"
        text = f"{value * row.scale:.{row.digits}f}"
        return text.rstrip("0").rstrip(".") if row.digits > 3 and "." in text else text  # noqa: PLR2004 - small amounts

    interval = "" if one.low is None or one.high is None else f"[{shown(one.low)}, {shown(one.high)}]"
    if one.value is None and one.spans and one.low == one.high:
        return shown(one.low or 0.0)
    return " ".join(part for part in (None if one.value is None else shown(one.value), interval) if part) or "-"


def _told_of_r(row: Row, label: str, estimates: Estimates) -> bool:
    """Whether R itself is missing in this measure: then its reason is that of all that is made of it."""
    measure = next((one for one in _IN if row.metric.startswith("r_") and row.metric.endswith(f"_{one}")), None)
    accounted = f"r_accounted_{measure}"
    return measure is not None and row.metric != accounted and estimates[label, accounted].value is None


def _what(row: Row) -> str:
    """Return what is missing, in words: R in its measure; what is made of R where R is known is missing in all."""
    title = row.title.removesuffix(MARK)
    if row.metric.startswith("r_accounted_"):
        return title.replace("R accounted", "R")
    return title.partition(" (")[0] if row.metric.startswith("r_") else title


def _reason(one: Estimate) -> str:
    return one.method.removeprefix("none: ").removesuffix(BEST_CASE)


def reasons(rows: Sequence[Row], labels: Sequence[str], estimates: Estimates) -> Iterator[str]:
    """Yield why values and intervals are missing, of which rows and columns: a sentence for each reason."""
    found: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        each = [(label, one) for label in labels if (one := estimates.get((label, row.metric))) is not None]
        if row.optional and all(_silent(one) for _, one in each):
            continue
        for label, one in each:
            if one.method.startswith("none: ") and not _told_of_r(row, label, estimates):
                what = _what(row) if one.value is None else "interval"
                found.setdefault(_reason(one), {}).setdefault(what, []).append(label)
    for reason, missing in found.items():
        by_columns: dict[tuple[str, ...], list[str]] = {}
        for what, of in missing.items():
            by_columns.setdefault(tuple(dict.fromkeys(of)), []).append(what)
        for those, whats in by_columns.items():
            whose = "" if len(those) == len(labels) else f" ({', '.join(those)})"
            yield f"No {', '.join(whats)}{whose}: {reason}."
