"""Quantiles of the beta and of Student's t distribution, from the regularised incomplete beta function.

The continued fraction of DLMF 8.17.22, evaluated as Lentz does; good to about 1e-10 for parameters up to 10^5.
"""

import math
from functools import lru_cache

_TERMS = 10_000
_CONVERGED = 1e-15
_TINY = 1e-300
_STEPS = 200
_SAME = 1e-15
_FLAT = -600.0
"""The logarithm of a density below which a step of Newton's would be no number."""


def beta_cdf(x: float, a: float, b: float) -> float:
    """Return P(X <= x) of a beta(a, b) variable."""
    if not (a > 0 and b > 0):
        msg = f"a beta distribution needs parameters above 0, found {a} and {b}"
        raise ValueError(msg)
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # where the fraction converges slowly, its mirror image converges fast
        return 1 - beta_cdf(1 - x, b, a)
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(front) / (a * _fraction(x, a, b))


def _fraction(x: float, a: float, b: float) -> float:
    """Return 1 + d1/(1 + d2/(1 + ...))."""
    value = numerator = 1.0
    denominator = 0.0
    for term in range(1, _TERMS):
        m = term // 2
        if term % 2:
            d = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            d = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        denominator = 1 / ((1 + d * denominator) or _TINY)
        numerator = (1 + d / numerator) or _TINY
        value *= numerator * denominator
        if abs(numerator * denominator - 1) < _CONVERGED:
            return value
    msg = f"the incomplete beta function did not converge at x = {x}, a = {a}, b = {b}"
    raise ArithmeticError(msg)


def beta_quantile(p: float, a: float, b: float) -> float:
    """Return x with P(X <= x) = p: by Newton's steps, and by halving wherever one of them leaves the bracket."""
    low, high, x = 0.0, 1.0, a / (a + b)
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    for _ in range(_STEPS):
        beyond = beta_cdf(x, a, b) - p
        low, high = (x, high) if beyond < 0 else (low, x)
        log_density = (a - 1) * math.log(x) + (b - 1) * math.log1p(-x) - log_beta
        step = beyond * math.exp(-log_density) if log_density > _FLAT else math.inf
        following = x - step if low < x - step < high else (low + high) / 2
        if following in {low, high} or abs(following - x) <= _SAME * x:
            return following
        x = following
    return x


@lru_cache(maxsize=1024)
def t_quantile(p: float, freedom: float) -> float:
    """Return the quantile of Student's t: a beta variable in disguise."""
    if p == 0.5:  # noqa: PLR2004 - the middle, by symmetry
        return 0.0
    x = beta_quantile(2 * min(p, 1 - p), freedom / 2, 0.5)
    return math.copysign(math.sqrt(freedom * (1 - x) / x), p - 0.5)


def normal_cdf(x: float) -> float:
    """Return P(X <= x) of a standard normal variable; `statistics.NormalDist` rounds otherwise from 3.13 on."""
    return math.erfc(-x / math.sqrt(2)) / 2
