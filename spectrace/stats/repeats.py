"""Repeats, and two passes against each other: how several verdicts on one segment enter the statistics.

E1 takes the mean over the repeats of a segment: it counts as one review however often a verifier was asked, and its
task stays the cluster; asking more often makes an interval narrower only by what it takes from a verifier's own noise.
E2 takes each repeat as a life of the episode. Of two passes, every verdict of the one stands against every verdict of
the other: 1 - E1 is then the D01 of `noise`, segment by segment. Counterpart of `noise`, which says what of a
disagreement is no more than repeats show.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import product
from math import fsum

from spectrace.stats.judgements import Both, Review

Value = Callable[[Both], float]


def by_segment(reviews: Iterable[Both]) -> list[list[Both]]:
    """Return the repeats of each segment together; the same repeat twice is two reviews."""
    listed = list(reviews)
    if all(both[0].repeat == 1 for both in listed):
        return [[both] for both in listed]
    seen: Counter[tuple[str, int, int]] = Counter()
    groups: dict[tuple[str, int, int], list[Both]] = {}
    for both in listed:
        one = both[0]
        place = (one.episode, one.number, one.repeat)
        seen[place] += 1
        groups.setdefault((one.episode, one.number, seen[place]), []).append(both)
    return list(groups.values())


def mean_over(group: list[Both], value: Value) -> float:
    """Return the mean over one segment's repeats: 1 where it is 1 of all."""
    return value(group[0]) if len(group) == 1 else fsum(map(value, group)) / len(group)


def paired(first: Iterable[Review], second: Iterable[Review]) -> list[Review]:
    """Set two passes against each other: reviews whose `recorded` is the first one's new verdict, sorted by place.

    What only one of them was asked is in neither. A repeat of the result is a pair of theirs.
    """
    other = _places(second)
    return [
        replace(one, recorded=one.new, new=two.new, repeat=repeat)
        for place, mine in sorted(_places(first).items())
        for repeat, (one, two) in enumerate(product(mine, other.get(place, [])), start=1)
    ]


def _places(reviews: Iterable[Review]) -> dict[tuple[str, int], list[Review]]:
    groups: dict[tuple[str, int], list[Review]] = {}
    for one in sorted(reviews, key=_repeat):
        groups.setdefault((one.episode, one.number), []).append(one)
    return groups


def _repeat(review: Review) -> int:
    return review.repeat
