"""Gap recovered: how much of the way from the weak model to the strong one a protocol covers."""

from collections.abc import Sequence

from spectrace.stats.bootstrap import TaskBootstrap, difference
from spectrace.stats.estimates import FEWEST_CLUSTERS, TOO_FEW, Clusters, Estimate, episodes, shared

NO_GAP = "none: the gap's own interval covers 0"


def recovered(weak: float, strong: float, x: float) -> float | None:
    """Return the recovered share of the gap; None where there is none."""
    return None if strong == weak else (x - weak) / (strong - weak)


def gap_recovered(weak: Clusters, strong: Clusters, x: Clusters, bootstrap: TaskBootstrap) -> Estimate:
    """Estimate the recovered share over the tasks that all three have.

    It has no value where the gap may be none: under 10 tasks nobody can tell, and a share of noise means nothing.
    """
    tasks = shared((weak, strong, x))
    n = episodes(sample[task] for sample in (weak, strong, x) for task in tasks)
    if 0 < len(tasks) < FEWEST_CLUSTERS:
        return Estimate(value=None, n=n, clusters=len(tasks), method=TOO_FEW)
    gap = bootstrap.estimate(difference, *({task: sample[task] for task in tasks} for sample in (strong, weak)))
    if gap.covers(0):
        return Estimate(value=None, n=n, clusters=len(tasks), method=NO_GAP)
    return bootstrap.estimate(_recovered, weak, strong, x)


def _recovered(means: Sequence[float]) -> float | None:
    return recovered(*means)
