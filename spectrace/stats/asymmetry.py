"""Which way two verifiers disagree: McNemar's question, asked of tasks.

Of the reviews where one accepts all and the other does not, are there more of the one kind? McNemar's test takes
reviews for independent; here a task's difference keeps its size and takes either sign (`flips`): with one review a task
that is McNemar's exact test. How far both accept apart is told with an interval beside it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from spectrace.stats.agreement import NONE_COMPARED
from spectrace.stats.estimates import Estimate, Intervals, clustered
from spectrace.stats.flips import Flips, flipped
from spectrace.stats.jackknife import TaskJackknife
from spectrace.stats.judgements import Both, Review, compared
from spectrace.stats.repeats import by_segment, mean_over

_USUAL = TaskJackknife()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asymmetry:
    """How the disagreements are split between the two ways. Counts of segments, means over the repeats of each."""

    new_accepts: float
    """Where the recorded verdict rejects and the new one accepts all."""
    new_rejects: float
    """Where it is the other way round."""
    difference: Estimate
    """How often the new verifier accepts all, less how often the recorded one does."""
    flips: Flips | None
    """The test that both ways are as likely; None where nothing is compared."""


def asymmetry(reviews: Iterable[Review], intervals: Intervals = _USUAL) -> Asymmetry:
    """Count which way the disagreements go, and test whether either way is as likely."""
    groups = by_segment(compared(reviews))
    by_task = dict[str, Fraction | int]()
    for group in groups:
        task, moved = group[0][0].task, sum(map(_moved, group))
        by_task[task] = by_task.get(task, 0) + _share(moved, group)
    difference = intervals.estimate(
        lambda means: means[0], clustered((group[0][0].task, mean_over(group, _moved)) for group in groups)
    )
    return Asymmetry(
        new_accepts=float(sum(_share(sum(_moved(both) > 0 for both in group), group) for group in groups)),
        new_rejects=float(sum(_share(sum(_moved(both) < 0 for both in group), group) for group in groups)),
        difference=difference if groups else replace(difference, method=NONE_COMPARED),
        flips=flipped(by_task) if groups else None,
    )


def _moved(both: Both) -> int:
    """Return 1 where only the new verdict accepts all, -1 where only the recorded one does."""
    return (both[2].kind == "accept") - (both[1].kind == "accept")


def _share(count: int, group: Sequence[Both]) -> Fraction | int:
    """Return a count of repeats as a share of one segment, exactly."""
    return count if len(group) == 1 else Fraction(count, len(group))
