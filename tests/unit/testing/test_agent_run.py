import pytest
from episodes import CANCEL, DONE, FIND, READ, recorded_events

from spectrace.core.types import Outcome
from spectrace.testing.agent_run import AgentRun


def test_a_run_is_read_off_its_events():
    events = recorded_events()
    run = AgentRun.of(events, replayed=True)

    assert run.outcome == Outcome("completed", "finished", "W200 is cancelled.", "1.0")
    assert [action for action, _ in run.acts] == [FIND, READ, CANCEL, DONE]
    assert all(observation is not None for _, observation in run.acts)
    assert (run.totals.writes, len(run.told("verdict.given")), run.replayed) == (1, 3, True)


def test_an_act_without_an_answer_has_no_observation():
    events = [event for event in recorded_events() if event.type != "act.completed"]

    assert [observation for _, observation in AgentRun.of(events, replayed=True).acts] == [None] * 4


def test_a_run_that_was_killed_is_none():
    with pytest.raises(AssertionError, match="has no end: its run was killed"):
        AgentRun.of(recorded_events()[:-1], replayed=True)
