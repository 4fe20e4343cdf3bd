"""E1 of a re-verification: how far two verifiers agree over all recorded reviews, each in its recorded context.

The accepted length is censored by the segment's, so the first question is `accept everything, yes or no`: a share,
Cohen's kappa and Gwet's AC1 (2008, British Journal of Mathematical and Statistical Psychology 61), which stands where
nearly all is accepted and kappa falls to 0. What a verifier did not judge is left out and counted; bounds count it
either way. Any two series of judgements will do: `repeats.paired` makes reviews of two new ones. n counts segments,
however often each was judged; `repeats` says how that is.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import lcm

from spectrace.stats import left_open
from spectrace.stats.estimates import Cluster, Clusters, Estimate, Intervals, Statistic, clustered
from spectrace.stats.jackknife import TaskJackknife
from spectrace.stats.judgements import Both, Judgement, Kind, Review, asked, compared
from spectrace.stats.left_open import NO_REVIEW
from spectrace.stats.proportions import proportion
from spectrace.stats.repeats import Value, by_segment, mean_over
from spectrace.stats.tables import Table, extremes

NONE_COMPARED = "none: no review that both judged"
NONE_REJECTED = "none: no review that both reject"
ONE_ANSWER = "none: both accept all, or both reject all: chance explains everything"

_OF_A_TABLE = TaskJackknife(extremes=((1.0, 1.0, 1.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)))
_OF_A_MEAN = TaskJackknife()


def agreement(reviews: Iterable[Review]) -> Estimate:
    """Estimate the share of reviews where both say the same to `accept everything?`."""
    return _share(compared(reviews), _agree, NONE_COMPARED)


def bounds(reviews: Iterable[Review]) -> Estimate:
    """Return what the agreement would be with every review that one of them left open counted as no, and as yes."""
    return left_open.between(asked(reviews), left_open.agreeing)


def bounds_of(reviews: Iterable[Review], statistic: Statistic) -> Estimate:
    """Return the least and the most of kappa or AC1, whatever those would have said that left a review open."""
    every = asked(reviews)
    groups = by_segment(every)
    n, clusters = len(groups), len({group[0][0].task for group in groups})
    values = [value for shares in extremes(_table(groups)) if n and (value := statistic(shares)) is not None]
    if not values:
        return Estimate(value=None, n=n, clusters=clusters, method=ONE_ANSWER if n else NO_REVIEW)
    low, high = max(min(values), -1.0), min(max(values), 1.0)  # past its ends by rounding alone
    return Estimate(value=None, low=low, high=high, n=n, clusters=clusters, method=left_open.method(every))


def kappa(reviews: Iterable[Review], intervals: Intervals = _OF_A_TABLE) -> Estimate:
    """Estimate Cohen's kappa of `accept everything, yes or no`; without a value where both always say the same one."""
    found = _of_shares(reviews, kappa_of, intervals)
    return replace(found, method=ONE_ANSWER) if found.clusters and found.value is None else found


def ac1(reviews: Iterable[Review], intervals: Intervals = _OF_A_TABLE) -> Estimate:
    """Estimate Gwet's AC1 of `accept everything, yes or no`."""
    return _of_shares(reviews, ac1_of, intervals)


def kappa_of(shares: Sequence[float]) -> float | None:
    """Return kappa from the shares of (both accept, the first accepts, the second accepts)."""
    _, first, second = shares
    return _beyond_chance(shares, first * second + (1 - first) * (1 - second))


def ac1_of(shares: Sequence[float]) -> float | None:
    """Return AC1 from the same shares."""
    _, first, second = shares
    middle = (first + second) / 2
    return _beyond_chance(shares, 2 * middle * (1 - middle))


def same_step(reviews: Iterable[Review]) -> Estimate:
    """Estimate how often the first wrong step is the same, given that both reject."""
    return _share(_both_reject(reviews), lambda both: both[1].accepted == both[2].accepted, NONE_REJECTED)


def same_step_bounds(reviews: Iterable[Review]) -> Estimate:
    """Return what it would be had both rejected every open review that they may have, at another step or the same."""
    return left_open.between(asked(reviews), left_open.same_step)


def per_step(reviews: Iterable[Review]) -> Estimate:
    """Estimate the agreement on single steps: those up to either's first wrong step. n counts steps."""
    judged = compared(reviews)
    groups = by_segment(judged)
    steps, alike = (
        clustered((group[0][0].task, mean_over(group, value)) for group in groups) for value in (_steps, _steps_alike)
    )
    found = {task: Cluster(steps[task].total, alike[task].total) for task in steps if steps[task].total}
    return _named(proportion(found, answers=sum(map(_steps, judged))), NONE_COMPARED)


def per_step_bounds(reviews: Iterable[Review]) -> Estimate:
    """Return what it would be had every open review differed at once, or been judged alike to its end."""
    return left_open.between(asked(reviews), left_open.per_step)


def signed_difference(reviews: Iterable[Review], intervals: Intervals = _OF_A_MEAN) -> Estimate:
    """Estimate the mean of new less recorded accepted/m: above 0 the new verifier accepts more."""
    groups = by_segment(both for both in compared(reviews) if both[0].drafted)
    found = clustered((group[0][0].task, mean_over(group, _longer)) for group in groups)
    return _named(intervals.estimate(lambda means: means[0], found), NONE_COMPARED)


def signed_difference_bounds(reviews: Iterable[Review]) -> Estimate:
    """Return what it would be with every open accepted/m where that makes it least, and most."""
    return left_open.between(asked(reviews), left_open.signed_difference)


def categories(reviews: Iterable[Review]) -> Counter[tuple[str, str]]:
    """Count the categories (recorded, new) of the answers that both reject, in the order of the words."""
    return Counter(sorted((old.category or "none", new.category or "none") for _, old, new in _both_reject(reviews)))


def left_out(reviews: Iterable[Review]) -> dict[Kind, int]:
    """Count the answers that are in no agreement, by why: the recorded side's reason first. Derived ones are apart."""
    out = (new.kind if old.read else old.kind for _, old, new in asked(reviews) if not (old.read and new.read))
    return dict(sorted(Counter(out).items()))


def rejected_again(reviews: Iterable[Review]) -> Estimate:
    """Estimate P(new rejects | recorded = rejected): all that a pass over rejections alone can say."""
    return _share(_rejected(compared(reviews)), _agree, "none: no recorded rejection judged again")


def rejected_again_bounds(reviews: Iterable[Review]) -> Estimate:
    """Return what it would be with every rejection that was not judged again counted as accepted, and as rejected."""
    return left_open.between(_rejected(asked(reviews)), left_open.agreeing)


def _rejected(found: Iterable[Both]) -> list[Both]:
    return [both for both in found if both[1].kind == "reject"]


def _both_reject(reviews: Iterable[Review]) -> list[Both]:
    return [both for both in compared(reviews) if both[1].kind == both[2].kind == "reject"]


def _agree(both: Both) -> bool:
    return both[1].kind == both[2].kind


def _steps(both: Both) -> int:
    """Return how many steps both judged: up to the first wrong one of either."""
    one, old, new = both
    return min(old.accepted + 1, new.accepted + 1, one.drafted)


def _steps_alike(both: Both) -> int:
    return _steps(both) - (both[1].accepted != both[2].accepted)


def _longer(both: Both) -> float:
    one, old, new = both
    return (new.accepted - old.accepted) / one.drafted


def _share(judged: Sequence[Both], yes: Value, otherwise: str) -> Estimate:
    found = clustered((group[0][0].task, mean_over(group, yes)) for group in by_segment(judged))
    return _named(proportion(found, answers=len(judged)), otherwise)


def _named(estimate: Estimate, otherwise: str) -> Estimate:
    """Say in the words of a re-verification why there is nothing to estimate."""
    return estimate if estimate.clusters else replace(estimate, method=otherwise)


def _of_shares(reviews: Iterable[Review], statistic: Statistic, intervals: Intervals) -> Estimate:
    """Estimate a statistic of a two by two table."""
    groups = by_segment(compared(reviews))

    def sample(which: Value) -> Clusters:
        return clustered((group[0][0].task, mean_over(group, which)) for group in groups)

    found = intervals.estimate(statistic, *map(sample, (_both_accept, _first_accepts, _second_accepts)))
    return _named(replace(found, n=len(groups)), NONE_COMPARED)


def _both_accept(both: Both) -> bool:
    return both[1].kind == both[2].kind == "accept"


def _first_accepts(both: Both) -> bool:
    return both[1].kind == "accept"


def _second_accepts(both: Both) -> bool:
    return both[2].kind == "accept"


def _table(groups: Sequence[Sequence[Both]]) -> Table:
    """Return the table; where segments were asked different numbers of times, all counts are multiples of one."""
    whole = lcm(*map(len, groups))
    found = Table()
    for group in groups:
        for _, old, new in group:
            found[_accepts(old), _accepts(new)] += whole // len(group)
    return found


def _accepts(judgement: Judgement) -> bool | None:
    return judgement.kind == "accept" if judgement.read else None


def _beyond_chance(shares: Sequence[float], chance: float) -> float | None:
    both, first, second = shares
    observed = 1 - first - second + 2 * both
    return None if chance == 1 else (observed - chance) / (1 - chance)
