"""A proportion with its Korn-Graubard interval: Clopper-Pearson on the effective sample size of clustered data.

Korn & Graubard 1998 (Survey Methodology 24), as SUDAAN and NCHS use it: the effective size is p(1-p) over the variance
between tasks, corrected by the t quantiles of both sizes, and never above the number of episodes (of answers, where an
episode's value is a mean over repeats). Where the variance says nothing (all pass, or none), a task counts once however
often it was tried: the cautious choice.
"""

from math import fsum

from spectrace.stats.distributions import beta_quantile, t_quantile
from spectrace.stats.estimates import FEWEST_CLUSTERS, LEVEL, TOO_FEW, Clusters, Estimate, episodes, mean

KORN_GRAUBARD = "Korn-Graubard 95 % over tasks"


def proportion(clusters: Clusters, answers: int | None = None) -> Estimate:
    """Estimate a proportion from successes by task; `answers`: how many were counted, where that is more than n."""
    tasks, n = len(clusters), episodes(clusters.values())
    if not n:
        return Estimate(value=None, n=0, clusters=0, method="none: no episode counts")
    p = mean(clusters.values())
    if tasks < FEWEST_CLUSTERS:
        return Estimate(value=p, n=n, clusters=tasks, method=TOO_FEW)
    low, high = clopper_pearson(p, effective_size(clusters, answers))
    return Estimate(value=p, low=low, high=high, n=n, clusters=tasks, method=KORN_GRAUBARD)


def effective_size(clusters: Clusters, answers: int | None = None) -> float:
    """Return how many independent episodes the clustered ones are worth."""
    tasks, n, p = len(clusters), fsum(cluster.n for cluster in clusters.values()), mean(clusters.values())
    most = max(n, answers or 0)
    if p in {0.0, 1.0}:
        return float(tasks)
    squares = fsum((cluster.total - cluster.n * p) ** 2 for cluster in clusters.values())
    variance = tasks / (tasks - 1) * squares / n**2
    if variance == 0:
        return most
    tail = (1 + LEVEL) / 2
    corrected = p * (1 - p) / variance * (t_quantile(tail, n - 1) / t_quantile(tail, tasks - 1)) ** 2
    return min(corrected, most)


def clopper_pearson(p: float, n: float) -> tuple[float, float]:
    """Return the exact interval of p out of n, which need not be whole."""
    x, tail = p * n, (1 - LEVEL) / 2
    low = 0.0 if p == 0 else beta_quantile(tail, x, n - x + 1)
    high = 1.0 if p == 1 else beta_quantile(1 - tail, x + 1, n - x)
    return low, high
