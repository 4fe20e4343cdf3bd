import random

import numpy as np
import pytest
import scipy
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

from spectrace.stats.estimates import TOO_FEW, clustered
from spectrace.stats.proportions import KORN_GRAUBARD, clopper_pearson, effective_size, proportion


def alike(passed, failed, trials=1):
    """Tasks whose trials all come out the same."""
    outcomes = [1] * passed + [0] * failed
    return clustered((str(task), outcome) for task, outcome in enumerate(outcomes) for _ in range(trials))


def test_the_exact_interval_is_scipys():
    exact = scipy.stats.binomtest(129, 150).proportion_ci(method="exact")

    assert clopper_pearson(129 / 150, 150) == pytest.approx((exact.low, exact.high))


@pytest.mark.parametrize("seed", range(5))
def test_the_exact_interval_is_statsmodels(seed):
    draw = random.Random(seed)  # noqa: S311 - random data
    n = draw.randint(1, 3000)
    x = draw.randint(0, n)

    assert clopper_pearson(x / n, n) == pytest.approx(sm.stats.proportion_confint(x, n, method="beta"))


@pytest.mark.parametrize("seed", range(5))
def test_the_variance_between_tasks_is_statsmodels(seed):
    """That of an intercept with errors clustered by task."""
    rng = np.random.default_rng(seed)
    task = np.repeat(np.arange(40), rng.integers(1, 9, 40))
    passed = (rng.random(task.size) < rng.beta(1, 1, 40)[task]).astype(float)
    oracle = sm.OLS(passed, np.ones(task.size)).fit(cov_type="cluster", cov_kwds={"groups": task})
    freedom = scipy.stats.t.ppf(0.975, task.size - 1) / scipy.stats.t.ppf(0.975, 39)
    worth = passed.mean() * (1 - passed.mean()) / oracle.bse[0] ** 2 * freedom**2

    assert effective_size(clustered(zip(map(str, task), passed, strict=True))) == pytest.approx(min(worth, task.size))


def test_a_mean_over_repeats_is_worth_no_more_than_its_answers():
    """Of ten answers each the same share: without variance between tasks it is worth every answer."""
    halves = clustered((str(task), 0.5) for task in range(20))

    assert (effective_size(halves), effective_size(halves, answers=200)) == (20, 200)


def test_one_trial_a_task_is_worth_nearly_its_episodes():
    assert effective_size(alike(86, 14)) == pytest.approx(99, abs=0.01)  # the variance has T-1 below it


def test_trials_that_repeat_their_task_are_worth_one_each():
    once, thrice = effective_size(alike(43, 7)), effective_size(alike(43, 7, trials=3))

    assert once < 50
    assert thrice == pytest.approx(once * (scipy.stats.t.ppf(0.975, 149) / scipy.stats.t.ppf(0.975, 49)) ** 2, rel=1e-6)


def test_tasks_that_vary_less_than_chance_are_worth_no_more_than_their_episodes():
    alternating = clustered((str(task), value) for task in range(20) for value in (0, 1))

    assert effective_size(alternating) == 40


@pytest.mark.parametrize(("passed", "failed", "low", "high"), [(0, 12, 0, 0.2646), (12, 0, 0.7354, 1)])
def test_all_or_none_is_worth_the_tasks_however_often_each_was_tried(passed, failed, low, high):
    found = proportion(alike(passed, failed, trials=5))

    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-4)
    assert (found.n, found.clusters, found.method) == (60, 12, KORN_GRAUBARD)


def test_under_ten_tasks_there_is_a_value_and_no_interval():
    found = proportion(alike(6, 3, trials=4))

    assert (found.value, found.spans, found.n, found.clusters, found.method) == (6 / 9, False, 36, 9, TOO_FEW)


def test_of_no_episode_there_is_no_value():
    assert proportion({}).value is None


@given(st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=4), min_size=10, max_size=30))
def test_the_interval_holds_the_proportion_and_stays_between_0_and_1(outcomes):
    found = proportion(clustered((str(task), value) for task, trials in enumerate(outcomes) for value in trials))

    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.high - found.low > 0.05
