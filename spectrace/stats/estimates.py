"""What a statistic is printed as: the value, its interval or why there is none, the clusters, the method.

A cluster is a task with all its trials. Clustering by episode claims too much: trials of one task are alike, and an
interval that counts them as independent covers 44 % where it says 95 (PROTOCOL section 7; `test_coverage` measures it).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

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

    n: int
    total: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        """Sum the values of one task's trials."""
        return cls(len(values), float(sum(values)))


Clusters = Mapping[str, Cluster]
"""Task -> its cluster."""


def clustered(values: Iterable[tuple[str, float]]) -> dict[str, Cluster]:
    """Group (task, value) by task, tasks in their order of first appearance."""
    groups: dict[str, list[float]] = {}
    for task, value in values:
        groups.setdefault(task, []).append(value)
    return {task: Cluster.of(group) for task, group in groups.items()}


def episodes(clusters: Iterable[Cluster]) -> int:
    """Return how many episodes there are in all."""
    return sum(cluster.n for cluster in clusters)


def mean(clusters: Iterable[Cluster]) -> float:
    """Return the mean over episodes; every task counts as often as it was tried."""
    listed = list(clusters)
    return sum(cluster.total for cluster in listed) / episodes(listed)
