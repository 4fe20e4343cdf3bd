"""The protocols without review under the same random models and world: the same claims, and all that they can do."""

import pytest

from spectrace.core.agentcollab import AgentCollab
from spectrace.core.baselines import StrongOnly, WeakOnly
from spectrace.core.speculative_actions import SpeculativeActions
from tests.properties.branches_of_rivals import ACTING, COLLABORATED, GUESSED
from tests.properties.exploring import not_reached
from tests.properties.rehearsed import NATIVE
from tests.properties.scripts import COLLABORATING, GUESSING, Script

ACTED = (
    (Script(moves := ("read", "reads_and_unknown", "lie", "reply"), moves, native=NATIVE), {}),
    (Script(moves := ("prose", "read", "write"), moves, moods=("crash", "timeout")), {}),
    (Script(moves := ("fenced",), moves), {}),
    (Script(moves := ("read", "read", "read"), moves), {"max_steps": 2}),
    (Script(moves := ("read", "read", "read"), moves), {"max_tokens": 30}),
    (Script(moves := ("reply",), moves, user=("unreachable",), has_user=True), {}),
    (Script(moves := ("read",), moves, moods=("done",)), {}),
)
"""For whichever model acts."""
GUESSES = (
    *ACTED,
    (Script(("read", "read", "read"), ("read", "read", "read")), {"guesses": 2}),
    (Script(("write", "reply"), ("write", "write")), {}),
    (Script(("prose", "empty", "external", "again"), ("write", "write", "write")), {}),
    (Script(("lie", "lie"), ("read", "read")), {}),
    (Script(("external",), ("lie",)), {}),
    (Script(("again", "again"), ("read", "read"), moods=("crash",)), {}),
    (Script(("read", "read"), ("read", "read")), {"max_strong_calls": 1}),
    (Script(("read",), ("prose", "empty")), {}),
)
STRETCHES = (
    *ACTED,
    (Script(("read",), plan=("prose", "empty")), {}),
    (Script(("read", "read", "read"), ("read",) * 3, judgements=("progress", "stagnation", "progress")), {"k": 1}),
    (Script(("read", "read"), ("read",) * 9, judgements=("stagnation",) * 5), {"k": 1, "offset": 0}),
    (Script(("read", "read"), ("read",) * 3, judgements=("prose", "empty")), {"k": 1}),
    (Script(("prose", "empty", "read"), ("read",) * 3), {"max_strong_calls": 2}),
)
RIVALS = {
    "weak-only": (WeakOnly, ACTING, {}, ACTED),
    "strong-only": (StrongOnly, ACTING, {}, ACTED),
    "speculative-actions": (SpeculativeActions, GUESSED, GUESSING, GUESSES),
    "agentcollab": (AgentCollab, COLLABORATED, COLLABORATING, STRETCHES),
}


@pytest.mark.parametrize("name", RIVALS)
def test_what_always_holds_holds_on_every_branch(name):
    protocol, branches, table, rehearsed = RIVALS[name]

    assert not_reached(protocol, branches, table, 12, rehearsed) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", RIVALS)
def test_what_always_holds_holds_of_many_episodes(name):
    protocol, branches, table, rehearsed = RIVALS[name]

    assert not_reached(protocol, branches, table, 400, rehearsed) == []
