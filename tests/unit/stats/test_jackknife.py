import math
import random

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from spectrace.stats.bootstrap import NO_VALUE, NOTHING_SHARED, difference, ratio
from spectrace.stats.estimates import TOO_FEW, Cluster, clustered
from spectrace.stats.jackknife import ALIKE, JACKKNIFE, ONE_DECIDES, TaskJackknife

SHARE = TaskJackknife(0.0, 1.0, ((0.0,), (1.0,)))


def first(means):
    return means[0]


def noisy(seed, tasks=40, most=6):
    """Trials of tasks, more of some than of others."""
    draw = random.Random(seed)  # noqa: S311 - a simulation
    chances = [draw.betavariate(2, 1) for _ in range(tasks)]
    return clustered(
        (f"{task:03}", int(draw.random() < chance))
        for task, chance in enumerate(chances)
        for _ in range(draw.randint(1, most))
    )


def test_of_a_mean_with_one_trial_a_task_it_is_students_interval_on_the_logit():
    values = [1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 0]
    found = SHARE.estimate(first, clustered((str(n), value) for n, value in enumerate(values)))
    p, error = np.mean(values), np.std(values, ddof=1) / math.sqrt(len(values))
    swing = scipy.stats.t.ppf(0.975, len(values) - 1) * error / (p * (1 - p))
    expected = scipy.special.expit(np.array([-swing, swing]) + scipy.special.logit(p))

    assert (found.value, found.n, found.clusters, found.method) == (p, 12, 12, JACKKNIFE)
    assert (found.low, found.high) == pytest.approx(expected)


def test_its_error_is_that_of_the_bootstrap():
    sample = noisy(1, 200)
    n, total = (np.array([getattr(one, name) for one in sample.values()]) for name in ("n", "total"))
    oracle = scipy.stats.bootstrap(
        (np.arange(200),),
        lambda drawn, axis: total[drawn].sum(axis) / n[drawn].sum(axis),
        n_resamples=4000,
        method="percentile",
        rng=np.random.default_rng(7),
    ).confidence_interval
    found = SHARE.estimate(first, sample)

    assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high), abs=0.01)


def test_the_order_of_the_tasks_does_not_change_the_interval():
    a = {task: Cluster(one.n, one.total / 7) for task, one in noisy(1).items()}

    assert TaskJackknife().estimate(first, dict(reversed(a.items()))) == TaskJackknife().estimate(first, a)


def test_an_interval_ends_within_the_range():
    found = SHARE.estimate(first, clustered((str(task), int(task > 0)) for task in range(12)))

    assert 0 < found.low < found.value < found.high < 1


def test_where_all_tasks_are_alike_those_unseen_may_be_otherwise():
    """What 0 of 12 leave open (Clopper-Pearson): up to 26.5 % of other tasks may lie at either end."""
    unseen = scipy.stats.binomtest(0, 12).proportion_ci(method="exact").high
    none = SHARE.estimate(first, clustered((str(task), 0) for task in range(12)))
    half = SHARE.estimate(first, {str(task): Cluster(2, 1.0) for task in range(12)})

    assert (none.value, none.low, none.high, none.method) == (0, 0, pytest.approx(unseen), ALIKE)
    assert (half.low, half.high) == (pytest.approx(0.5 - unseen / 2), pytest.approx(0.5 + unseen / 2))


def test_under_ten_tasks_there_is_a_value_and_no_interval():
    found = SHARE.estimate(first, noisy(1, 9))

    assert (found.spans, found.clusters, found.method) == (False, 9, TOO_FEW)


def test_a_value_that_hangs_on_one_task_has_no_interval():
    a, once = (
        clustered((str(task), value) for task, value in enumerate(those)) for those in ([1] * 12, [1] + [0] * 11)
    )

    assert SHARE.estimate(ratio, a, once).method == ONE_DECIDES
    assert SHARE.estimate(ratio, a, once).spans is False


def test_without_a_value_or_a_shared_task_there_is_a_reason():
    a, none = clustered([("x", 1)]), clustered([("x", 0)])

    assert SHARE.estimate(ratio, a, none).method == NO_VALUE
    assert SHARE.estimate(difference, a, clustered([("y", 1)])).method == NOTHING_SHARED


@given(st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=4), min_size=10, max_size=30))
def test_the_interval_holds_the_value_and_has_a_width(outcomes):
    found = SHARE.estimate(first, clustered((str(n), value) for n, trials in enumerate(outcomes) for value in trials))

    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.high - found.low > 0.02
