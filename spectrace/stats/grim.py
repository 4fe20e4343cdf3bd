"""GRIM: whether a percentage can be a share of so many episodes. A check of published scores, and of our own tables."""

from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

from spectrace.errors import UsageError


def counts(percent: str, n: int) -> range:
    """Return how many of n episodes may have passed where a table says `percent`, as written; empty: none can have.

    A last digit is taken as rounded either way: 12.5 may stand for 12.45 and for 12.55.
    """
    score = Decimal(percent)
    exponent = score.as_tuple().exponent
    if not isinstance(exponent, int) or not 0 <= score <= 100 or n < 1:  # noqa: PLR2004 - per cent
        raise UsageError(f"expected a percentage from 0 to 100 of at least 1 episode, found {percent} of {n}.")
    half = Fraction(10) ** min(exponent, 0) / 2
    low, high = (Fraction(score) - half) * n / 100, (Fraction(score) + half) * n / 100
    return range(max(ceil(low), 0), min(floor(high), n) + 1)
