import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated_rounds import D, alike, mixed, steps_of, strong_cost

from spectrace.cost.accounting import RoundCost, StrongCost, account, proposition

COSTS = st.floats(0, 1e15)
ROUNDS = st.lists(st.builds(RoundCost, st.booleans(), COSTS, COSTS), min_size=1, max_size=8)


@pytest.mark.parametrize("made", [alike, mixed])
@pytest.mark.slow
def test_the_accounting_of_100000_rounds_is_exact(made):
    log = made(200, 500)
    lines = account(strong_cost(log), D)
    spent = math.fsum(one.cost for task in log for one in task.rounds)

    assert lines.reviews == 100_000
    assert abs(lines.r - spent / steps_of(log) / D) < 1e-9


@given(ROUNDS, st.integers(1, 1000), COSTS, COSTS, st.floats(1e-3, 1e15))
def test_the_lines_add_up_to_all_that_was_spent(rounds, steps, acting, apart, d):
    rounds = [RoundCost(accepts=True, review=1.0), *rounds]
    cost = StrongCost(steps=steps, rounds=rounds, acting=acting, apart=apart)

    lines = account(cost, d)

    assert (lines.r + lines.apart) * d * steps == pytest.approx(cost.total, rel=1e-9)


def test_v_is_of_accepting_reviews_and_rho_of_what_rejections_cost_beyond():
    rounds = [RoundCost(True, 10), RoundCost(True, 20), RoundCost(False, 25, 40), RoundCost(False, 15, 0)]

    lines = account(StrongCost(steps=20, rounds=rounds), d=50)

    assert (lines.v, lines.rho_d, lines.reviews, lines.repairs) == (15, (10 + 40 + 0) / 2, 4, 2)
    assert lines.r == pytest.approx(4 / 20 * 15 / 50 + 2 / 20 * 25 / 50)


def test_what_was_asked_again_is_no_part_of_r():
    with_line = account(StrongCost(steps=10, rounds=[RoundCost(True, 10)], apart=500), d=50)

    assert (with_line.r, with_line.apart) == (pytest.approx(10 / 50 / 10), 1.0)


def test_a_corrective_turn_behind_an_accepted_segment_is_no_part_of_v():
    lines = account(StrongCost(steps=10, rounds=[RoundCost(True, 10, repair=500)]), d=50)

    assert (lines.v, lines.apart) == (10, 1.0)


def test_the_strong_model_alone_costs_1():
    lines = account(StrongCost(steps=7, acting=7 * 12.5), d=12.5)

    assert lines.r == pytest.approx(1)


def test_the_weak_model_alone_costs_nothing():
    assert account(StrongCost(steps=7), d=12.5).r == 0


@pytest.mark.parametrize(
    ("cost", "d", "why"),
    [
        (StrongCost(steps=0), 1, "no step was committed"),
        (StrongCost(steps=3), 0, "costs nothing in this measure"),
    ],
)
def test_where_there_is_no_account_the_reason_is_given(cost, d, why):
    assert why in account(cost, d)


@given(ROUNDS, st.integers(1, 1000), COSTS, st.floats(1e-3, 1e15))
def test_where_every_review_rejects_v_is_unknown_and_r_is_all_that_it_cost(rounds, steps, apart, d):
    cost = StrongCost(steps=steps, rounds=[RoundCost(False, one.review, one.repair) for one in rounds], apart=apart)

    lines = account(cost, d)

    assert (lines.v, lines.v_over_d) == (None, None)
    assert (lines.r + lines.apart) * d * steps == pytest.approx(cost.total, rel=1e-9)
    assert "so v is unknown" in proposition(lines)


def test_an_account_of_nothing_but_reviews_that_could_not_be_read_has_no_r():
    assert "no review could be read" in account(StrongCost(steps=3, apart=9), d=1)
    assert account(StrongCost(steps=3, acting=3, apart=3), d=1).apart == 1


@pytest.mark.parametrize("made", [alike, mixed])
def test_proposition_1_with_n_solved_repeats_the_accounting(made):
    lines = account(strong_cost(made(50, 40)), D)

    assert proposition(lines).r == pytest.approx(lines.r, rel=1e-9)


def test_where_all_steps_are_alike_the_solved_n_is_the_drafted_length():
    log = alike(200, 500)
    one_step_repairs = StrongCost(
        steps=sum(one.accepted + (not one.accepts) for task in log for one in task.rounds),
        rounds=strong_cost(log).rounds,
    )

    found = proposition(account(one_step_repairs, D))

    assert (found.p, found.n) == (pytest.approx(0.9, abs=0.003), pytest.approx(5, abs=0.05))


def test_where_nothing_was_rejected_n_is_the_steps_of_a_review():
    found = proposition(account(StrongCost(steps=14, rounds=[RoundCost(True, 10)] * 2), d=50))

    assert (found.p, found.n, found.r) == (1, pytest.approx(7), pytest.approx(10 / 50 / 7))


def test_where_every_step_is_reviewed_n_is_1():
    rounds = [RoundCost(True, 10), *[RoundCost(False, 10, 90)] * 3]
    found = proposition(account(StrongCost(steps=4, rounds=rounds), d=50))

    assert found.n == 1
    assert found.r == pytest.approx(10 / 50 + 0.75 * 90 / 50)


def test_a_log_that_no_n_explains_is_told():
    rounds = [RoundCost(True, 10), RoundCost(False, 10)]

    assert "no n gives that" in proposition(account(StrongCost(steps=1, rounds=rounds), d=50))


def test_of_a_log_without_reviews_proposition_1_says_nothing():
    assert proposition(account(StrongCost(steps=5, acting=10), d=1)) == "nothing was reviewed"


def test_n_has_no_end_where_no_review_accepts_everything():
    lines = replace(account(StrongCost(steps=4, rounds=[RoundCost(True, 1.0)]), d=1), repairs=1, rho_d=3.0)

    found = proposition(lines)

    assert (found.p, found.n, found.r) == (0.75, math.inf, 0.25 * (1 + 3))
