import random
import re

import numpy as np
import pytest
import scipy

from spectrace.stats.bootstrap import ALIKE, NOTHING_SHARED, SEED, TaskBootstrap, difference, ratio
from spectrace.stats.estimates import TOO_FEW, clustered


def noisy(seed, tasks=50, trials=3, spread=0.4):
    """Trials of tasks that are mostly easy or mostly hard."""
    draw = random.Random(seed)  # noqa: S311 - a simulation
    chances = [draw.betavariate(spread, spread / 6) for _ in range(tasks)]
    return [
        clustered(
            (str(task), int(draw.random() < chance)) for task, chance in enumerate(chances) for _ in range(trials)
        )
        for _ in range(2)
    ]


def test_the_same_seed_gives_the_same_interval():
    a, b = noisy(1)
    first, again, other = (TaskBootstrap(500, seed).estimate(difference, a, b) for seed in (SEED, SEED, 7))

    assert first == again
    assert (first.low, first.high) != (other.low, other.high)


def test_the_order_of_the_tasks_does_not_change_the_interval():
    a, b = noisy(1)
    turned = dict(reversed(a.items()))

    assert TaskBootstrap(500).estimate(difference, turned, b) == TaskBootstrap(500).estimate(difference, a, b)


def test_a_difference_over_fifty_tasks_of_three_trials_is_known_to_some_five_points():
    """The seeds report 0.0 [-5.3, +5.3] on Airline, 50 tasks x 3: two protocols that differ in their trials alone."""
    widths = []
    for seed in range(8):
        found = TaskBootstrap(1000).estimate(difference, *noisy(seed))
        widths.append((found.high - found.low) / 2)

    assert 0.04 < sum(widths) / len(widths) < 0.07


@pytest.mark.parametrize("statistic", [difference, ratio])
def test_the_interval_is_scipys_at_the_level_that_few_tasks_expand_it_to(statistic):
    a, b = noisy(1)
    found = TaskBootstrap(4000).estimate(statistic, a, b)
    level = 2 * scipy.stats.norm.cdf((50 / 49) ** 0.5 * scipy.stats.t.ppf(0.975, 49)) - 1
    totals = [np.array([sample[task].total for task in a]) for sample in (a, b)]
    oracle = scipy.stats.bootstrap(
        totals,
        lambda x, y, axis: (
            (x.mean(axis) - y.mean(axis)) / 3 if statistic is difference else x.mean(axis) / y.mean(axis)
        ),
        n_resamples=4000,
        method="percentile",
        paired=True,
        confidence_level=level,
        rng=np.random.default_rng(7),
    ).confidence_interval

    assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high), abs=0.01)


def test_an_interval_without_a_width_says_that_it_guesses_nothing_of_other_tasks():
    a, _ = noisy(1)

    assert TaskBootstrap(200).estimate(difference, a, a).method.endswith(ALIKE)


def test_a_sample_does_not_differ_from_itself():
    a, _ = noisy(1)
    found = TaskBootstrap(200).estimate(difference, a, a)

    assert (found.value, found.low, found.high) == (0, 0, 0)


def test_a_ratio_of_a_tenfold_is_ten_in_every_draw():
    a, _ = noisy(1)
    tenfold = {task: type(cluster)(cluster.n, 10 * cluster.total) for task, cluster in a.items()}
    found = TaskBootstrap(200).estimate(ratio, tenfold, a)

    assert (found.value, found.low, found.high) == pytest.approx((10, 10, 10))


def test_only_the_tasks_of_both_count():
    a, b = clustered([("x", 1), ("y", 1)]), clustered([("y", 0), ("z", 1)])
    found = TaskBootstrap().estimate(difference, a, b)

    assert (found.value, found.n, found.clusters, found.method) == (1, 2, 1, TOO_FEW)


def test_without_a_shared_task_nothing_is_compared():
    found = TaskBootstrap().estimate(difference, clustered([("x", 1)]), clustered([("y", 1)]))

    assert (found.value, found.clusters, found.method) == (None, 0, NOTHING_SHARED)


def test_a_ratio_to_nothing_has_no_value():
    found = TaskBootstrap().estimate(ratio, clustered([("x", 1)]), clustered([("x", 0)]))

    assert (found.value, found.method) == (None, "none: the denominator is 0")


def test_a_ratio_whose_denominator_is_often_0_has_no_interval():
    a, rare = clustered((str(task), 1) for task in range(12)), clustered((str(task), task == 0) for task in range(12))
    found = TaskBootstrap(500).estimate(ratio, a, rare)

    assert (found.value, found.low, found.high) == (12, None, None)
    assert re.fullmatch(r"none: the denominator is 0 in 1\d\d of 500 draws", found.method)


def test_draws_without_a_value_widen_the_interval_and_are_told():
    a, b = clustered((str(task), 1) for task in range(12)), clustered((str(task), task < 5) for task in range(12))
    found = TaskBootstrap(5000).estimate(ratio, a, b)
    undefined = int(re.search(r"; (\d+) draws without a value lie beyond both ends", found.method)[1])

    assert 0 < undefined < 30
    assert found.low < 12 / 5 < found.high


def test_the_method_names_draws_and_seed():
    assert TaskBootstrap().method == "task bootstrap, expanded percentile 95 % (B=5000, seed 2026)"


@pytest.mark.slow
@pytest.mark.parametrize("tasks", [10, 50])
def test_differences_are_covered_as_often_as_is_said(tasks):
    """Two protocols of equal chances: the true difference is 0. Few tasks are what the expansion is for."""
    sims = 400
    covered = sum(
        TaskBootstrap(400, seed).estimate(difference, *noisy(seed, tasks, spread=2.0)).covers(0) for seed in range(sims)
    )

    assert 0.92 <= covered / sims <= 0.99
