"""E1 of a re-verification: how far two verifiers agree over all recorded reviews, each in its recorded context.

The accepted length is censored by the segment's, so the first question is `accept everything, yes or no`: a share,
Cohen's kappa and Gwet's AC1 (2008, British Journal of Mathematical and Statistical Psychology 61), which stands where
nearly all is accepted and kappa falls to 0. What a verifier did not judge is left out and counted; bounds count it
either way.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from spectrace.stats.bootstrap import Statistic, TaskBootstrap
from spectrace.stats.estimates import Cluster, Clusters, Estimate, clustered
from spectrace.stats.judgements import Both, Judgement, Kind, Review, compared
from spectrace.stats.proportions import proportion

NONE_COMPARED = "none: no review that both judged"
NONE_REJECTED = "none: no review that both reject"
NO_REVIEW = "none: no review"
ONE_ANSWER = "none: both accept all, or both reject all: chance explains everything"

_MOST_WAYS = 200_000
_FIRST = ((True, True), (True, False), (True, None))
_SECOND = ((True, True), (False, True), (None, True))
_OPEN = (((True, None), (False, None)), ((None, True), (None, False)), ((None, None),))
"""Cells of a table where the new verdict is open, the recorded one, or both."""

Table = Counter[tuple[bool | None, bool | None]]
"""How many reviews (the recorded verdict accepts, the new one accepts); None: it left the review open."""


def agreement(reviews: Iterable[Review]) -> Estimate:
    """Estimate the share of reviews where both say the same to `accept everything?`."""
    return _share(((one.task, _agree(both)) for both in compared(reviews) for one in both[:1]), NONE_COMPARED)


def bounds(reviews: Iterable[Review]) -> Estimate:
    """Return what the agreement would be with every review that one of them left open counted as no, and as yes."""
    asked = [one for one in reviews if one.recorded is not None]
    judged = compared(asked)
    return _between(sum(map(_agree, judged)), len(asked) - len(judged), asked)


def bounds_of(reviews: Iterable[Review], statistic: Statistic) -> Estimate:
    """Return the least and the most of kappa or AC1, whatever those would have said that left a review open."""
    asked = [one for one in reviews if one.recorded is not None]
    open_ = len(asked) - len(compared(asked))
    n, clusters = len(asked), len({one.task for one in asked})
    table = Counter((_accepts(one.recorded), _accepts(one.new)) for one in asked)
    if _ways(table) > _MOST_WAYS:
        return Estimate(
            value=None, n=n, clusters=clusters, method=f"none: {open_} left out may be filled in too many ways"
        )
    values = [value for shares in _filled(table) if (value := statistic(shares)) is not None]
    if not values:
        return Estimate(value=None, n=n, clusters=clusters, method=ONE_ANSWER if n else NO_REVIEW)
    return Estimate(
        value=None, low=min(values), high=max(values), n=n, clusters=clusters, method=_counted_either_way(open_, n)
    )


def kappa(reviews: Iterable[Review], bootstrap: TaskBootstrap) -> Estimate:
    """Estimate Cohen's kappa of `accept everything, yes or no`; without a value where both always say the same one."""
    found = _of_shares(reviews, kappa_of, bootstrap)
    return replace(found, method=ONE_ANSWER) if found.clusters and found.value is None else found


def ac1(reviews: Iterable[Review], bootstrap: TaskBootstrap) -> Estimate:
    """Estimate Gwet's AC1 of `accept everything, yes or no`."""
    return _of_shares(reviews, ac1_of, bootstrap)


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
    found = ((one.task, old.accepted == new.accepted) for one, old, new in _both_reject(reviews))
    return _share(found, NONE_REJECTED)


def per_step(reviews: Iterable[Review]) -> Estimate:
    """Estimate the agreement on single steps: those up to either's first wrong step. n counts steps."""
    totals: dict[str, Cluster] = {}
    for one, old, new in compared(reviews):
        judged, differ = min(old.accepted, new.accepted) + 1, old.accepted != new.accepted
        steps, before = min(judged, one.drafted), totals.get(one.task, Cluster(0, 0.0))
        totals[one.task] = Cluster(before.n + steps, before.total + steps - differ)
    return _named(proportion({task: found for task, found in totals.items() if found.n}), NONE_COMPARED)


def signed_difference(reviews: Iterable[Review], bootstrap: TaskBootstrap) -> Estimate:
    """Estimate the mean of new less recorded accepted/m: above 0 the new verifier accepts more."""
    found = [
        (one.task, (new.accepted - old.accepted) / one.drafted) for one, old, new in compared(reviews) if one.drafted
    ]
    return _named(bootstrap.estimate(lambda means: means[0], clustered(found)), NONE_COMPARED)


def categories(reviews: Iterable[Review]) -> Counter[tuple[str, str]]:
    """Count the categories (recorded, new) of the reviews that both reject."""
    return Counter((old.category or "none", new.category or "none") for _, old, new in _both_reject(reviews))


def left_out(reviews: Iterable[Review]) -> dict[Kind, int]:
    """Count the reviews that are in no agreement, by why: the recorded side's reason first. Derived ones are apart."""
    asked = [(one.recorded, one.new) for one in reviews if one.recorded is not None]
    return dict(Counter(new.kind if old.read else old.kind for old, new in asked if not (old.read and new.read)))


def rejected_again(reviews: Iterable[Review]) -> Estimate:
    """Estimate P(new rejects | recorded = rejected): all that a pass over rejections alone can say."""
    rejected = ((one, old, new) for one, old, new in compared(reviews) if old.kind == "reject")
    return _share(
        ((one.task, new.kind == "reject") for one, _, new in rejected), "none: no recorded rejection judged again"
    )


def rejected_again_bounds(reviews: Iterable[Review]) -> Estimate:
    """Return what it would be with every rejection that was not judged again counted as accepted, and as rejected."""
    asked = [one for one in reviews if one.recorded is not None and one.recorded.kind == "reject"]
    return _between(sum(one.new.kind == "reject" for one in asked), sum(not one.new.read for one in asked), asked)


def _between(yes: int, out: int, asked: Sequence[Review]) -> Estimate:
    n, clusters = len(asked), len({one.task for one in asked})
    if not n:
        return Estimate(value=None, n=0, clusters=0, method=NO_REVIEW)
    method = _counted_either_way(out, n)
    return Estimate(value=None, low=yes / n, high=(yes + out) / n, n=n, clusters=clusters, method=method)


def _counted_either_way(out: int, n: int) -> str:
    return f"bounds: {out} of {n} counted either way"


def _accepts(judgement: Judgement | None) -> bool | None:
    return judgement.kind == "accept" if judgement is not None and judgement.read else None


def _ways(table: Table) -> int:
    new, recorded, neither = (sum(table[key] for key in keys) for keys in _OPEN)
    return (new + 1) * (recorded + 1) * (neither + 1) ** 2


def _filled(table: Table) -> Iterator[tuple[float, float, float]]:
    """Yield the shares (both accept, the first, the second) at the ends of what the open cells may hold.

    With how often each accepts given, kappa and AC1 rise with how often both do: only that one's ends matter.
    """
    n, neither = max(table.total(), 1), table[None, None]
    both = table[True, True]
    first, second = (sum(table[key] for key in keys) for keys in (_FIRST, _SECOND))
    for new in range(table[True, None] + table[False, None] + 1):
        for recorded in range(table[None, True] + table[None, False] + 1):
            for i in range(neither + 1):
                for j in range(neither + 1):
                    least = max(new - table[False, None], 0) + max(recorded - table[None, False], 0)
                    most = min(new, table[True, None]) + min(recorded, table[None, True]) + min(i, j)
                    for more in (least + max(i + j - neither, 0), most):
                        yield (both + more) / n, (first + recorded + i) / n, (second + new + j) / n


def _agree(both: Both) -> bool:
    _, old, new = both
    return old.kind == new.kind


def _both_reject(reviews: Iterable[Review]) -> Iterator[Both]:
    return (both for both in compared(reviews) if both[1].kind == both[2].kind == "reject")


def _share(found: Iterable[tuple[str, bool]], otherwise: str) -> Estimate:
    return _named(proportion(clustered((task, float(value)) for task, value in found)), otherwise)


def _named(estimate: Estimate, otherwise: str) -> Estimate:
    """Say in the words of a re-verification why there is nothing to estimate."""
    return estimate if estimate.clusters else replace(estimate, method=otherwise)


def _of_shares(reviews: Iterable[Review], statistic: Statistic, bootstrap: TaskBootstrap) -> Estimate:
    """Estimate a statistic of a two by two table; n counts reviews."""
    judged = compared(reviews)

    def sample(which: Callable[[bool, bool], bool]) -> Clusters:
        return clustered(
            (one.task, float(which(old.kind == "accept", new.kind == "accept"))) for one, old, new in judged
        )

    three = (sample(lambda old, new: old and new), sample(lambda old, _: old), sample(lambda _, new: new))
    found = bootstrap.estimate(statistic, *three)
    return _named(replace(found, n=len(judged)), NONE_COMPARED)


def _beyond_chance(shares: Sequence[float], chance: float) -> float | None:
    both, first, second = shares
    observed = 1 - first - second + 2 * both
    return None if chance == 1 else (observed - chance) / (1 - chance)
