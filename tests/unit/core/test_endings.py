from dataclasses import replace

import pytest

from spectrace.core.endings import cut_by_run, cut_short, infrastructure, score
from spectrace.core.events import EpisodeEnded
from tests.altered import first
from tests.episodes import recorded_events


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


@pytest.mark.parametrize(
    ("outcome", "reason", "outside"),
    [
        ("interrupted", "cancelled", True),
        ("truncated", "max_events", True),
        ("failed", "error_KeyError", True),
        ("truncated", "max_steps", False),
        ("failed", "no_repair", False),
        ("completed", "finished", False),
    ],
)
def test_an_end_is_the_protocols_own_or_comes_from_outside(outcome, reason, outside):
    end = first(recorded_events(), EpisodeEnded)

    assert cut_short(replace(end, body=replace(end.body, outcome=outcome, reason=reason))) is outside
    assert not cut_short(recorded_events()[0])
