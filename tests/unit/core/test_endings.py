import pytest

from spectrace.core.endings import cut_by_run, infrastructure, score


@pytest.mark.parametrize(
    ("status", "reason", "reward", "counts"),
    [
        ("completed", "finished", "1.0", "1.0"),
        ("completed", "finished", None, None),  # its grader failed
        ("truncated", "max_steps", "0.0", "0.0"),
        ("truncated", "max_cost_usd", "0.0", "0.0"),  # a budget of its own
        ("truncated", "context_reviewer", None, "0.0"),
        ("truncated", "run_max_cost_usd", "0.0", None),  # its run's budget: nothing is known of it
        ("truncated", "run_max_wall_s", "0.0", None),
        ("truncated", "cost_unknown", "0.0", None),
        ("truncated", "tokens_unknown", "0.0", None),
        ("failed", "no_repair", None, "0.0"),  # the agent's own failure
        ("failed", "unusable_reply", None, "0.0"),
        ("failed", "model_strong_unreachable", None, None),
        ("failed", "environment_crashed", None, None),
        ("failed", "error_OSError", None, None),
        ("failed", "indeterminate", None, None),
        ("failed", None, None, None),
        ("interrupted", "cancelled", None, None),
        ("running", None, None, None),
        ("unknown", None, None, None),
    ],
)
def test_an_end_scores_what_it_says_of_the_agent(status, reason, reward, counts):
    assert score(status, reason, reward) == counts


def test_a_completed_episode_without_a_grade_is_no_failure_of_what_it_ran_on():
    assert not infrastructure("completed", "finished")


@pytest.mark.parametrize(("reason", "cut"), [("run_max_wall_s", True), ("max_wall_s", False), (None, False)])
def test_a_runs_limit_is_told_from_an_episodes_own(reason, cut):
    assert cut_by_run(reason) is cut
