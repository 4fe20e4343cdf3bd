import random
from dataclasses import replace

import pytest

from spectrace.stats.agreement import ac1, agreement, kappa, per_step, rejected_again, same_step, signed_difference
from spectrace.stats.judgements import compared
from spectrace.stats.noise import Repeated, apart, noise
from spectrace.stats.repeats import by_segment, paired
from spectrace.stats.survival import lifetimes
from tests.judged import ACCEPT, UNUSABLE, drawn, reject, review

EVERY = (agreement, kappa, ac1, per_step, same_step, signed_difference, rejected_again)


def asked(verdicts, task="t", number=1, recorded=ACCEPT):
    return [review(recorded, new, task, number=number, repeat=repeat) for repeat, new in enumerate(verdicts, start=1)]


def test_a_segment_that_was_asked_about_more_often_counts_no_more():
    """Two of three agree, then one of one: (2/3 + 1) / 2."""
    found = agreement([*asked([ACCEPT, ACCEPT, reject()]), *asked([ACCEPT], "u")])

    assert (found.value, found.n, found.clusters) == (pytest.approx(5 / 6), 2, 2)


def test_what_is_no_judgement_is_in_no_mean():
    assert agreement(asked([ACCEPT, UNUSABLE, reject()])).value == 0.5


@pytest.mark.parametrize("statistic", EVERY)
def test_the_same_answers_twice_are_the_statistic_of_once(statistic):
    once = drawn(1, 15)
    twice = statistic([*once, *(replace(one, repeat=2) for one in once)])

    assert (twice.value, twice.n, twice.clusters) == (
        pytest.approx(statistic(once).value),
        statistic(once).n,
        statistic(once).clusters,
    )
    assert (twice.low, twice.high) == pytest.approx((statistic(once).low, statistic(once).high), abs=2e-3)


def test_reviews_that_are_no_repeats_stay_apart():
    assert len(by_segment(compared([review(ACCEPT, ACCEPT)] * 3))) == 3


def test_two_passes_stand_against_each_other_on_what_both_were_asked():
    first = [review(ACCEPT, reject(1)), review(ACCEPT, ACCEPT, number=2), review(None, ACCEPT, "u")]
    second = [review(ACCEPT, ACCEPT), review(None, UNUSABLE, "u"), review(ACCEPT, ACCEPT, "v")]

    assert paired(first, second) == [review(reject(1), ACCEPT), review(ACCEPT, UNUSABLE, "u")]


def test_every_verdict_of_the_one_stands_against_every_verdict_of_the_other():
    first, second = asked([ACCEPT, reject()]), asked([ACCEPT, ACCEPT, reject()])
    found = paired(first, second)

    assert [one.repeat for one in found] == [1, 2, 3, 4, 5, 6]
    assert agreement(found).value == pytest.approx(1 - apart(["a", "r"], ["a", "a", "r"]))


def test_the_disagreement_of_two_passes_is_that_of_the_noise():
    draw = random.Random(3)  # noqa: S311 - a simulation
    said = [[[draw.choice([ACCEPT, reject()]) for _ in range(3)] for _ in "ab"] for _ in range(30)]
    first, second = ([one for n, each in enumerate(said) for one in asked(each[side], str(n))] for side in (0, 1))
    answers = [Repeated(str(n), *(tuple(one.kind for one in side) for side in each)) for n, each in enumerate(said)]

    assert agreement(paired(first, second)).value == pytest.approx(1 - noise(answers).between.value)


def test_each_repeat_is_a_life_of_the_episode():
    reviews = [*asked([ACCEPT, reject()]), *asked([reject(), ACCEPT], number=2)]

    assert [(one.time, one.ended) for one in lifetimes(reviews)] == [(2, True), (1, True)]
