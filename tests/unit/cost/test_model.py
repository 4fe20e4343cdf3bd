import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectrace.cost.model import (
    drafted_per_review,
    drafting_latency,
    relative_latency,
    relative_strong_cost,
    reviews_per_step,
)
from spectrace.errors import UsageError

NEAR_0 = st.floats(0, 1e-6, allow_subnormal=True)
NEAR_1 = st.integers(1, 10**6).map(lambda ulps: 1 - ulps * 2**-53)
PROBABILITIES = st.floats(0, 1) | NEAR_0 | NEAR_1
RATIOS = st.floats(0, 100, allow_subnormal=False)


def exact(p, n, v_over_d, rho):
    """R as a fraction: what the floats p, v/d and rho say exactly, for a whole n."""
    p, v_over_d, rho = Fraction(p), Fraction(v_over_d), Fraction(rho)
    reviews = 1 / Fraction(n) if p == 1 else (1 - p) / (1 - p**n)
    return reviews * v_over_d + rho * (1 - p)


@given(PROBABILITIES, st.integers(1, 40), RATIOS, RATIOS)
def test_r_is_right_to_the_last_digits_wherever_p_lies(p, n, v_over_d, rho):
    right = exact(p, n, v_over_d, rho)

    assert abs(Fraction(relative_strong_cost(p, n, v_over_d, rho)) - right) <= right * Fraction(2, 10**15) + Fraction(
        1, 10**300
    )


@given(NEAR_1 | st.floats(1e-3, 0.999), st.floats(1, 50))
def test_reviews_per_step_are_right_for_an_n_that_is_no_integer(p, n):
    with localcontext() as context:
        context.prec = 60
        right = (1 - Decimal(p)) / (1 - Decimal(p) ** Decimal(n))

        assert abs(Decimal(reviews_per_step(p, n)) / right - 1) < Decimal("2e-15")


@given(PROBABILITIES, st.floats(1, 1e6))
def test_reviews_per_step_lie_between_one_in_n_and_one(p, n):
    assert (1 / n) * (1 - 1e-15) <= reviews_per_step(p, n) <= 1 + 1e-15


@given(st.floats(1, 100), RATIOS, RATIOS)
def test_at_p_0_every_step_is_reviewed_and_repaired(n, v_over_d, rho):
    assert relative_strong_cost(0, n, v_over_d, rho) == v_over_d + rho


@given(st.floats(1, 100), RATIOS, RATIOS)
def test_at_p_1_n_steps_share_a_review(n, v_over_d, rho):
    assert relative_strong_cost(1, n, v_over_d, rho) == pytest.approx(v_over_d / n, rel=1e-15)


@given(st.floats(1, 100), RATIOS, RATIOS)
def test_r_has_no_step_at_p_1(n, v_over_d, rho):
    below = relative_strong_cost(1 - 2**-53, n, v_over_d, rho)

    assert below == pytest.approx(relative_strong_cost(1, n, v_over_d, rho), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("p", "latency"), [(0, 6 * 0.2), (1, 0.2)])
def test_drafting_takes_kappa_n_at_p_0_and_kappa_at_p_1(p, latency):
    assert drafting_latency(p, 6, 0.2) == pytest.approx(latency, rel=1e-15)


def test_a_weak_step_as_slow_as_a_strong_one_leaves_nothing_to_gain():
    assert relative_latency(1, 6, 0.3, 1, kappa=1) == pytest.approx(0.3 / 6 + 1)


def test_a_cheap_weak_step_ends_the_task_sooner():
    assert relative_latency(0.95, 6, 0.5, 1.0, kappa=0.2) < 1


@given(st.floats(0.01, 1), st.floats(1, 60))
def test_n_is_found_again_from_the_reviews(p, n):
    found = drafted_per_review(p, reviews_per_step(p, n))

    assert reviews_per_step(p, min(found, 1e6)) == pytest.approx(reviews_per_step(p, n), rel=1e-9)


def test_n_is_infinite_where_no_review_accepts_everything():
    assert drafted_per_review(0.75, 0.25) == math.inf


def test_n_is_1_where_every_step_is_a_repair():
    assert drafted_per_review(0, 1) == 1


@pytest.mark.parametrize(("p", "reviews"), [(0.5, 0.4), (0.5, 1.2), (1, 0)])
def test_reviews_that_no_n_explains_are_refused(p, reviews):
    with pytest.raises(UsageError, match="no n gives that"):
        drafted_per_review(p, reviews)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((-0.1, 6, 1, 1, 1), "from 0 to 1; found -0.1"),
        ((1.1, 6, 1, 1, 1), "from 0 to 1; found 1.1"),
        ((math.nan, 6, 1, 1, 1), "from 0 to 1; found nan"),
        ((0.5, 0.5, 1, 1, 1), "at least 1; found 0.5"),
        ((0.5, math.inf, 1, 1, 1), "at least 1; found inf"),
        ((0.5, 6, -1, 1, 1), "v_over_d is a ratio of costs, 0 or more; found -1"),
        ((0.5, 6, 1, math.nan, 1), "rho is a ratio of costs, 0 or more; found nan"),
        ((0.5, 6, 1, 1, math.inf), "kappa is a ratio of costs, 0 or more; found inf"),
    ],
)
def test_values_that_mean_nothing_are_refused_by_name(arguments, said):
    with pytest.raises(UsageError, match=said):
        relative_latency(*arguments)
