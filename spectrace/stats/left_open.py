"""What the reviews that somebody left open could make of a statistic: its bounds, with all of them counted either way.

A statistic here is one sum over another; for each review the least and the most say what it would add to both. Of
`accept everything?` an open answer is a yes or a no; of steps, the worst is to differ at once and the best to be judged
alike to the end of what the other one judged. Kappa and AC1, which are no such ratio, have `tables`.
"""

from collections.abc import Callable, Sequence
from math import fsum

from spectrace.stats.estimates import Estimate
from spectrace.stats.judgements import Both
from spectrace.stats.repeats import by_segment

NO_REVIEW = "none: no review"

Part = tuple[float, float]
"""What a review adds to the sum above and to the one below."""
Ends = tuple[Part, Part]
"""At the least and at the most."""

_NOTHING: Part = (0.0, 0.0)


def between(asked: Sequence[Both], ends: Callable[[Both], Ends]) -> Estimate:
    """Return the bounds; a segment counts once, however often it was judged."""
    groups = by_segment(asked)
    clusters = len({group[0][0].task for group in groups})
    low, high = (_ratio(groups, ends, side) for side in (0, 1))
    if low is None and high is None:
        return Estimate(value=None, n=len(groups), clusters=clusters, method=NO_REVIEW)
    low, high = high if low is None else low, low if high is None else high
    return Estimate(value=None, low=low, high=high, n=len(groups), clusters=clusters, method=method(asked))


def method(asked: Sequence[Both]) -> str:
    """Say how many answers were open."""
    return f"bounds: {sum(map(_open, asked))} of {len(asked)} counted either way"


def _ratio(groups: Sequence[list[Both]], ends: Callable[[Both], Ends], side: int) -> float | None:
    parts = [(ends(both)[side], len(group)) for group in groups for both in group]
    above, below = (fsum(part[place] / repeats for part, repeats in parts) for place in (0, 1))
    return above / below if below else None


def agreeing(both: Both) -> Ends:
    """Return what a review adds to the agreement."""
    return ((0.0, 1.0), (1.0, 1.0)) if _open(both) else _sure(both[1].kind == both[2].kind, 1)


def same_step(both: Both) -> Ends:
    """Return what a review adds to the first wrong steps that are the same, where it may be that both reject."""
    one, old, new = both
    if "accept" in {old.kind, new.kind}:
        return _NOTHING, _NOTHING
    if _open(both):
        return (0.0, 1.0) if one.drafted > 1 else _NOTHING, (1.0, 1.0)
    return _sure(old.accepted == new.accepted, 1)


def per_step(both: Both) -> Ends:
    """Return what a review adds to the steps judged alike."""
    one, old, new = both
    if not one.drafted:
        return _NOTHING, _NOTHING
    lengths = [each.accepted for each in (old, new) if each.read]
    steps = min(min(lengths, default=one.drafted) + 1, one.drafted)
    if _open(both):
        return (0.0, 1.0), (float(steps), float(steps))
    return _sure(steps - (old.accepted != new.accepted), steps)


def signed_difference(both: Both) -> Ends:
    """Return what a review adds to the mean of new less recorded accepted/m."""
    one, old, new = both
    if not one.drafted:
        return _NOTHING, _NOTHING
    (least, most), (old_least, old_most) = (
        (each.accepted / one.drafted,) * 2 if each.read else (0.0, 1.0) for each in (new, old)
    )
    return (least - old_most, 1.0), (most - old_least, 1.0)


def _sure(value: float, of: float) -> Ends:
    return (float(value), float(of)), (float(value), float(of))


def _open(both: Both) -> bool:
    return not (both[1].read and both[2].read)
