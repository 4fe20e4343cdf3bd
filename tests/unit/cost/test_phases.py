import pytest

from spectrace.core.types import Usage
from spectrace.cost.estimate import Work
from spectrace.cost.phases import Call, PhaseCost, by_phase, phase_of, summed

WORK = Work(10.0, 20.0, 30.0)


USAGE = Usage(100, 40, 7)


def call(phase="draft", who="weak", usage=USAGE, **more):
    return Call(phase=phase, who=who, usage=usage, **more)


@pytest.mark.parametrize(
    ("role", "position", "again", "phase"),
    [
        ("drafter", "s3.2", False, "draft"),
        ("drafter", "s3.g1", False, "draft"),
        ("reviewer", "s3", False, "verify"),
        ("reviewer", "s3.v2", False, "verify"),
        ("reviewer", "s3.x", False, "verify"),
        ("reviewer", "s3", True, "re-ask"),
        ("reviewer", "s3.j", False, "progress"),
        ("repairer", "s3.r", False, "repair"),
        ("actor", "s3", False, "act"),
        ("actor", "s1.p", False, "plan"),
        ("user", "s3.2", False, "user"),
        ("judge", "judge", False, "judge"),
    ],
)
def test_a_call_belongs_to_the_phase_that_its_position_says(role, position, again, phase):
    assert phase_of(role, position, again=again) == phase


def test_costs_are_in_the_measures_units():
    one = call(work=WORK, latency_us=1_500_000, micro_usd=250)

    assert [one.cost(name) for name in ("flops", "hbm_read_low", "hbm_read_high", "seconds", "usd")] == [
        10.0,
        20.0,
        30.0,
        1.5,
        0.00025,
    ]


def test_measured_and_modelled_uncached_tokens_are_two_columns():
    one = call(cached_modelled=90)

    assert (one.tokens("uncached_measured"), one.tokens("uncached_modelled")) == (60, 10)


def test_unknown_tokens_are_counted_apart():
    total = summed([call(), call(usage=Usage(None, None, 3)), call(usage=Usage(50, None, None))])

    assert {name: (one.known, one.unknown) for name, one in total.sums.items() if name in {"input", "output"}} == {
        "input": (150, 1),
        "output": (10, 1),
    }
    assert (total.sums["uncached_measured"].known, total.sums["uncached_measured"].unknown) == (60, 2)


def test_a_sum_with_an_unknown_part_is_not_exact():
    total = summed([call(work=WORK), call()])

    assert (total.sums["flops"].exact, total.sums["flops"].known, total.sums["input"].exact) == (None, 10.0, 200)


def test_a_sum_of_nothing_but_unknown_parts_is_unknown():
    total = summed([call(usage=Usage(None, None, 3)), call(usage=Usage(None, 1, None))])

    assert (total.sums["input"].least, total.sums["output"].least, summed([]).sums["input"].least) == (None, 3, 0)


def test_retries_and_failures_are_counted():
    total = summed([call(retries=2), call(failed=True)])

    assert (total.calls, total.failed, total.retries) == (2, 1, 2)


def test_phases_are_summed_apart_and_in_order():
    found = by_phase([call("act", "weak"), call("verify", "strong"), call("act", "strong"), call("draft")])

    assert list(found) == [("draft", "weak"), ("verify", "strong"), ("act", "strong"), ("act", "weak")]


def test_more_cached_tokens_than_sent_leave_none_to_read():
    assert call(usage=Usage(10, 12, 1)).tokens("uncached_measured") == 0


def test_nothing_costs_nothing():
    assert summed([]) == PhaseCost()
