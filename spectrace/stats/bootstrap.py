"""The task bootstrap: tasks are drawn again with all their trials, for differences, ratios and whatever else.

Percentile intervals, expanded for few clusters as Hesterberg 2015 (The American Statistician 69) does: the tails are
those of a t interval, since a plain percentile interval of 10 tasks covers some 90 % where it says 95. Not BCa: its
acceleration is itself a guess when the tasks are few. The draws depend on the seed alone: one number from `random()`
each, the one method that Python promises never to change. What is bounded at both ends has `jackknife` instead.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from math import fsum, isfinite
from operator import mul
from random import Random

from spectrace.stats.distributions import normal_cdf, t_quantile
from spectrace.stats.estimates import FEWEST_CLUSTERS, LEVEL, TOO_FEW, Clusters, Estimate, Statistic, episodes, shared

DRAWS = 5_000
SEED = 2026
NOTHING_SHARED = "none: no task in common"
NO_VALUE = "none: the denominator is 0"
ALIKE = "; the same in every draw, so no guess at other tasks"

Sum = Callable[[Iterable[float]], float]
Column = tuple[Sequence[float], Sequence[float], Sum]
"""By task: how many trials, and their total; and what sums them."""


class TaskBootstrap:
    """Estimates statistics over tasks; all of one instance use the same draws, so that they vary together."""

    def __init__(self, draws: int = DRAWS, seed: int = SEED) -> None:
        """Draw nothing yet."""
        self.draws, self.seed = draws, seed
        self._weights: dict[int, list[bytes]] = {}

    @property
    def method(self) -> str:
        """How the intervals are made."""
        return f"task bootstrap, expanded percentile 95 % (B={self.draws}, seed {self.seed})"

    def estimate(self, statistic: Statistic, *samples: Clusters) -> Estimate:
        """Estimate a statistic of the samples' means over the tasks that all of them have."""
        tasks = shared(samples)
        n = episodes(sample[task] for sample in samples for task in tasks)
        if not tasks:
            return Estimate(value=None, n=0, clusters=0, method=NOTHING_SHARED)
        columns = [_columns(sample, tasks) for sample in samples]
        value = statistic([add(totals) / add(counts) for counts, totals, add in columns])
        if value is None:
            return Estimate(value=None, n=n, clusters=len(tasks), method=NO_VALUE)
        if len(tasks) < FEWEST_CLUSTERS:
            return Estimate(value=value, n=n, clusters=len(tasks), method=TOO_FEW)
        drawn = sorted(self._drawn(statistic, columns, len(tasks)))
        undefined, method = self.draws - len(drawn), self.method
        low, high = _tails(drawn, undefined, len(tasks))
        if not isfinite(low) or not isfinite(high):
            method = f"none: the denominator is 0 in {undefined} of {self.draws} draws"
            return Estimate(value=value, n=n, clusters=len(tasks), method=method)
        if undefined:
            method += f"; {undefined} draws without a value lie beyond both ends"
        if low == high:
            method += ALIKE
        return Estimate(value=value, low=low, high=high, n=n, clusters=len(tasks), method=method)

    def _drawn(self, statistic: Statistic, columns: Sequence[Column], tasks: int) -> list[float]:
        found: list[float] = []
        for weights in self._of(tasks):
            means = [add(map(mul, weights, totals)) / add(map(mul, weights, counts)) for counts, totals, add in columns]
            value = statistic(means)
            if value is not None:
                found.append(value)
        return found

    def _of(self, tasks: int) -> list[bytes]:
        """Return how often each task is drawn, a byte each, for each draw; made once for each number of tasks."""
        if tasks not in self._weights:
            random = Random(self.seed).random  # noqa: S311 - statistics, no secret
            made: list[bytes] = []
            for _ in range(self.draws):
                counts = [0] * tasks
                for _ in range(tasks):
                    counts[int(random() * tasks)] += 1
                made.append(bytes(counts))
            self._weights[tasks] = made
        return self._weights[tasks]


def _columns(sample: Clusters, tasks: Sequence[str]) -> Column:
    """Return a sample task by task; of whole numbers every sum is exact, and `sum` twice as fast."""
    counts, totals = [float(sample[task].n) for task in tasks], [sample[task].total for task in tasks]
    return counts, totals, sum if all(map(float.is_integer, (*counts, *totals))) else fsum


def _tails(drawn: Sequence[float], undefined: int, tasks: int) -> tuple[float, float]:
    """Return both ends; a draw that is undefined may be anything, so it lies below the one and above the other."""
    beyond = [math.inf] * undefined
    tail = normal_cdf(-math.sqrt(tasks / (tasks - 1)) * t_quantile((1 + LEVEL) / 2, tasks - 1))
    return _quantile([*(-one for one in beyond), *drawn], tail), _quantile([*drawn, *beyond], 1 - tail)


def _quantile(ordered: Sequence[float], p: float) -> float:
    place = p * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    low, high = ordered[below], ordered[above]
    return low + (high - low) * (place - below) if isfinite(low) and isfinite(high) else min(low, high, key=isfinite)


def difference(means: Sequence[float]) -> float | None:
    """Return the first mean less the second."""
    return means[0] - means[1]


def ratio(means: Sequence[float]) -> float | None:
    """Return the first mean over the second."""
    return means[0] / means[1] if means[1] else None
