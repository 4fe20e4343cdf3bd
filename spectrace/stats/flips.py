"""A paired test over tasks: were there no difference, each task's difference could as well have the other sign.

Exact while the sums that the signs can make are few, which passes out of a few trials always are: the distribution of
the sum is built task by task. Otherwise the signs are drawn, seeded, and the observed sum counts as one of the draws.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from random import Random

from spectrace.stats.bootstrap import DRAWS, SEED
from spectrace.stats.estimates import Clusters, shared

_MOST_SUMS = 50_000


@dataclass(frozen=True, slots=True)
class Flips:
    """The two-sided p-value of no difference, over how many tasks, and how it was found."""

    p: float
    clusters: int
    method: str


def sign_flips(a: Clusters, b: Clusters, *, draws: int = DRAWS, seed: int = SEED) -> Flips | None:
    """Test whether the tasks' means differ between a and b; None where they share no task."""
    tasks = shared((a, b))
    if not tasks:
        return None
    return flipped({task: _mean(a, task) - _mean(b, task) for task in tasks}, draws=draws, seed=seed)


def flipped(by_task: Mapping[str, Fraction | int], *, draws: int = DRAWS, seed: int = SEED) -> Flips:
    """Test whether the sum of the tasks' differences is 0 but for chance."""
    tasks = sorted(by_task)
    differences = [Fraction(by_task[task]) for task in tasks]
    moved = [abs(value) for value in differences if value]
    whole = lcm(*(value.denominator for value in moved)) if moved else 1
    sizes = [int(value * whole) for value in moved]
    observed = abs(int(sum(differences, Fraction(0)) * whole))
    exact = _exact(sizes, observed)
    if exact is not None:
        return Flips(exact, len(tasks), "paired sign flips over tasks, exact")
    random = Random(seed).random  # noqa: S311 - statistics, no secret
    extreme = sum(
        abs(sum(size if random() < 0.5 else -size for size in sizes)) >= observed  # noqa: PLR2004 - a fair coin
        for _ in range(draws)
    )
    return Flips((extreme + 1) / (draws + 1), len(tasks), f"paired sign flips over tasks (B={draws}, seed {seed})")


def _mean(clusters: Clusters, task: str) -> Fraction:
    """Return a task's mean, exactly; decimals as they are written, not as their binary neighbours."""
    return Fraction(repr(clusters[task].total)) / Fraction(clusters[task].n)


def _exact(sizes: list[int], observed: int) -> float | None:
    sums = {0: 1}
    for size in sizes:
        following: defaultdict[int, int] = defaultdict(int)
        for value, ways in sums.items():
            following[value + size] += ways
            following[value - size] += ways
        if len(following) > _MOST_SUMS:
            return None
        sums = following
    extreme = sum(ways for value, ways in sums.items() if abs(value) >= observed)
    return float(Fraction(extreme, 2 ** len(sizes)))
