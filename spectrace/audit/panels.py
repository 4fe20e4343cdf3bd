"""What a plot of a comparison shows, as plain values: forests of figures, survival curves, verdicts crossed.

Drawn by `plots` as a PNG and by the viewer; names may be recorded text, and whoever draws them makes them visible.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from spectrace.audit.agreement_figures import Figure, Pair, crossed, survival_curves
from spectrace.audit.derived import GRADES, HELD, DerivedReview, cells
from spectrace.audit.derived_rows import GRADES as GRADE_WORDS
from spectrace.audit.derived_rows import held_words
from spectrace.audit.lines import counted
from spectrace.audit.reverified import Judged, Reverified
from spectrace.audit.sections import ALWAYS, KINDS, NOT_JUDGED
from spectrace.stats.survival import Point

_SHARES = ("agreement", "kappa", "ac1", "same_step", "per_step", "accepts_first", "accepts_second", "rejected_again")
_SHARES_OF_TWO = ("agreement", "kappa", "ac1", "same_step", "per_step", "rejected_again")
_SHORT = 19
"""Characters of a digest that tell it apart."""
_DIFFERENCES = ("accepts_difference", "signed_difference", "agrees_difference", "excess")
_TITLES = {
    "agreement": "agree on accepting all",
    "kappa": "Cohen's κ",
    "ac1": "Gwet's AC1",
    "same_step": "same first wrong step",
    "per_step": "agree on single steps",
    "rejected_again": "rejected again",
    "accepts_difference": "share accepted whole",
    "signed_difference": "accepted share of steps",
    "agrees_difference": "agreement with the record",
    "excess": "excess disagreement",
}


@dataclass(frozen=True, slots=True)
class Mark:
    """One estimate in a forest."""

    row: str
    series: str
    value: float
    low: float | None
    high: float | None
    bounds: tuple[float, float] | None
    """With what is left out counted either way; None where that is nothing."""
    text: str
    """The value and its interval, in the axis's units."""


_INTERVAL = ", 95 % interval"


@dataclass(frozen=True, slots=True)
class Forest:
    """Estimates with their intervals, a row for each kind of figure and a mark for each series."""

    title: str
    axis: str
    marks: tuple[Mark, ...]
    series: tuple[str, ...]
    least: float
    """Where the axis begins at the latest, and ends at the earliest."""
    most: float
    reference: float | None
    """The value of no difference."""

    @property
    def rows(self) -> tuple[str, ...]:
        """The rows from the top, in their order of first appearance."""
        return tuple(dict.fromkeys(one.row for one in self.marks))

    @property
    def label(self) -> str:
        """The axis's title, which names an interval only where there is one."""
        return self.axis if any(one.low is not None for one in self.marks) else self.axis.replace(_INTERVAL, "")

    @property
    def key(self) -> str:
        """What lines, hollow marks and pale bars say, as far as they are there."""
        said = {
            "a line is a 95 % interval": any(one.low is not None for one in self.marks),
            "a hollow mark has no interval": any(one.low is None for one in self.marks),
            "a pale bar spans what is left out counted either way: bounds, no interval": any(
                one.bounds is not None for one in self.marks
            ),
        }
        return "; ".join(words for words, there in said.items() if there).capitalize()


@dataclass(frozen=True, slots=True)
class Curve:
    """A survival curve, and the lower one where what is unknown counts as different."""

    series: str
    points: tuple[Point, ...]
    harsh: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Curves:
    """Survival curves over the reviews of an episode."""

    title: str
    axis: str
    curves: tuple[Curve, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Counts, a row for each thing that the first said and a column for each that the second did."""

    title: str
    name: str
    """Whose verdicts they are."""
    down: str
    """What the rows are, and the columns across."""
    across: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


Panel = Forest | Curves | Matrix


def captions(found: Reverified) -> tuple[str, str]:
    """Return the title of a plot, and what it was made of in a line below."""
    names = " and ".join(one.run for one in found.runs)
    return f"Re-verification: {names}", "; ".join(map(_caption, found.runs))


def _caption(one: Judged) -> str:
    places = {(review.episode, review.number) for review in one.reviews}
    tasks = len({review.task for review in one.reviews})
    verifiers = sorted({f"{facts.provider}:{facts.name}" for facts in one.found.verifiers})
    return (
        f"{one.run}: {counted(len(places), 'review')} of {counted(tasks, 'task')}"
        f" by {', '.join(verifiers) or 'nobody'}, data set {one.found.selection_digest[:_SHORT]}"
    )


def panels(found: Reverified) -> list[Panel]:
    """Return the panels of one re-verification, or of two side by side."""
    return [
        *_forests(found),
        *(_acceptance(one, alone=len(found.runs) == 1) for one in found.runs if one.derived),
        *_survival([pair for pair, _ in found.figures if pair.first is None and not pair.only_rejected]),
        *(_crossed(pair) for pair, _ in found.figures if any(one.recorded is not None for one in pair.reviews)),
        *(_by_held(one) for one in found.runs if one.derived),
    ]


def _forests(found: Reverified) -> Iterator[Forest]:
    wanted = _SHARES if len(found.pairs) == 1 else _SHARES_OF_TWO
    for title, axis, metrics, least, most in (
        ("Agreement", "share or coefficient, 95 % interval", wanted, 0.0, 1.0),
        (
            "Differences",
            "second less first, 95 % interval; excess: beyond both verifiers' noise",
            _DIFFERENCES,
            -0.1,
            0.1,
        ),
    ):
        marks = tuple(
            mark
            for metric in metrics
            for pair, figures in found.figures
            for mark in _marks(pair, [one for one in figures if one.metric == metric])
        )
        if marks:
            series = tuple(dict.fromkeys(one.series for one in marks))
            yield Forest(title, axis, marks, series, least, most, None if metrics is wanted else 0.0)


def _marks(pair: Pair, figures: Sequence[Figure]) -> Iterator[Mark]:
    rows: Mapping[str, str] = {
        "accepts_first": f"accepts all ({pair.names[0]})",
        "accepts_second": f"accepts all ({pair.names[1]})",
    }
    for one in figures:
        found, bounds = one.estimate, one.bounds
        if found.value is None or not one.title:
            continue
        wide = None
        if bounds is not None and bounds.low is not None and bounds.high is not None and bounds.low < bounds.high:
            wide = bounds.low, bounds.high
        yield Mark(
            rows.get(one.metric, _TITLES.get(one.metric, one.title)),
            pair.label,
            found.value,
            found.low,
            found.high,
            wide,
            _text(found.value, found.low, found.high),
        )


def _survival(pairs: Sequence[Pair]) -> Iterator[Curves]:
    curves = []
    for pair in pairs:
        known, harsh = survival_curves(pair)
        if known:
            curves.append(Curve(pair.label, tuple(known), tuple(harsh)))
    if curves:
        yield Curves("Survival: same as recorded up to a review", "review of the episode", tuple(curves))


def _crossed(pair: Pair) -> Matrix:
    counts = crossed(pair.reviews)
    always = ALWAYS[1:2] if pair.only_rejected else ALWAYS[:2]
    rows = [one for one in (*KINDS, None) if one in always or any(counts[one, kind] for kind in KINDS)]
    columns = [one for one in KINDS if one in ALWAYS or any(counts[row, one] for row in rows)]
    return Matrix(
        "Verdicts",
        pair.label,
        pair.names[0],
        pair.names[1],
        tuple(_words(one or NOT_JUDGED) for one in rows),
        tuple(map(_words, columns)),
        tuple(tuple(counts[row, column] for column in columns) for row in rows),
    )


def _acceptance(one: Judged, *, alone: bool) -> Forest:
    """Return what is accepted of derived reviews, by held action and reward."""
    anchored = _anchored(one.derived)
    marks = tuple(
        Mark(
            "all" if cell.held is None else held_words(cell.held, anchored=anchored),
            f"{GRADE_WORDS[cell.grade]} episodes",
            cell.accepted.value,
            cell.accepted.low,
            cell.accepted.high,
            None,
            _text(cell.accepted.value, cell.accepted.low, cell.accepted.high),
        )
        for cell in cells(one.derived)
        if cell.grade is not None and cell.accepted.value is not None
    )
    title = "Derived segments accepted, by held action and reward"
    series = tuple(dict.fromkeys(mark.series for mark in marks))
    return Forest(
        title if alone else f"{title}, {one.run}", "share accepted, 95 % interval", marks, series, 0.0, 1.0, None
    )


def _anchored(reviews: Sequence[DerivedReview]) -> bool:
    return any(one.held in {"gold", "other"} for one in reviews)


def _text(value: float, low: float | None, high: float | None) -> str:
    ends = "" if low is None or high is None else f" [{low:.3f}, {high:.3f}]"
    return f"{value:.3f}{ends}"


def _by_held(one: Judged) -> Matrix:
    anchored = _anchored(one.derived)
    held = [kind for kind in HELD if any(each.held == kind for each in one.derived)]
    rows = [(kind, grade) for kind in held for grade in GRADES if _count(one.derived, kind, grade)]
    columns = [kind for kind in KINDS if kind in ALWAYS or any(each.judged.kind == kind for each in one.derived)]
    return Matrix(
        "Verdicts on derived segments",
        one.run,
        "held action, episode",
        "new",
        tuple(f"{held_words(kind, anchored=anchored)}, {GRADE_WORDS[grade]}" for kind, grade in rows),
        tuple(map(_words, columns)),
        tuple(tuple(_count(one.derived, kind, grade, column) for column in columns) for kind, grade in rows),
    )


def _count(reviews: Sequence[DerivedReview], held: str, grade: str, kind: str | None = None) -> int:
    return sum(one.held == held and one.grade == grade and kind in {None, one.judged.kind} for one in reviews)


def _words(kind: str) -> str:
    return kind.replace("_", " ")
