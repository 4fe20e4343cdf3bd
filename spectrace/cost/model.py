"""The paper's two propositions: what reviewing costs against writing, per committed step. Plain arithmetic.

A round drafts n steps, each valid with probability p. It commits the valid prefix and, after a rejection, the repair:
(1-p^n)/(1-p) steps. One review costs v, a strong model's own step d, a repair rho d; a weak step takes kappa strong
ones. v, d and rho may be in any one unit (FLOPs, bytes read, seconds, USD): only ratios enter. n is the number of
drafted steps per review, those of unreviewed segments included, so it is no integer and not K.

`(1-p)/(1-p^n)` is 0/0 at p = 1: written with expm1 it keeps full precision up to there, and 1/n is its limit.
"""

import math

from spectrace.errors import UsageError

_ROUNDING = 1e-12
"""p and the reviews per step are quotients of counts: they may miss a bound by their last digits."""


def relative_strong_cost(p: float, n: float, v_over_d: float, rho: float) -> float:
    """Return R = ((1-p)/(1-p^n))(v/d) + rho(1-p): the strong model's cost per committed step in units of d (Prop. 1).

    It goes from v/d + rho at p = 0 to v/(n d) as p goes to 1.
    """
    _require(p, n, v_over_d=v_over_d, rho=rho)
    return reviews_per_step(p, n) * v_over_d + rho * (1 - p)


def relative_latency(p: float, n: float, v_over_d: float, rho: float, kappa: float) -> float:
    """Return the time per committed step in units of a strong step: R of the times and `drafting_latency` (Prop. 2).

    Below 1 the task ends sooner than with the strong model alone. v_over_d and rho are ratios of times here.
    """
    return relative_strong_cost(p, n, v_over_d, rho) + drafting_latency(p, n, kappa)


def drafting_latency(p: float, n: float, kappa: float) -> float:
    """Return the term that Proposition 2 adds: weak steps per committed step, each kappa strong steps long."""
    _require(p, n, kappa=kappa)
    return kappa * n * reviews_per_step(p, n)


def reviews_per_step(p: float, n: float) -> float:
    """Return (1-p)/(1-p^n), the reviews per committed step: 1 at p = 0, 1/n as p goes to 1."""
    _require(p, n)
    if p == 0:
        return 1.0
    if p == 1:
        return 1 / n
    return min(1.0, (1 - p) / -math.expm1(n * math.log(p)))


def drafted_per_review(p: float, reviews: float) -> float:
    """Return the n at which Proposition 1 has so many reviews per committed step: the inverse of `reviews_per_step`.

    Infinite where no review accepts a whole segment (reviews = 1-p); raise UsageError where there is none.
    """
    _require(p, 1.0)
    if not (1 - p) * (1 - _ROUNDING) <= reviews <= 1 + _ROUNDING or reviews == 0:
        raise UsageError(
            "Proposition 1 has from 1-p to 1 reviews for each committed step; "
            f"with p = {p:g} found {reviews:g}, and no n gives that."
        )
    if p == 0 or reviews >= 1:  # every step is a repair, or has a review of its own
        return 1.0
    if p == 1:
        return 1 / reviews
    short = (1 - p) / reviews
    return math.inf if short >= 1 else max(1.0, math.log1p(-short) / math.log(p))


def _require(p: float, n: float, **ratios: float) -> None:
    if not 0 <= p <= 1:
        raise UsageError(f"p is the probability that a drafted step is valid, from 0 to 1; found {p}.")
    if not 1 <= n < math.inf:
        raise UsageError(f"n is the number of drafted steps per review, a number of at least 1; found {n}.")
    for name, value in ratios.items():
        if not 0 <= value < math.inf:
            raise UsageError(f"{name} is a ratio of costs, 0 or more; found {value}.")
