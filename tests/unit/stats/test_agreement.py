"""Tables by hand, and statsmodels; what the intervals cover is in `properties/test_coverage`."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from spectrace.stats.agreement import (
    NONE_COMPARED,
    NONE_REJECTED,
    ONE_ANSWER,
    ac1,
    ac1_of,
    agreement,
    bounds,
    bounds_of,
    categories,
    kappa,
    kappa_of,
    left_out,
    per_step,
    rejected_again,
    rejected_again_bounds,
    same_step,
    signed_difference,
)
from spectrace.stats.bootstrap import TaskBootstrap
from spectrace.stats.distributions import t_quantile
from spectrace.stats.estimates import TOO_FEW
from spectrace.stats.jackknife import ALIKE
from spectrace.stats.judgements import Judgement
from spectrace.stats.proportions import KORN_GRAUBARD
from tests.judged import ACCEPT, TOO_LONG, UNUSABLE, reject, review, table

FEW = TaskBootstrap(200)
SETTINGS = settings(max_examples=40, deadline=None)
JUDGEMENTS = st.sampled_from([ACCEPT, reject(0), reject(1), reject(2), UNUSABLE, TOO_LONG])
REVIEWS = st.lists(st.builds(review, JUDGEMENTS, JUDGEMENTS, st.sampled_from("abcdefghijkl")), max_size=40)


def every_way(one):
    """The verdicts that an open review may have had."""
    return product(*([side] if side.read else [ACCEPT, reject()] for side in (one.recorded, one.new)))


def test_the_share_that_agrees_has_its_interval_over_tasks():
    found = agreement(table(20, 5, 10, 15))

    assert (found.value, found.n, found.clusters, found.method) == (0.7, 50, 50, KORN_GRAUBARD)
    assert found.low < 0.7 < found.high


def test_kappa_of_a_textbook_table():
    """Of 50, both yes 20, one alone 5 and 10, both no 15: 0.7 observed, 0.5 by chance."""
    assert kappa(table(20, 5, 10, 15), FEW).value == pytest.approx(0.4)


@pytest.mark.parametrize("seed", range(5))
def test_kappa_and_its_error_are_those_of_statsmodels_where_a_task_is_a_review(seed):
    """Fleiss, Cohen and Everitt's error on z by the delta method; the jackknife's differs by some percent."""
    cells = np.random.default_rng(seed).multinomial(500, [0.6, 0.1, 0.08, 0.22]).tolist()
    oracle = cohens_kappa([cells[:2], cells[2:]])
    found = kappa(table(*cells))
    error = (np.arctanh(found.high) - np.arctanh(found.low)) / (2 * t_quantile(0.975, 499)) * (1 - found.value**2)

    assert found.value == pytest.approx(oracle.kappa)
    assert error == pytest.approx(oracle.std_kappa, rel=0.03)


def test_ac1_stands_where_kappa_falls_to_nothing():
    """Nearly all accepted: 118 both, 5 and 2 by one, none by both."""
    skewed = table(118, 5, 2, 0)

    assert kappa(skewed, FEW).value == pytest.approx(-0.0234, abs=1e-4)
    assert ac1(skewed, FEW).value == pytest.approx(0.9408, abs=1e-4)


def test_where_both_always_accept_chance_explains_everything():
    found = kappa(table(12, 0, 0, 0), FEW)

    assert (found.value, found.method) == (None, ONE_ANSWER)
    assert ac1(table(12, 0, 0, 0), FEW).value == 1


@pytest.mark.parametrize("statistic", [kappa, ac1])
def test_verifiers_that_never_differed_may_differ_on_other_tasks(statistic):
    found = statistic(table(20, 0, 0, 10))

    assert (found.value, found.high, found.method) == (1, 1, ALIKE)
    assert 0.6 < found.low < 0.9


def test_what_one_of_them_left_open_is_counted_either_way():
    reviews = [*table(6, 1, 0, 1), review(ACCEPT, UNUSABLE), review(TOO_LONG, reject()), review(None, ACCEPT)]
    found = bounds(reviews)

    assert (found.value, found.low, found.high, found.n) == (None, 0.7, 0.9, 10)
    assert found.method == "bounds: 2 of 10 counted either way"


def test_kappa_and_ac1_are_bounded_over_every_way_to_fill_in_what_is_open():
    open_ = [
        review(ACCEPT, UNUSABLE),
        review(TOO_LONG, reject()),
        review(UNUSABLE, TOO_LONG),
        review(reject(), TOO_LONG),
    ]
    reviews = [*table(6, 2, 1, 3), *open_]

    for statistic, of in ((kappa_of, kappa), (ac1_of, ac1)):
        ways = [
            of([*reviews[:-4], *(review(*pair) for pair in filled)], FEW).value
            for filled in product(*(every_way(one) for one in open_))
        ]
        found = bounds_of(reviews, statistic)
        assert (found.low, found.high) == (pytest.approx(min(ways)), pytest.approx(max(ways)))


@pytest.mark.parametrize("statistic", [kappa_of, ac1_of])
def test_five_hundred_that_both_left_open_may_be_anything(statistic):
    found = bounds_of([review(UNUSABLE, UNUSABLE)] * 500, statistic)

    assert (found.low, found.high, found.method) == (-1, 1, "bounds: 500 of 500 counted either way")


def test_what_is_left_out_is_counted_by_its_reason():
    reviews = [
        review(ACCEPT, ACCEPT),
        review(ACCEPT, UNUSABLE),
        review(ACCEPT, TOO_LONG),
        review(UNUSABLE, UNUSABLE),
        review(UNUSABLE, TOO_LONG),
        review(Judgement("context_redacted"), ACCEPT),
        review(None, UNUSABLE),
    ]

    assert left_out(reviews) == {"unusable": 3, "too_long": 1, "context_redacted": 1}


def test_the_first_wrong_step_counts_only_where_both_reject():
    found = same_step([review(reject(0), reject(0)), review(reject(0), reject(2)), review(ACCEPT, reject(1))])

    assert (found.value, found.n, found.clusters, found.method) == (0.5, 2, 1, TOO_FEW)


def test_steps_after_a_first_wrong_one_were_not_judged():
    """Three steps each: both judge 1 and disagree on it; all 3 agree; 3 judged, the last in dispute; 2, both agree."""
    found = per_step(
        [
            review(reject(0), ACCEPT),
            review(ACCEPT, ACCEPT),
            review(ACCEPT, reject(2)),
            review(reject(1), reject(1)),
        ]
    )

    assert (found.n, found.value) == (9, pytest.approx(7 / 9))


def test_a_verifier_that_accepts_more_has_a_difference_above_0():
    found = signed_difference([review(reject(1), ACCEPT), review(ACCEPT, reject(2)), review(ACCEPT, ACCEPT)], FEW)

    assert found.value == pytest.approx((2 / 3 - 1 / 3) / 3)


def test_categories_are_crossed_where_both_reject():
    found = categories(
        [
            review(reject(category="unsafe"), reject(category="premature")),
            review(reject(category=None), reject(category="unsafe")),
            review(reject(), ACCEPT),
        ]
    )

    assert found == {("unsafe", "premature"): 1, ("none", "unsafe"): 1}


def test_rejections_alone_say_how_often_they_are_rejected_again():
    pairs = [(reject(), reject(2)), (reject(), ACCEPT), (reject(), UNUSABLE), (ACCEPT, ACCEPT), (UNUSABLE, reject())]
    reviews = [review(*pair) for pair in pairs]
    found, ends = rejected_again(reviews), rejected_again_bounds(reviews)

    assert (found.value, found.n) == (0.5, 2)
    assert (ends.low, ends.high, ends.n) == (pytest.approx(1 / 3), pytest.approx(2 / 3), 3)


@pytest.mark.parametrize("reviews", [[], [review(ACCEPT, UNUSABLE)], [review(None, ACCEPT)]])
def test_without_a_review_that_both_judged_there_is_no_value_and_a_reason(reviews):
    found = [agreement(reviews), kappa(reviews, FEW), ac1(reviews, FEW), per_step(reviews)]
    found.append(signed_difference(reviews, FEW))

    assert {(one.value, one.clusters, one.method) for one in found} == {(None, 0, NONE_COMPARED)}
    assert same_step(reviews).method == NONE_REJECTED


@SETTINGS
@given(REVIEWS)
def test_a_verifier_agrees_with_itself(reviews):
    itself = [review(one.recorded, one.recorded, one.task) for one in reviews]
    found = [agreement(itself), ac1(itself, FEW), kappa(itself, FEW), same_step(itself), per_step(itself)]

    assert {one.value if one.value is None else round(one.value, 9) for one in found} <= {1, None}
    assert signed_difference(itself, FEW).value in {0, None}


@SETTINGS
@given(REVIEWS)
def test_the_bounds_hold_the_share_and_the_left_out_add_up(reviews):
    share, ends = agreement(reviews), bounds(reviews)

    assert share.n + sum(left_out(reviews).values()) == len(reviews)
    assert share.value is None or ends.low <= share.value <= ends.high


@given(*[st.integers(0, 50)] * 4)
def test_kappa_and_ac1_lie_between_minus_1_and_1_and_know_no_order(both, first, second, neither):
    n = both + first + second + neither or 1
    shares = (both / n, (both + first) / n, (both + second) / n)
    turned = (shares[0], shares[2], shares[1])

    for statistic in (kappa_of, ac1_of):
        value = statistic(shares)
        assert value is None or -1 - 1e-9 <= value <= 1 + 1e-9
        assert statistic(turned) == pytest.approx(value)
