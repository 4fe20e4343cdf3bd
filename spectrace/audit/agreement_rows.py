"""The figures of two verifiers as a table's rows, in words, and the sentences under it. For terminals and pages alike.

Counterpart of `agreement_figures`. Names in the titles may be recorded text: whoever draws them makes them visible.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from spectrace.audit.agreement_figures import Figure, Pair, counterfactual
from spectrace.audit.lines import counted
from spectrace.stats.agreement import categories, left_out
from spectrace.stats.estimates import Estimate
from spectrace.stats.survival import fates

_NONE = "none: "
_LEAST_P = 0.001
_Shown = Callable[[float], str]

COLUMNS = ("", "value", "95 %", "bounds", "of", "tasks")


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


def rows_of(figures: Iterable[Figure]) -> list[Row]:
    """Return the rows of those figures that stand in a table."""
    return [_row(one) for one in figures if one.title and one.form != "count"]


def _row(figure: Figure) -> Row:
    found, bounds = figure.estimate, figure.bounds
    none = found.method.startswith(_NONE)
    shown, end = _shown(figure), _end(figure)
    value = shown(found.value) if found.value is not None else _over(figure)
    return Row(
        figure.title,
        value,
        None if none else _ends(figure, end),
        None if bounds is None or bounds.low == bounds.high else _between(bounds, end),
        counted(found.n, figure.noun) if found.n else None,
        found.clusters or None,
        None if none or figure.form == "p" else found.method,
        found.method.removeprefix(_NONE) if none else None,
    )


def _over(figure: Figure) -> str | None:
    """Return how a median that is not reached is told."""
    return None if figure.over is None else f"over {figure.over}"


def _shown(figure: Figure) -> _Shown:
    match figure.form:
        case "percent":
            return lambda value: f"{100 * value:.1f} %"
        case "points":
            return lambda value: f"{100 * value:.1f}"
        case "p":
            return lambda value: f"<{_LEAST_P:g}" if value < _LEAST_P else f"{value:.3f}"
        case "number":
            return "{:.3f}".format
        case "review" | "count":
            return "{:.0f}".format


def _end(figure: Figure) -> _Shown:
    return (lambda value: f"{100 * value:.1f}") if figure.form == "percent" else _shown(figure)


def _ends(figure: Figure, shown: _Shown) -> str | None:
    over, found = _over(figure), figure.estimate
    if over is None:
        return _between(found, shown)
    low, high = (over if one is None else shown(one) for one in (found.low, found.high))
    return f"[{low}, {high}]"


def _between(found: Estimate, shown: _Shown) -> str | None:
    return None if found.low is None or found.high is None else f"[{shown(found.low)}, {shown(found.high)}]"


def notes(rows: Sequence[Row]) -> Iterator[str]:
    """Yield how the intervals are made, and why values and intervals are missing: a sentence for each."""
    valued = [row for row in rows if row.value is not None and (row.method or row.missing)]
    yield from _sentences("Interval", valued, [row.method for row in valued])
    yield from _sentences("No value", rows, [row.missing if row.value is None else None for row in rows])
    yield from _sentences("No interval", valued, [row.missing for row in valued])


def _sentences(what: str, rows: Sequence[Row], reasons: Sequence[str | None]) -> Iterator[str]:
    """Yield each reason with the rows that have it, which need no names where it is all that could have another."""
    for reason in dict.fromkeys(one for one in reasons if one is not None):
        titles = [row.title for row, one in zip(rows, reasons, strict=True) if one == reason]
        of = "" if len(titles) == len(rows) else f" of {', '.join(titles)}"
        yield f"{what}{of}: {reason}."


def sentences(pair: Pair) -> Iterator[str]:
    """Yield what a table of a pair does not say: what is left out, where rejections differ, the fate of writes."""
    if any(one.repeat > 1 for one in pair.reviews):
        yield "Reviews were judged several times: verdicts are crossed and listed, each review counts once elsewhere."
    out = left_out(pair.reviews)
    if out:
        listed = _listed((kind.replace("_", " "), n) for kind, n in out.items())
        yield f"Left out: {listed}; the bounds count them either way."
    derived = sum(one.recorded is None for one in pair.reviews)
    if derived and pair.first is None:
        yield f"{derived} in no agreement: nobody judged them when they were recorded (derived segments)."
    if pair.only_rejected:
        yield "Of rejections alone nothing follows for accepts."
    if not pair.only_rejected or pair.first is not None:
        crossed = categories(pair.reviews).most_common()
        if crossed:
            pairs = _listed((f"{old} > {new}", n) for (old, new), n in crossed)
            yield f"Rejected by both, category {pair.names[0]} > {pair.names[1]}: {pairs}."
    if pair.first is None and not pair.only_rejected:
        yield from _effects(pair)
    if len(pair.reviews) > derived or pair.first is not None:
        yield "Agreement is not accuracy: both may be wrong together."


def _effects(pair: Pair) -> Iterator[str]:
    later = counterfactual(pair.reviews)
    if later:
        yield (
            f"{later} came after a review that came out differently, or nobody knows: the episode would have gone "
            "another way by then."
        )
    found = fates(pair.reviews)
    if found["let_through"] or found["stopped"] or found["unknown"]:
        yield (
            f"Held writes at the review where an episode turns: {found['let_through']} let through that were stopped, "
            f"{found['stopped']} stopped that ran, {found['same']} as before, {found['unknown']} unknown."
        )


def _listed(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{n} {what}" for what, n in counts)
