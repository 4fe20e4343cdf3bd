"""The same reviews give the same digits: in any order, and under every version of Python.

Python 3.12 changed what `sum` of floats gives, 3.13 what `NormalDist.cdf` gives: the figures below were made once and
hold under 3.11, 3.12 and 3.13.
"""

import random
from dataclasses import replace

import pytest

from spectrace.stats import agreement
from spectrace.stats.asymmetry import asymmetry
from spectrace.stats.bootstrap import TaskBootstrap, difference, ratio
from spectrace.stats.estimates import Estimate, clustered
from spectrace.stats.flips import sign_flips
from spectrace.stats.noise import Repeated, noise, repeat_rate
from spectrace.stats.repeats import paired
from spectrace.stats.survival import curve, lifetimes, median
from tests.judged import UNUSABLE, drawn

STATISTICS = ("agreement", "kappa", "ac1", "same_step", "per_step", "signed_difference", "rejected_again")
BOUNDS = ("bounds", "same_step_bounds", "per_step_bounds", "signed_difference_bounds", "rejected_again_bounds")


def judged():
    """Two repeats of some reviews, segments of three to seven steps, some left open: sums that no float holds."""
    once = [replace(one, drafted=one.number + 2) for one in drawn(7, 40)]
    again = [replace(one, new=other.new, repeat=2) for one, other in zip(once[::3], drawn(8, 40)[::3], strict=True)]
    return [*(replace(one, new=UNUSABLE) if place % 11 == 0 else one for place, one in enumerate(once)), *again]


def segments():
    draw = random.Random(3)  # noqa: S311 - a simulation
    said = ("accept", "reject")
    return [
        Repeated(str(place % 23), *(tuple(draw.choices(said, k=draw.randint(2, 5))) for _ in said))
        for place in range(150)
    ]


def rewards():
    draw = random.Random(4)  # noqa: S311 - a simulation
    return [[(str(place % 23), draw.random() / 3) for place in range(150)] for _ in "ab"]


def figures(reviews, asked, sides):
    """Everything that is printed of such data."""
    a, b = map(clustered, sides)
    found = {name: getattr(agreement, name)(reviews) for name in (*STATISTICS, *BOUNDS)}
    found |= {
        f"{one.__name__} bounds": agreement.bounds_of(reviews, one) for one in (agreement.kappa_of, agreement.ac1_of)
    }
    found |= {f"same to {one.number}": one.same for one in curve(lifetimes(reviews))}
    found |= {
        "paired": agreement.kappa(paired(reviews, (one for one in reviews if one.number % 2))),
        "excess": noise(asked).excess,
    }
    found |= {"repeat rate": repeat_rate((one.task, one.first) for one in asked)}
    found |= {one.__name__: TaskBootstrap(300).estimate(one, a, b) for one in (difference, ratio)}
    others = [asymmetry(reviews), sign_flips(a, b), median(lifetimes(reviews)), agreement.left_out(reviews)]
    return found, [*others, list(agreement.categories(reviews).items())]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_order_of_what_is_given_changes_no_digit(seed):
    turn = random.Random(seed)  # noqa: S311 - a shuffle
    shuffled = [turn.sample(one, len(one)) for one in (judged(), segments(), *rewards())]

    assert figures(shuffled[0], shuffled[1], shuffled[2:]) == figures(judged(), segments(), rewards())


def shown(one: Estimate) -> str:
    return " ".join("-" if value is None else f"{value:.10g}" for value in (one.value, one.low, one.high))


def test_the_digits_are_those_of_every_version_of_python():
    found, _ = figures(judged(), segments(), rewards())

    assert {name: shown(one) for name, one in found.items()} == {
        "agreement": "0.6773049645 0.5829910815 0.7620867223",
        "kappa": "0.3534391534 0.1699871398 0.5132141106",
        "ac1": "0.3557764724 0.1729530223 0.5148999088",
        "same_step": "1 0.9074872386 1",
        "per_step": "0.838365897 0.7754562828 0.8894836733",
        "signed_difference": "-0.01186676798 -0.04037046997 0.01665623235",
        "rejected_again": "0.662962963 0.5599544596 0.7557386595",
        "bounds": "- 0.6283333333 0.7041666667",
        "same_step_bounds": "- 0.8825 1",
        "per_step_bounds": "- 0.8070099524 0.853909465",
        "signed_difference_bounds": "- -0.03636309524 0.0394702381",
        "rejected_again_bounds": "- 0.6107266436 0.6920415225",
        "kappa_of bounds": "- 0.255483713 0.4075005424",
        "ac1_of bounds": "- 0.2578541001 0.4091641962",
        "same to 1": "0.64375 0.539514085 0.7302509185",
        "same to 2": "0.5165895062 0.4083049604 0.6144373424",
        "same to 3": "0.3973765432 0.2966177829 0.4961878011",
        "same to 4": "0.2861111111 0.1991067505 0.378979055",
        "same to 5": "0.2066358025 0.1454324725 0.275397282",
        "paired": "0.83664754 0.8006668146 0.8666146482",
        "excess": "-0.02239259259 -0.06140714394 0.0166902815",
        "repeat rate": "0.4865704772 0.4159056143 0.5577763226",
        "difference": "-0.01828586908 -0.04325268628 0.007193901143",
        "ratio": "0.8967483545 0.7786034073 1.044199541",
    }
