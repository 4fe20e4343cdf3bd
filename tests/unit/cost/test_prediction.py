import pytest
from simulated_rounds import D, alike, mixed, strong_cost

from spectrace.cost.accounting import account
from spectrace.cost.model import relative_strong_cost
from spectrace.cost.prediction import Round, TaskRounds, count_rounds, forecast, plain_parameters, predict


def bias(log):
    """Proposition 1 at the acceptance and the length that the log shows, less what came."""
    lines = account(strong_cost(log), D)
    return relative_strong_cost(*plain_parameters(log), lines.v_over_d, lines.rho) - lines.r


def test_the_prediction_for_100000_rounds_is_within_a_hundredth():
    assert abs(predict(alike(200, 500), D).error) < 0.01


def test_proposition_1_is_right_where_its_assumptions_hold():
    log = [
        TaskRounds(task.task, [Round(one.shape, one.accepted, 0, not one.accepts, one.cost) for one in task.rounds])
        for task in alike(200, 500)[:50]
    ]

    assert abs(bias(log)) < 0.01


@pytest.mark.slow
def test_where_tasks_and_steps_differ_the_prediction_is_within_a_hundredth_and_proposition_1_is_not():
    log = mixed(200, 500)

    assert (abs(predict(log, D).error) < 0.01, bias(log)) == (True, pytest.approx(0.058, abs=0.01))


def test_steps_behind_a_rejection_were_not_judged():
    counts = count_rounds(TaskRounds("t", [Round("rrrh", accepted=1, repaired=1)]))

    assert dict(counts.judged) == {("r", 0, 4): 1, ("r", 1, 4): 1}
    assert dict(counts.wrong) == {("r", 1, 4): 1}


def test_every_committed_step_is_counted():
    counts = count_rounds(TaskRounds("t", [Round("rrh", 3, 6), Round("rh", 1, 0, repaired=2)], tail=4))

    assert (counts.reviews, counts.committed, counts.unreviewed, counts.rejections) == (2, 16, 10, 1)


def test_a_fit_expects_of_its_own_log_what_it_shows():
    log = mixed(5, 4000)
    counts = count_rounds(TaskRounds("all", [one for task in log for one in task.rounds], sum(t.tail for t in log)))

    expected = forecast(counts)

    assert expected.reviews_per_step == pytest.approx(counts.reviews / counts.committed, rel=0.01)
    assert expected.repairs_per_step == pytest.approx(counts.rejections / counts.committed, rel=0.01)


def test_a_position_that_nobody_judged_is_taken_as_its_kind():
    seen = [Round("rh", 2, cost=10), Round("rh", 1, repaired=1, cost=20)]
    counts = count_rounds(TaskRounds("t", [*seen, Round("rrh", 0, repaired=1, cost=20)]))

    assert forecast(counts).repairs_per_step == pytest.approx(0.4, abs=0.1)


def test_fit_and_test_share_no_task():
    found = predict(mixed(21, 10), D)

    assert (found.fitted_on, found.tested_on) == (11, 10)


def test_the_halves_do_not_depend_on_the_order_of_the_log():
    log = mixed(30, 10)

    assert predict(log[::-1], D).predicted == pytest.approx(predict(log, D).predicted, rel=1e-12)


def test_under_ten_tasks_in_a_half_there_is_no_interval():
    found = predict(mixed(19, 20), D)

    assert (found.low, found.high) == (None, None)


@pytest.mark.parametrize("log", [[], mixed(1, 10), [TaskRounds("a", []), TaskRounds("b", [], 4)]])
def test_a_log_that_is_too_small_is_told(log):
    assert "too few tasks" in predict(log, D)


def test_the_interval_covers_no_error_about_as_often_as_it_says():
    covered = 0
    for seed in range(40):
        found = predict(mixed(30, 8, seed=100 + seed), D)
        covered += found.low <= 0 <= found.high

    assert covered >= 40 * 0.85
