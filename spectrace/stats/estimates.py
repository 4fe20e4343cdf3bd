"""What a statistic is printed as: the value, its interval or why there is none, the clusters, the method.

A cluster is a task with all its trials. Clustering by episode claims too much: trials of one task are alike, and an
interval that counts them as independent covers 44 % where it says 95 (PROTOCOL section 7; `test_coverage` measures it).

Sums are `math.fsum`'s: exactly rounded, so that neither the order of the input nor the version of Python (whose `sum`
rounds otherwise from 3.12 on) changes a digit.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Protocol, Self

FEWEST_CLUSTERS = 10
"""Below this no interval is printed: nobody knows what it would cover."""
TOO_FEW = f"none: fewer than {FEWEST_CLUSTERS} tasks"
LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number with what speaks for it. `value` is None where it must not be printed: `method` says why."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int
    """Episodes."""
    clusters: int
    """Tasks."""
    method: str

    @property
    def spans(self) -> bool:
        """Whether it has an interval."""
        return self.low is not None and self.high is not None

    def covers(self, value: float) -> bool | None:
        """Whether the interval covers a value; None where there is no interval."""
        if self.low is None or self.high is None:
            return None
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Cluster:
    """One task's episodes: how many, and the sum of what was measured on them."""

    n: float
    """Whole, but where it is itself a mean over repeats."""
    total: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        """Sum the values of one task's trials."""
        return cls(len(values), fsum(values))


Clusters = Mapping[str, Cluster]
"""Task -> its cluster."""

Statistic = Callable[[Sequence[float]], float | None]
"""Of the means of several samples, in their order; None where it is undefined."""


class Intervals(Protocol):
    """A way to make intervals over tasks: `TaskJackknife` or `TaskBootstrap`."""

    @property
    def method(self) -> str:
        """How the intervals are made."""
        ...

    def estimate(self, statistic: Statistic, *samples: Clusters) -> Estimate:
        """Estimate a statistic of the samples' means over the tasks that all of them have."""
        ...


def clustered(values: Iterable[tuple[str, float]]) -> dict[str, Cluster]:
    """Group (task, value) by task, tasks in their order of first appearance."""
    groups: dict[str, list[float]] = {}
    for task, value in values:
        groups.setdefault(task, []).append(value)
    return {task: Cluster.of(group) for task, group in groups.items()}


def shared(samples: Sequence[Mapping[str, object]]) -> list[str]:
    """Return the tasks that every sample has, sorted: their order must not change what is drawn or summed."""
    return sorted(set.intersection(*(set(sample) for sample in samples))) if samples else []


def episodes(clusters: Iterable[Cluster]) -> int:
    """Return how many episodes there are in all."""
    return round(fsum(cluster.n for cluster in clusters))


def mean(clusters: Iterable[Cluster]) -> float:
    """Return the mean over episodes; every task counts as often as it was tried."""
    listed = list(clusters)
    return fsum(cluster.total for cluster in listed) / fsum(cluster.n for cluster in listed)
