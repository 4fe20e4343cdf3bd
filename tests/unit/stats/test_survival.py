"""Kaplan and Meier by hand, SciPy and statsmodels; what the intervals cover is in `properties/test_coverage`."""

import math
import random

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.duration.survfunc import SurvfuncRight

from spectrace.stats.distributions import t_quantile
from spectrace.stats.estimates import TOO_FEW
from spectrace.stats.judgements import Judgement
from spectrace.stats.survival import (
    ALIKE,
    GREENWOOD,
    NO_EPISODE,
    UNKNOWN_AT_ONCE,
    Lifetime,
    curve,
    fates,
    lifetimes,
    median,
    turning,
)
from tests.judged import ACCEPT, UNUSABLE, reject, review

LIVES = st.lists(
    st.builds(Lifetime, st.sampled_from("abcdefghijklmn"), st.just("e"), st.integers(1, 8), st.booleans()),
    min_size=1,
    max_size=60,
)


def lives(*pairs, each=False):
    """(time, whether it ended), one episode each, of one task or of a task each."""
    return [Lifetime(str(number) if each else "t", str(number), *pair) for number, pair in enumerate(pairs)]


def episode(*pairs, name="e"):
    return [review(*pair, episode=name, number=number) for number, pair in enumerate(pairs, start=1)]


def test_an_episode_lives_until_its_first_review_that_comes_out_differently():
    assert lifetimes(episode((ACCEPT, ACCEPT), (ACCEPT, reject()), (ACCEPT, ACCEPT))) == [Lifetime("t", "e", 2, True)]


def test_an_episode_that_stays_the_same_leaves_the_curve_at_its_last_review():
    assert lifetimes(episode((ACCEPT, ACCEPT), (reject(), reject()))) == [Lifetime("t", "e", 2, False)]


def test_where_nobody_knows_how_it_went_on_an_episode_leaves_before_or_counts_as_different():
    unknown = episode((ACCEPT, ACCEPT), (reject(1, None), reject(1, None)), (ACCEPT, reject()))

    assert lifetimes(unknown) == [Lifetime("t", "e", 1, False)]
    assert lifetimes(unknown, unknown_differs=True) == [Lifetime("t", "e", 2, True)]


def test_a_review_that_is_missing_ends_what_is_known():
    first, _, third = episode((ACCEPT, ACCEPT), (ACCEPT, ACCEPT), (ACCEPT, reject()))

    assert lifetimes([third, first]) == [Lifetime("t", "e", 1, False)]


def test_derived_reviews_were_part_of_no_course():
    assert lifetimes(episode((None, ACCEPT))) == []


def test_the_curve_of_four_by_hand():
    """Different at 1, left after 1, different at 2, the same to 3: 3/4, then 3/4 x 1/2."""
    points = curve(lives((1, True), (1, False), (2, True), (3, False)))

    assert [(one.number, one.at_risk, one.ended, one.same.value) for one in points] == [
        (1, 4, 1, 0.75),
        (2, 2, 1, 0.375),
        (3, 1, 0, 0.375),
    ]
    assert {one.same.method for one in points} == {TOO_FEW}


def test_the_curve_and_its_error_are_scipys_where_a_task_is_an_episode():
    draw = random.Random(3)  # noqa: S311 - a simulation
    drawn = lives(*((draw.randint(1, 6), draw.random() < 0.6) for _ in range(400)), each=True)
    times, left = np.array([one.time for one in drawn]), np.array([not one.ended for one in drawn])
    oracle = scipy.stats.ecdf(scipy.stats.CensoredData.right_censored(times, left)).sf
    interval = oracle.confidence_interval(method="log-log")
    points = curve(drawn)

    assert [one.same.value for one in points] == pytest.approx(list(oracle.probabilities))
    assert [one.same.low for one in points] == pytest.approx(list(interval.low.probabilities), abs=1e-3)
    assert [one.same.high for one in points] == pytest.approx(list(interval.high.probabilities), abs=1e-3)
    assert {one.same.method for one in points} == {GREENWOOD}


@pytest.mark.parametrize("seed", range(5))
def test_ties_and_those_that_leave_are_counted_as_statsmodels_does(seed):
    """An episode that leaves after a review was at risk at it; Greenwood's error, but for T/(T-1)."""
    draw = random.Random(seed)  # noqa: S311 - random data
    drawn = lives(*((draw.randint(1, 7), draw.random() < 0.4) for _ in range(300)), each=True)
    oracle = SurvfuncRight([one.time for one in drawn], [int(one.ended) for one in drawn])
    points = {one.number: one for one in curve(drawn)}
    theirs = zip(oracle.surv_times, oracle.surv_prob, oracle.surv_prob_se, oracle.n_risk, oracle.n_events, strict=True)

    for time, share, error, at_risk, ended in theirs:
        found = points[time]
        logs = [math.log(-math.log(end)) for end in (found.same.low, found.same.high)]
        swing = (logs[0] - logs[1]) / 2 / t_quantile(0.975, 299)
        assert (found.at_risk, found.ended, found.same.value) == (at_risk, ended, pytest.approx(share))
        assert swing * share * abs(math.log(share)) == pytest.approx(error * math.sqrt(300 / 299))


@pytest.mark.parametrize("seed", range(3))
def test_the_error_over_tasks_is_that_of_a_bootstrap_of_tasks(seed):
    draw = random.Random(seed)  # noqa: S311 - random data
    groups = []
    for task in range(150):
        stays = draw.betavariate(3, 1)
        times = [[draw.random() >= stays for _ in range(draw.randint(1, 4))] for _ in range(draw.randint(1, 6))]
        groups.append(
            [Lifetime(str(task), "", one.index(True) + 1 if any(one) else len(one), any(one)) for one in times]
        )
    drawn = [draw.choices(groups, k=150) for _ in range(300)]
    others = [curve([one for group in each for one in group])[2].same.value for each in drawn]
    found = curve([one for group in groups for one in group])[2].same
    swing = (math.log(-math.log(found.low)) - math.log(-math.log(found.high))) / 2 / t_quantile(0.975, 149)

    assert np.std(np.log(-np.log(others))) == pytest.approx(swing, rel=0.15)


def test_episodes_that_repeat_their_task_make_the_interval_no_narrower():
    draw = random.Random(4)  # noqa: S311 - a simulation
    once = lives(*((draw.randint(1, 6), draw.random() < 0.6) for _ in range(40)), each=True)
    widths = [[one.same.high - one.same.low for one in curve(those)[:3]] for those in (once, once * 5)]

    assert widths[1] == pytest.approx(widths[0])


def test_where_nothing_differs_a_task_counts_once():
    (point,) = curve(lives(*[(1, False)] * 12, each=True) * 4)

    assert (point.same.value, point.same.high, point.same.method) == (1, 1, ALIKE)
    assert point.same.low == pytest.approx(0.7354, abs=1e-4)


def test_tasks_that_differ_all_alike_have_an_interval_with_a_width():
    (point,) = curve([*lives(*[(1, False)] * 12, each=True), *lives(*[(1, True)] * 12, each=True)])

    assert (point.same.value, point.same.method) == (0.5, ALIKE)
    assert point.same.high - point.same.low > 0.4


def test_the_median_is_the_first_review_at_which_half_or_fewer_are_the_same():
    found = median(lives((1, True), (2, True), (3, False), (3, False)))

    assert (found.value, found.reviews, found.episodes, found.clusters) == (2, 3, 4, 1)
    assert (found.low, found.high, found.method) == (None, None, TOO_FEW)


def test_the_median_has_the_interval_of_the_curve():
    draw = random.Random(5)  # noqa: S311 - a simulation
    found = median(lives(*((draw.randint(1, 9), True) for _ in range(60)), each=True))

    assert found.low <= found.value <= found.high
    assert found.method == GREENWOOD


def test_a_median_that_is_not_reached_is_none():
    found = median(lives(*[(3, False)] * 12, each=True))

    assert (found.value, found.low, found.high, found.reviews) == (None, None, None, 3)


def test_without_a_median_there_is_a_reason():
    unknown = lifetimes(episode((reject(1, None), reject(1, None))))

    assert [median(one).method for one in ([], unknown)] == [NO_EPISODE, UNKNOWN_AT_ONCE]


def test_only_the_first_review_that_turns_an_episode_decides_a_fate():
    pairs = [(ACCEPT, ACCEPT), (reject(1), ACCEPT), (ACCEPT, reject())]
    turned = [review(*pair, episode="e", number=n, writes=True) for n, pair in enumerate(pairs, start=1)]
    unread = [review(ACCEPT, Judgement("failed"), episode="f", writes=True)]
    stopped = [review(ACCEPT, UNUSABLE, episode="g", writes=True)]
    no_write = [review(ACCEPT, reject(), episode="h")]

    assert turning(turned).number == 2
    assert fates([*turned, *unread, *stopped, *no_write]) == {"let_through": 1, "unknown": 1, "stopped": 1}


@given(LIVES)
def test_the_curve_falls_and_never_rises_and_its_intervals_hold_it(drawn):
    values = [one.same.value for one in curve(drawn)]

    assert values == sorted(values, reverse=True)
    assert all(0 <= value <= 1 for value in values)
    assert all(one.same.low <= one.same.value <= one.same.high for one in curve(drawn) if one.same.spans)


@given(LIVES)
def test_what_is_unknown_only_lowers_the_curve_where_it_counts_as_different(drawn):
    harsher = [Lifetime(one.task, one.episode, one.time, ended=True) for one in drawn]

    for one, other in zip(curve(drawn), curve(harsher), strict=True):
        assert other.same.value <= one.same.value + 1e-12
