"""SciPy is the oracle: a test dependency, where the base install has none of it."""

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from spectrace.stats.distributions import beta_cdf, beta_quantile, normal_cdf, t_quantile

SIZES = st.floats(0.05, 1e5)


@given(st.floats(0, 1), SIZES, SIZES)
def test_the_beta_distribution_is_scipys(x, a, b):
    assert beta_cdf(x, a, b) == pytest.approx(scipy.stats.beta.cdf(x, a, b), abs=1e-9)


@pytest.mark.parametrize(("a", "b"), [(1, 100), (0.5, 0.5), (37.2, 12.9), (150, 1), (13_333.3, 7_100.7)])
@pytest.mark.parametrize("p", [0.025, 0.5, 0.975])
def test_the_beta_quantile_is_scipys(p, a, b):
    assert beta_quantile(p, a, b) == pytest.approx(scipy.stats.beta.ppf(p, a, b), rel=1e-8)


@given(st.floats(0.01, 0.99), st.floats(0.5, 1e4), st.floats(0.5, 1e4))
def test_the_beta_quantile_is_the_inverse_of_the_distribution(p, a, b):
    assert beta_cdf(beta_quantile(p, a, b), a, b) == pytest.approx(p, abs=1e-8)


@pytest.mark.parametrize("freedom", [1, 9, 49, 113, 599])
@pytest.mark.parametrize("p", [0.005, 0.025, 0.5, 0.975])
def test_students_quantile_is_scipys(p, freedom):
    assert t_quantile(p, freedom) == pytest.approx(scipy.stats.t.ppf(p, freedom), rel=1e-8, abs=1e-12)


def test_the_normal_distribution_is_the_known_one():
    assert normal_cdf(-1.959963984540054) == pytest.approx(0.025)


@pytest.mark.parametrize(("a", "b"), [(0, 1), (1, -1), (float("nan"), 1)])
def test_parameters_that_make_no_distribution_are_refused(a, b):
    with pytest.raises(ValueError, match="parameters above 0"):
        beta_cdf(0.5, a, b)
