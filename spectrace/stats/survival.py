"""E2 of a re-verification: how many reviews an episode goes the recorded way, by Kaplan and Meier.

Never agreement restricted to what comes before the first difference: that is 1 by construction. An episode leaves the
curve where nobody knows how it would have gone on; `unknown_differs` counts that as a difference, a lower bound. The
variance is Greenwood's with the task as cluster (the sum of a task's martingale residuals, as Ying and Wei 1994), the
interval log(-log) with Student's t; with one episode a task it is Greenwood's own but for T/(T-1). A repeat is a
life of its own: the same episode, asked again, may differ elsewhere.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum

from spectrace.stats.distributions import t_quantile
from spectrace.stats.estimates import FEWEST_CLUSTERS, LEVEL, TOO_FEW, Estimate
from spectrace.stats.judgements import Fate, Review, course, fate
from spectrace.stats.proportions import clopper_pearson

GREENWOOD = "Kaplan-Meier, Greenwood 95 % over tasks, log(-log)"
ALIKE = "Kaplan-Meier, Clopper-Pearson 95 % over tasks"
NO_EPISODE = "none: no episode with a recorded review"
UNKNOWN_AT_ONCE = "none: nobody knows how any episode would have gone on after its first review"
_HALF = 0.5
_NOTHING = 1e-24
"""Above what rounding makes of a variance of 0."""


@dataclass(frozen=True, slots=True)
class Lifetime:
    """An episode: the review at which it first differs, or the last one up to which it is known to be the same."""

    task: str
    episode: str
    time: int
    ended: bool


@dataclass(frozen=True, slots=True)
class Point:
    """The share of episodes that are the same up to review `number`, that one counted."""

    number: int
    at_risk: int
    ended: int
    same: Estimate


def by_episode(reviews: Iterable[Review]) -> list[list[Review]]:
    """Return each episode's reviews in order, each repeat apart; derived ones were part of no episode's course."""
    groups: dict[tuple[str, int], list[Review]] = {}
    for one in reviews:
        if one.recorded is not None:
            groups.setdefault((one.episode, one.repeat), []).append(one)
    return [sorted(group, key=lambda one: one.number) for group in groups.values()]


def turning(reviews: Sequence[Review]) -> Review | None:
    """Return the first review of an episode that goes, or may go, another way; all after it is counterfactual."""
    return next((one for one in reviews if course(one.recorded, one.new) != "same"), None)


def lifetimes(reviews: Iterable[Review], *, unknown_differs: bool = False) -> list[Lifetime]:
    """Return how long each episode stays the same. Reviews are numbered on; a gap ends what is known."""
    return [_lifetime(group, unknown_differs=unknown_differs) for group in by_episode(reviews)]


def _lifetime(group: Sequence[Review], *, unknown_differs: bool) -> Lifetime:
    task, episode = group[0].task, group[0].episode
    for place, one in enumerate(group, start=1):
        found = course(one.recorded, one.new) if one.number == place else "unknown"
        if found == "same":
            continue
        differs = found == "differs" or unknown_differs
        return Lifetime(task, episode, place if differs else place - 1, differs)
    return Lifetime(task, episode, len(group), ended=False)


def curve(lives: Sequence[Lifetime]) -> list[Point]:
    """Return the curve at every review that some episode has."""
    tasks = sorted({one.task for one in lives})
    influence, survival = dict.fromkeys(tasks, 0.0), 1.0
    points: list[Point] = []
    for number in range(1, max((one.time for one in lives), default=0) + 1):
        at_risk = Counter(one.task for one in lives if one.time >= number)
        ended = Counter(one.task for one in lives if one.ended and one.time == number)
        n, d = at_risk.total(), ended.total()
        if d < n:  # where the last ones end, the curve is 0 and has no variance
            for task in tasks:
                influence[task] += (ended[task] - at_risk[task] * d / n) / (n - d)
        survival *= 1 - d / n
        variance = fsum(value**2 for value in influence.values()) * len(tasks) / max(len(tasks) - 1, 1)
        points.append(Point(number, n, d, _estimate(survival, variance, n, len(at_risk), len(tasks))))
    return points


def _estimate(survival: float, variance: float, n: int, at_risk: int, tasks: int) -> Estimate:
    if at_risk < FEWEST_CLUSTERS:
        return Estimate(value=survival, n=n, clusters=at_risk, method=TOO_FEW)
    if survival <= 0:
        return Estimate(value=survival, n=n, clusters=at_risk, method="none: no episode is left")
    if variance <= _NOTHING:  # nothing ended, or alike in all tasks: the variance says nothing, so a task counts once
        low, high = clopper_pearson(survival, at_risk)
        return Estimate(value=survival, low=low, high=high, n=n, clusters=at_risk, method=ALIKE)
    swing = t_quantile((1 + LEVEL) / 2, tasks - 1) * math.sqrt(variance) / abs(math.log(survival))
    low, high = survival ** math.exp(swing), survival ** math.exp(-swing)
    return Estimate(value=survival, low=low, high=high, n=n, clusters=at_risk, method=GREENWOOD)


@dataclass(frozen=True, slots=True)
class Median:
    """The first review at which at most half of the episodes are still the same; None: not reached."""

    value: int | None
    low: int | None
    high: int | None
    """The reviews at which the curve's ends pass one half (Brookmeyer and Crowley 1982)."""
    reviews: int
    """The last review that the curve has."""
    episodes: int
    clusters: int
    method: str


def median(lives: Sequence[Lifetime]) -> Median:
    """Return the median survival, with the interval that the curve's own gives it."""
    points, tasks = curve(lives), len({one.task for one in lives})
    spanned = [point for point in points if point.same.low is not None]
    begun = UNKNOWN_AT_ONCE if lives else NO_EPISODE
    method = next((point.same.method for point in [*spanned, *points]), begun)
    return Median(
        value=next((point.number for point in points if (point.same.value or 0.0) <= _HALF), None),
        low=next((point.number for point in spanned if (point.same.low or 0.0) <= _HALF), None),
        high=next(
            (point.number for point in spanned if point.same.high is not None and point.same.high <= _HALF), None
        ),
        reviews=len(points),
        episodes=len(lives),
        clusters=tasks,
        method=method,
    )


def fates(reviews: Iterable[Review]) -> Counter[Fate]:
    """Count what becomes of the writes that waited at each episode's turning review; later ones are counterfactual."""
    found = (fate(one) for group in by_episode(reviews) if (one := turning(group)) is not None)
    return Counter(one for one in found if one is not None)
