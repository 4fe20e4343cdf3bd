"""An episode interrupted after any event and gone on with is, together with its child, the uninterrupted one.

Of every protocol: the same outcome, history, prompts and final state, and no action executed twice.
"""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spectrace.core.agentcollab import AgentCollab
from spectrace.core.baselines import StrongOnly, WeakOnly
from spectrace.core.specagent import SpecAgent
from spectrace.core.speculative_actions import SpeculativeActions
from tests.properties.interruptions import resumed_everywhere, wrong_with
from tests.properties.played import play
from tests.properties.scripts import BUDGETS, COLLABORATING, GUESSING, OPTIONS, Script, options, scripts

PROTOCOLS = {
    SpecAgent: OPTIONS,
    WeakOnly: {},
    StrongOnly: {},
    SpeculativeActions: GUESSING,
    AgentCollab: COLLABORATING,
}
CERTAIN = {
    "a rejected write with a repair, and replies of a user": Script(
        ("read", "write", "reply", "write"), ("write", "read"), has_user=True
    ),
    "a write whose answer is lost": Script(("read", "write"), ("read", "write"), moods=("ok", "crash")),
    "guesses that are launched, taken and lost": Script(("read", "read", "write"), ("read", "read", "write", "read")),
    "a read that is none": Script(("lie", "read", "write"), ("lie", "read", "write")),
    "a read without answer": Script(("read", "read", "write"), ("read", "read", "write"), moods=("crash", "ok")),
    "calls in one message": Script(("reads_and_write",), ("reads_and_write",), native=(True, True)),
}


FEW_STEPS = {"max_steps": 12}


def faults(script, protocol, chosen, stride=1):
    """Return what is wrong with going on, and how often the episode was interrupted."""
    still = tuple(replace(judged, drifts=False) for judged in script.verdicts)  # a state that moves is refused
    played = play(replace(script, verdicts=still), protocol, chosen)
    resumed = list(resumed_everywhere(played, stride))
    return [wrong for one in resumed for wrong in wrong_with(played, one)], len(resumed)


@pytest.mark.parametrize("stride", [11, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("protocol", [SpecAgent, SpeculativeActions])
@pytest.mark.parametrize("named", CERTAIN)
def test_what_certainly_happens_is_gone_on_with_after_its_events(named, protocol, stride):
    wrong, interrupted = faults(CERTAIN[named], protocol, FEW_STEPS, stride)

    assert wrong == []
    assert interrupted > 0


@pytest.mark.slow
@pytest.mark.timeout(900)  # each example goes on with one episode dozens of times
@given(scripts(), st.sampled_from(list(PROTOCOLS)), st.integers(1, 5), st.data())
@settings(max_examples=60, derandomize=True, database=None)
def test_a_random_episode_is_gone_on_with_wherever_it_was_interrupted(script, protocol, stride, data):
    chosen = data.draw(options(PROTOCOLS[protocol], BUDGETS))
    wrong, interrupted = faults(script, protocol, {**chosen, **FEW_STEPS}, stride)

    assert wrong == []
    assert interrupted > 0
