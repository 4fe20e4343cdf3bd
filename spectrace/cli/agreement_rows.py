"""The rows of an agreement table: each statistic with its interval, its bounds, what it counts and its method.

Counterpart of `agreement`, which writes them, and the sentences around them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from spectrace.audit.lines import counted
from spectrace.stats import agreement
from spectrace.stats.bootstrap import TaskBootstrap
from spectrace.stats.estimates import Estimate
from spectrace.stats.judgements import Review
from spectrace.stats.survival import Median, lifetimes, median

_NONE = "none: "

FLOOR_UNKNOWN = "none: floor unknown, it has not been asked again"

_Shown = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table, as text; what is None is not shown, and `missing` says why."""

    title: str
    value: str | None
    interval: str | None
    bounds: str | None
    of: str | None
    """What was counted."""
    tasks: int | None
    method: str | None
    missing: str | None = None
    """Why there is no value, or no interval."""


def rows_of(
    reviews: Sequence[Review], bootstrap: TaskBootstrap, *, only_rejected: bool, again: Sequence[Review] = ()
) -> list[Row]:
    """Return the rows. Of rejections alone nothing is said but how often they are rejected again.

    `again`: what the verifiers that had rejected said themselves when they were asked once more.
    """
    if only_rejected:
        same = agreement.rejected_again(again)
        return [
            _percent("rejected again", agreement.rejected_again(reviews), agreement.rejected_again_bounds(reviews)),
            _percent("by the first verifier", same if same.n else replace(same, method=FLOOR_UNKNOWN)),
        ]
    if all(one.recorded is None for one in reviews):
        return []
    return [*_agreement(reviews, bootstrap), *_survival(reviews)]


def _agreement(reviews: Sequence[Review], bootstrap: TaskBootstrap) -> Iterator[Row]:
    yield _percent("agree on accepting all", agreement.agreement(reviews), agreement.bounds(reviews))
    for title, statistic, found in (
        ("Cohen's kappa", agreement.kappa_of, agreement.kappa(reviews, bootstrap)),
        ("Gwet's AC1", agreement.ac1_of, agreement.ac1(reviews, bootstrap)),
    ):
        yield _plain(title, found, agreement.bounds_of(reviews, statistic))
    both = agreement.same_step(reviews)
    if both.n:
        yield _percent("same first wrong step", both)
    yield _percent("agree on single steps", agreement.per_step(reviews), noun="step")
    yield _plain("accepted share, difference", agreement.signed_difference(reviews, bootstrap))


def _survival(reviews: Sequence[Review]) -> Iterator[Row]:
    """Yield the median survival, and once more with what is unknown counted as different, where that is another."""
    known, harsh = (median(lifetimes(reviews, unknown_differs=each)) for each in (False, True))
    yield _median("half differ by review", known)
    if harsh != known:
        yield _median("half, unknown ones counted", harsh)


def _median(title: str, found: Median) -> Row:
    if not found.reviews:
        return Row(title, None, None, None, None, None, None, found.method.removeprefix(_NONE))
    beyond = f"over {found.reviews}"
    reached = [beyond if one is None else str(one) for one in (found.value, found.low, found.high)]
    none = found.method.startswith(_NONE)
    return Row(
        title,
        reached[0],
        None if none else f"[{reached[1]}, {reached[2]}]",
        None,
        counted(found.episodes, "episode"),
        found.clusters,
        None if none else found.method,
        found.method.removeprefix(_NONE) if none else None,
    )


def _percent(title: str, found: Estimate, bounds: Estimate | None = None, *, noun: str = "review") -> Row:
    return _row(title, found, bounds, noun, lambda value: f"{100 * value:.1f} %", lambda value: f"{100 * value:.1f}")


def _plain(title: str, found: Estimate, bounds: Estimate | None = None) -> Row:
    return _row(title, found, bounds, "review", "{:.3f}".format, "{:.3f}".format)


def _row(title: str, found: Estimate, bounds: Estimate | None, noun: str, shown: _Shown, end: _Shown) -> Row:
    none = found.method.startswith(_NONE)
    return Row(
        title,
        None if found.value is None else shown(found.value),
        _ends(found, end),
        None if bounds is None or bounds.low == bounds.high else _ends(bounds, end),
        counted(found.n, noun) if found.n else None,
        found.clusters or None,
        None if none else found.method,
        found.method.removeprefix(_NONE) if none else None,
    )


def _ends(found: Estimate, shown: _Shown) -> str | None:
    return None if found.low is None or found.high is None else f"[{shown(found.low)}, {shown(found.high)}]"


def notes(rows: Sequence[Row]) -> Iterator[str]:
    """Yield how the intervals are made, and why values and intervals are missing: a sentence for each."""
    yield from _sentences("Interval", rows, [row.method for row in rows])
    yield from _sentences("No value", rows, [row.missing if row.value is None else None for row in rows])
    yield from _sentences("No interval", rows, [None if row.value is None else row.missing for row in rows])


def _sentences(what: str, rows: Sequence[Row], reasons: Sequence[str | None]) -> Iterator[str]:
    """Yield each reason with the rows that have it, which need no names where it is all of them."""
    for reason in dict.fromkeys(one for one in reasons if one is not None):
        titles = [row.title for row, one in zip(rows, reasons, strict=True) if one == reason]
        of = "" if len(titles) == len(rows) else f" of {', '.join(titles)}"
        yield f"{what}{of}: {reason}."
