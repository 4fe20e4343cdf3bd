import random

import pytest
import scipy
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


def hit(sample, truth):
    found = proportion(sample)
    return found.low <= truth <= found.high


@pytest.mark.slow
def test_clustering_by_task_covers_what_it_says_and_clustering_by_episode_far_less():
    draw = random.Random(5)  # noqa: S311 - a simulation
    sims, tasks, trials = 400, 50, 8
    by_task = by_episode = 0
    for _ in range(sims):
        outcomes = []
        for task in range(tasks):
            chance = draw.betavariate(0.3, 0.3)  # most tasks are easy or hard: trials of one are alike
            outcomes += [(str(task), int(draw.random() < chance)) for _ in range(trials)]
        by_task += hit(clustered(outcomes), 0.5)
        by_episode += hit(clustered((str(number), value) for number, (_, value) in enumerate(outcomes)), 0.5)

    assert 0.93 <= by_task / sims <= 0.98
    assert by_episode / sims < 0.65


@given(st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=4), min_size=10, max_size=30))
def test_the_interval_holds_the_proportion_and_stays_between_0_and_1(outcomes):
    found = proportion(clustered((str(task), value) for task, trials in enumerate(outcomes) for value in trials))

    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.high - found.low > 0.05
