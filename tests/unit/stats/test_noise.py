import random
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectrace.stats.bootstrap import TaskBootstrap
from spectrace.stats.noise import FLOOR_UNKNOWN, NO_REPEATS, Repeated, among, apart, flip_rate, noise, repeat_rate

YES, NO = "accept", "reject"
FEW = TaskBootstrap(200)
ANSWERS = st.lists(st.sampled_from([YES, NO]), min_size=2, max_size=6)


def drawn(seed, *, shift=0.0, tasks=40, segments=4, repeats=3):
    """Two verifiers that accept a segment with a chance of its own; the second with `shift` more towards no."""
    draw = random.Random(seed)  # noqa: S311 - a simulation
    found = []
    for task in range(tasks):
        for _ in range(segments):
            chance = draw.betavariate(2, 1)
            first, second = (
                tuple(YES if draw.random() < p else NO for _ in range(repeats)) for p in (chance, chance * (1 - shift))
            )
            found.append(Repeated(str(task), first, second))
    return found


def test_the_case_of_five_attempts_by_hand():
    """4, 4, 3, 4, 3: of 10 pairs the 6 of a 4 and a 3 differ."""
    assert among(["4", "4", "3", "4", "3"]) == pytest.approx(0.6)


def test_pairs_across_verifiers_by_hand():
    assert apart([YES, YES, NO], [YES, NO]) == pytest.approx(0.5)


def test_the_excess_is_what_is_left_beyond_each_ones_own_noise():
    found = noise([Repeated("t", (YES, YES), (NO, NO)), Repeated("t", (YES, NO), (YES, NO))], FEW)

    assert (found.between.value, found.first.value, found.second.value) == (0.75, 0.5, 0.5)
    assert (found.excess.value, found.excess.n, found.excess.clusters) == (0.25, 2, 1)


@pytest.mark.parametrize("segments", [[], [Repeated("t", (YES,), (YES, NO))], [Repeated("t", (YES, YES), (NO,))]])
def test_without_repeats_of_both_the_floor_is_unknown(segments):
    found = noise(segments, FEW)

    assert (found.excess.value, found.excess.method) == (None, FLOOR_UNKNOWN)


def test_segments_without_repeats_of_both_are_left_out():
    segments = [Repeated("t", (YES, YES), (YES, YES)), Repeated("t", (YES,), (NO, NO))]

    assert (noise(segments, FEW).between.value, noise(segments, FEW).excess.n) == (0, 1)


def test_verifiers_that_differ_in_truth_have_an_excess_above_0():
    found = noise(drawn(1, shift=0.6), TaskBootstrap(1000)).excess

    assert found.low > 0.05


def test_how_often_a_rejection_comes_again_is_over_its_own_repeats():
    """No, no, yes: of 6 ordered pairs 4 begin with a no, 2 of them end with one; twice no: 2 of 2; yes, yes: none."""
    found = repeat_rate([("a", (NO, NO, YES)), ("b", (NO, NO)), ("c", (YES, YES)), ("d", (NO,))], FEW)

    assert (found.value, found.n, found.clusters) == (pytest.approx((2 / 6 + 2 / 2) / (4 / 6 + 2 / 2)), 2, 2)


def test_a_verifier_that_was_asked_once_has_no_repeat_rate():
    assert repeat_rate([("a", (NO,))], FEW).method == NO_REPEATS


@given(ANSWERS)
def test_disagreement_with_itself_is_that_of_all_pairs(answers):
    yes = answers.count(YES)

    assert among(answers) == pytest.approx(yes * (len(answers) - yes) / comb(len(answers), 2))


@given(ANSWERS, ANSWERS)
def test_disagreement_knows_no_order_and_lies_between_0_and_1(first, second):
    assert apart(first, second) == pytest.approx(apart(second, first))
    assert -1e-9 <= apart(first, second) <= 1 + 1e-9


def test_a_verifiers_own_flips_are_the_share_of_pairs_of_its_answers_that_differ():
    segments = [("t", ("accept", "reject", "accept")), ("t", ("accept", "accept")), ("u", ("reject",))]
    found = flip_rate(segments)

    assert (found.value, found.n, found.clusters) == (pytest.approx((2 / 3 + 0) / 2), 2, 1)


def test_who_was_never_asked_twice_has_no_flips():
    assert flip_rate([("t", ("accept",))]).method == "none: the verifier was not asked twice about anything"
