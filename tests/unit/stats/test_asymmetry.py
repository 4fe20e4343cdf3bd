import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar

from spectrace.stats.agreement import NONE_COMPARED
from spectrace.stats.asymmetry import asymmetry
from spectrace.stats.estimates import TOO_FEW
from spectrace.stats.jackknife import JACKKNIFE
from tests.judged import ACCEPT, TOO_LONG, drawn, reject, review, table


def turned(one):
    return review(one.new, one.recorded, one.task, one.episode, one.number)


def test_what_only_one_accepts_is_counted_by_which_of_them():
    found = asymmetry(table(20, 5, 12, 13))

    assert (found.new_accepts, found.new_rejects, found.difference.value) == (12, 5, 7 / 50)
    assert (found.difference.n, found.difference.clusters, found.difference.method) == (50, 50, JACKKNIFE)


@given(*[st.integers(0, 12)] * 4)
def test_with_one_review_a_task_it_is_mcnemars_exact_test(both, first, second, neither):
    found = asymmetry(table(both, first, second, neither))
    oracle = mcnemar([[both, first], [second, neither]], exact=True)

    if found.flips is None:
        assert not both + first + second + neither
    else:
        assert found.flips.p == pytest.approx(oracle.pvalue)


def test_reviews_of_one_task_that_all_go_one_way_are_one_sign():
    alone = [review(reject(), ACCEPT, str(task), number=number) for task in range(4) for number in range(30)]

    assert asymmetry(alone).flips.p == pytest.approx(2 / 2**4)


def test_the_repeats_of_a_segment_are_one_review():
    pairs = [(reject(), ACCEPT), (reject(), ACCEPT), (reject(), reject())]
    found = asymmetry(review(*pair, "t", repeat=repeat) for repeat, pair in enumerate(pairs, start=1))

    assert (found.new_accepts, found.new_rejects, found.difference.value) == (2 / 3, 0, pytest.approx(2 / 3))
    assert (found.difference.n, found.difference.method) == (1, TOO_FEW)


def test_without_a_review_that_both_judged_nothing_is_tested():
    found = asymmetry([review(ACCEPT, TOO_LONG)])

    assert (found.flips, found.difference.value, found.difference.method) == (None, None, NONE_COMPARED)


@pytest.mark.parametrize("seed", range(3))
def test_the_other_way_round_it_has_the_other_sign_and_the_same_p(seed):
    reviews = drawn(seed, 15)
    found, other = asymmetry(reviews), asymmetry(map(turned, random.Random(seed).sample(reviews, len(reviews))))  # noqa: S311

    assert (other.new_accepts, other.new_rejects, other.flips) == (found.new_rejects, found.new_accepts, found.flips)
    assert (-other.difference.low, -other.difference.high) == (found.difference.high, found.difference.low)
