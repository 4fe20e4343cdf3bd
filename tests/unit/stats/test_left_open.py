"""Bounds against every verdict that an open review may have had."""

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spectrace.stats.agreement import (
    agreement,
    bounds,
    per_step,
    per_step_bounds,
    rejected_again,
    rejected_again_bounds,
    same_step,
    same_step_bounds,
    signed_difference,
    signed_difference_bounds,
)
from spectrace.stats.judgements import Judgement
from spectrace.stats.left_open import NO_REVIEW
from tests.judged import ACCEPT, TOO_LONG, UNUSABLE, reject, review

EVERY = (reject(0), reject(1), reject(2), ACCEPT)
SIDES = st.sampled_from([*EVERY, UNUSABLE, TOO_LONG])
REVIEWS = st.lists(st.builds(review, SIDES, SIDES), min_size=1, max_size=4)
PAIRS = [
    (agreement, bounds),
    (per_step, per_step_bounds),
    (signed_difference, signed_difference_bounds),
    (same_step, same_step_bounds),
    (rejected_again, rejected_again_bounds),
]


def every_way(one):
    sides = [[side] if side.read else EVERY for side in (one.recorded, one.new)]
    return [replace(one, recorded=old, new=new) for old, new in product(*sides)]


@settings(max_examples=60, deadline=None)
@given(REVIEWS)
@pytest.mark.parametrize(("statistic", "its_bounds"), PAIRS[:4])
def test_the_bounds_are_the_least_and_the_most_of_every_way(statistic, its_bounds, reviews):
    ways = [list(filled) for filled in product(*map(every_way, reviews))]
    values = [value for filled in ways if (value := statistic(filled).value) is not None]
    found = its_bounds(reviews)

    assert (found.low, found.high) == (
        (pytest.approx(min(values), abs=1e-12), pytest.approx(max(values), abs=1e-12)) if values else (None, None)
    )


def test_of_rejections_only_what_the_new_verifier_left_open_is_open():
    reviews = [
        review(reject(), UNUSABLE),
        review(reject(), reject()),
        review(UNUSABLE, reject()),
        review(ACCEPT, ACCEPT),
    ]
    found = rejected_again_bounds(reviews)

    assert (found.low, found.high, found.n, found.method) == (0.5, 1, 2, "bounds: 1 of 2 counted either way")


@pytest.mark.parametrize("its_bounds", [one for _, one in PAIRS])
def test_of_no_review_there_are_no_bounds(its_bounds):
    found = its_bounds([review(None, ACCEPT)])

    assert (found.low, found.high, found.n, found.method) == (None, None, 0, NO_REVIEW)


@pytest.mark.parametrize(("statistic", "its_bounds"), PAIRS)
def test_where_nothing_is_open_the_bounds_are_the_value(statistic, its_bounds):
    reviews = [review(reject(1), reject(1)), review(reject(1), reject(0)), review(ACCEPT, reject(2))]

    assert its_bounds(reviews).low == its_bounds(reviews).high == pytest.approx(statistic(reviews).value)


def test_an_open_repeat_is_its_share_of_a_segment():
    found = bounds([review(ACCEPT, ACCEPT), review(ACCEPT, Judgement("failed"), repeat=2), review(ACCEPT, ACCEPT, "u")])

    assert (found.low, found.high, found.n, found.method) == (0.75, 1, 2, "bounds: 1 of 3 counted either way")
