"""R predicted from how a protocol's rounds go: fitted on half the tasks, tested on the other half.

Proposition 1 takes every drafted step to be judged, valid with the same p, and every segment to have n steps. Here a
round is what a log shows: unreviewed steps, then a segment of some shape whose steps are judged one after the other.
A step's hazard is the chance that it is the first wrong one, of those that were judged there: steps behind a rejection
were not judged and count nowhere (they are censored). Hazards differ between reads and held actions, by position and,
where enough was judged, by the segment's length; so tasks that differ in acceptance do not bias them.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from math import fsum, sqrt
from statistics import NormalDist
from typing import TypeVar

READ, HELD = "r", "h"
"""Steps of a reviewed segment: executed as it was drafted, or waiting for the verdict."""
MIN_CLUSTERS = 10
"""Tasks in each half below which no interval is printed."""
_Key = TypeVar("_Key")
_ENOUGH = 30
"""Judged steps from which on a cell of (kind, position, length) speaks for itself."""


@dataclass(frozen=True, slots=True)
class Round:
    """One review that could be read, with what was committed since the one before."""

    shape: str
    """A letter for each step under review: READ or HELD."""
    accepted: int
    unreviewed: int = 0
    """Steps committed before it that no verdict counts."""
    repaired: int = 0
    """Steps that its repair committed."""
    cost: float = 0.0
    """Its review and corrective calls, in one measure."""

    @property
    def accepts(self) -> bool:
        """Whether every step stands."""
        return self.accepted == len(self.shape)

    def costing(self, cost: float) -> "Round":
        """Return the round with what it cost in some measure."""
        return replace(self, cost=cost)


@dataclass(frozen=True, slots=True)
class TaskRounds:
    """The rounds of a task, all trials together."""

    task: str
    rounds: Sequence[Round]
    tail: int = 0
    """Unreviewed steps after the last review."""


@dataclass(slots=True)
class Counts:
    """Sufficient counts of some rounds; two are added, and one is taken out again for the jackknife."""

    reviews: int = 0
    unreviewed: int = 0
    rejections: int = 0
    repaired: int = 0
    committed: int = 0
    accept_cost: float = 0.0
    reject_cost: float = 0.0
    shapes: Counter[str] = field(default_factory=Counter)
    judged: Counter[tuple[str, int, int]] = field(default_factory=Counter)
    """(kind, position, length) -> steps that were judged there."""
    wrong: Counter[tuple[str, int, int]] = field(default_factory=Counter)

    def add(self, other: "Counts", sign: int = 1) -> None:
        """Add, or with -1 take out, what another has counted."""
        for name in ("reviews", "unreviewed", "rejections", "repaired", "committed", "accept_cost", "reject_cost"):
            setattr(self, name, getattr(self, name) + sign * getattr(other, name))
        _add(self.shapes, other.shapes, sign)
        _add(self.judged, other.judged, sign)
        _add(self.wrong, other.wrong, sign)


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a fit expects of another log."""

    reviews_per_step: float
    repairs_per_step: float
    v: float
    rho_d: float

    def r(self, d: float) -> float:
        """Return the R that it predicts."""
        return (self.reviews_per_step * self.v + self.repairs_per_step * self.rho_d) / d


@dataclass(frozen=True, slots=True)
class Prediction:
    """A prediction beside what came: R without acting and without the line apart."""

    predicted: float
    accounted: float
    low: float | None
    """Interval of predicted - accounted; None under MIN_CLUSTERS tasks in a half."""
    high: float | None
    fitted_on: int
    """Tasks."""
    tested_on: int
    method: str = "95 %, jackknife over tasks of both halves, t"

    @property
    def error(self) -> float:
        """Predicted - accounted."""
        return self.predicted - self.accounted


def count_rounds(task: TaskRounds) -> Counts:
    """Count a task's rounds."""
    found = Counts(unreviewed=task.tail, committed=task.tail)
    for one in task.rounds:
        length = len(one.shape)
        found.reviews += 1
        found.unreviewed += one.unreviewed
        found.repaired += one.repaired
        found.committed += one.unreviewed + one.accepted + one.repaired
        found.shapes[one.shape] += 1
        for position in range(min(one.accepted + 1, length)):
            found.judged[one.shape[position], position, length] += 1
        if one.accepts:
            found.accept_cost += one.cost
        else:
            found.rejections += 1
            found.reject_cost += one.cost
            found.wrong[one.shape[one.accepted], one.accepted, length] += 1
    return found


def forecast(fitted: Counts) -> Forecast | None:
    """Return what the fit expects; None where it has no review that accepts."""
    accepting = fitted.reviews - fitted.rejections
    if accepting <= 0:
        return None
    hazards = _Hazards(fitted)
    expected = [(n, *hazards.expect(shape)) for shape, n in fitted.shapes.items() if n]
    accepted = fsum(n * steps for n, steps, _ in expected) / fitted.reviews
    rejected = fsum(n * chance for n, _, chance in expected) / fitted.reviews
    repaired = fitted.repaired / fitted.rejections if fitted.rejections else 1.0
    committed = fitted.unreviewed / fitted.reviews + accepted + rejected * repaired
    v = fitted.accept_cost / accepting
    rho_d = fitted.reject_cost / fitted.rejections - v if fitted.rejections else 0.0
    return Forecast(1 / committed, rejected / committed, v, rho_d)


def plain_parameters(tasks: Iterable[TaskRounds]) -> tuple[float, float] | None:
    """Return the p and n that Proposition 1 speaks of, measured: judged steps that stood, drafted steps per review.

    With these it is a prediction and can be wrong; with n solved from the reviews it repeats the accounting.
    """
    counts = _total(map(count_rounds, tasks))
    judged, wrong = sum(counts.judged.values()), sum(counts.wrong.values())
    if not judged:
        return None
    drafted = sum(len(shape) * n for shape, n in counts.shapes.items())
    return 1 - wrong / judged, max((counts.unreviewed + drafted) / counts.reviews, 1.0)


def predict(tasks: Sequence[TaskRounds], d: float) -> Prediction | str:
    """Fit on half the tasks, chosen by the digest of their names, and test on the others; or say why not."""
    order = sorted(tasks, key=lambda task: sha256(task.task.encode("utf-8", "surrogatepass")).digest())
    fit, test = ([count_rounds(task) for task in half] for half in (order[::2], order[1::2]))
    point = _difference(_total(fit), _total(test), d)
    if point is None:
        return "there are too few tasks with an accepting review to fit on one half and test on the other"
    predicted, accounted = point
    low, high = _interval(fit, test, d, predicted - accounted)
    return Prediction(predicted, accounted, low, high, len(fit), len(test))


class _Hazards:
    """The chance that a judged step is the first wrong one: of the finest cell in which enough was judged."""

    def __init__(self, counts: Counts) -> None:
        self._judged: Counter[tuple[object, ...]] = Counter()
        self._wrong: Counter[tuple[object, ...]] = Counter()
        for key, n in counts.judged.items():
            for cell in _cells(*key):
                self._judged[cell] += n
        for key, n in counts.wrong.items():
            for cell in _cells(*key):
                self._wrong[cell] += n

    def expect(self, shape: str) -> tuple[float, float]:
        """Return a shape's expected accepted steps, and the chance that it is rejected."""
        alive, accepted = 1.0, 0.0
        for position, kind in enumerate(shape):
            alive *= 1 - self._hazard(kind, position, len(shape))
            accepted += alive
        return accepted, 1 - alive

    def _hazard(self, kind: str, position: int, length: int) -> float:
        finest, *wider = _cells(kind, position, length)
        if self._judged[finest] >= _ENOUGH:
            return self._wrong[finest] / self._judged[finest]
        return next((self._wrong[cell] / self._judged[cell] for cell in wider if self._judged[cell]), 0.0)


def _cells(kind: str, position: int, length: int) -> tuple[tuple[object, ...], ...]:
    return (kind, position, length), (kind, position), (kind,), ()


def _add(mine: Counter[_Key], other: Counter[_Key], sign: int) -> None:
    for key, n in other.items():
        mine[key] += sign * n


def _total(counts: Iterable[Counts]) -> Counts:
    total = Counts()
    for one in counts:
        total.add(one)
    return total


def _difference(fit: Counts, test: Counts, d: float) -> tuple[float, float] | None:
    """Return R as predicted and R as accounted."""
    expected = forecast(fit)
    if expected is None or not test.committed:
        return None
    return expected.r(d), (test.accept_cost + test.reject_cost) / test.committed / d


def _interval(
    fit: Sequence[Counts], test: Sequence[Counts], d: float, point: float
) -> tuple[float | None, float | None]:
    """Return the interval of the difference: each half is judged by leaving out one task at a time."""
    if min(len(fit), len(test)) < MIN_CLUSTERS:
        return None, None
    whole_fit, whole_test = _total(fit), _total(test)
    variance = 0.0
    for half, whole in ((fit, whole_fit), (test, whole_test)):
        without: list[float] = []
        for one in half:
            whole.add(one, -1)
            pair = _difference(whole_fit, whole_test, d)
            whole.add(one)
            if pair is None:
                return None, None
            without.append(pair[0] - pair[1])
        mean = fsum(without) / len(without)
        variance += (len(without) - 1) / len(without) * fsum((value - mean) ** 2 for value in without)
    reach = _t_quantile(min(len(fit), len(test)) - 1) * sqrt(variance)
    return point - reach, point + reach


def _t_quantile(freedom: int) -> float:
    """Return Student's 97.5 % point by Cornish and Fisher's expansion: right to 0.001 from 9 degrees of freedom on."""
    z = NormalDist().inv_cdf(0.975)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3
