"""The delete-a-task jackknife: how a bounded statistic moves when each task, with all its trials, is left out once.

For kappa, AC1, disagreements and mean differences, which lie between known ends: the interval is symmetric on Fisher's
z of the range, with Student's t of T-1, and so never passes an end. It was tried against the expanded percentile
bootstrap where the truth is known: at 200 tasks both hold, at 10 to 20 it covers 93 to 97 % where the bootstrap of AC1
covers 91; and it draws nothing. Where all tasks are alike their variance says nothing: then a share of tasks that could
have gone unseen (Clopper-Pearson) is taken to lie at either end.
"""

import math
from collections.abc import Sequence
from math import fsum

from spectrace.stats.bootstrap import NO_VALUE, NOTHING_SHARED
from spectrace.stats.distributions import t_quantile
from spectrace.stats.estimates import FEWEST_CLUSTERS, LEVEL, TOO_FEW, Clusters, Estimate, Statistic, episodes, shared

JACKKNIFE = "delete-a-task jackknife, 95 % by t on Fisher's z"
ALIKE = "all tasks alike: 95 % by the tasks that could have gone unseen"
ONE_DECIDES = "none: without one of the tasks there is no value"

_NOTHING = 1e-12
"""Above what rounding makes of an error of 0."""

Means = Sequence[float]


class TaskJackknife:
    """Estimates statistics over tasks that lie between two ends."""

    def __init__(self, low: float = -1.0, high: float = 1.0, extremes: Sequence[Means] = ((-1.0,), (1.0,))) -> None:
        """Take the statistic's ends, and the means that the most extreme tasks would have."""
        self.low, self.high, self.extremes = low, high, extremes

    @property
    def method(self) -> str:
        """How the intervals are made."""
        return JACKKNIFE

    def estimate(self, statistic: Statistic, *samples: Clusters) -> Estimate:
        """Estimate a statistic of the samples' means over the tasks that all of them have."""
        tasks = shared(samples)
        n = episodes(sample[task] for sample in samples for task in tasks)

        def found(method: str, value: float | None = None, ends: tuple[float, float] | None = None) -> Estimate:
            low, high = ends or (None, None)
            return Estimate(value=value, low=low, high=high, n=n, clusters=len(tasks), method=method)

        if not tasks:
            return found(NOTHING_SHARED)
        columns = [[(sample[task].n, sample[task].total) for task in tasks] for sample in samples]
        means = [_mean(column) for column in columns]
        value = statistic(means)
        if value is None:
            return found(NO_VALUE)
        if len(tasks) < FEWEST_CLUSTERS:
            return found(TOO_FEW, value)
        without = _without_each(statistic, columns)
        if without is None:
            return found(ONE_DECIDES, value)
        ends = self._ends(value, _error(without), len(tasks))
        if ends is None:
            return found(ALIKE, value, self._unseen(statistic, value, means, len(tasks)))
        return found(self.method, value, ends)

    def _ends(self, value: float, error: float, tasks: int) -> tuple[float, float] | None:
        """Return both ends, by the delta method on z; None where there is no variance or the value lies at an end."""
        middle, half = (self.low + self.high) / 2, (self.high - self.low) / 2
        x, swing = (value - middle) / half, error / half
        if swing <= _NOTHING or 1 - abs(x) <= _NOTHING:
            return None
        swing *= t_quantile((1 + LEVEL) / 2, tasks - 1) / (1 - x * x)
        z = math.atanh(x)
        return middle + half * math.tanh(z - swing), middle + half * math.tanh(z + swing)

    def _unseen(self, statistic: Statistic, value: float, means: Means, tasks: int) -> tuple[float, float]:
        """Return the least and the most where as many tasks as could have gone unseen are extreme ones."""
        share = 1 - ((1 - LEVEL) / 2) ** (1 / tasks)
        mixed = [
            statistic([(1 - share) * mean + share * other for mean, other in zip(means, extreme, strict=True)])
            for extreme in self.extremes
        ]
        known = [value, *(one for one in mixed if one is not None)]
        return max(self.low, min(known)), min(self.high, max(known))


def _mean(column: Sequence[tuple[float, float]]) -> float:
    return fsum(total for _, total in column) / fsum(n for n, _ in column)


def _without_each(statistic: Statistic, columns: Sequence[Sequence[tuple[float, float]]]) -> list[float] | None:
    """Return the statistic without each task; None where one of them is undefined."""
    sums = [(fsum(n for n, _ in column), fsum(total for _, total in column)) for column in columns]
    found: list[float] = []
    for row in zip(*columns, strict=True):
        value = statistic([(total - t) / (n - m) for (n, total), (m, t) in zip(sums, row, strict=True)])
        if value is None:
            return None
        found.append(value)
    return found


def _error(without: Sequence[float]) -> float:
    """Return the standard error (Efron and Stein 1981)."""
    tasks = len(without)
    middle = fsum(without) / tasks
    return math.sqrt((tasks - 1) / tasks * fsum((one - middle) ** 2 for one in without))
