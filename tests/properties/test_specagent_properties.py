"""SpecAgent under random models, a random world and random options: what always holds, and that everything happens."""

from collections.abc import Callable

import pytest
from hypothesis import Phase, event, example, given, settings

from spectrace.core.specagent import SpecAgent
from tests.properties.branches import BRANCHES, taken
from tests.properties.claims import HOLDS
from tests.properties.played import play
from tests.properties.rehearsed import REHEARSED
from tests.properties.scripts import BUDGETS, OPTIONS, Script, options, scripts

QUICK = settings(max_examples=60, derandomize=True, database=None)
THOROUGH = settings(max_examples=1500, derandomize=True, database=None)
RANDOM = given(scripts(), options(OPTIONS, BUDGETS))


def check(script: Script, chosen: dict[str, object], reached: set[str]) -> None:
    """Play one episode and let every claim judge it; note which branches it took."""
    played = play(script, SpecAgent, chosen)
    for name in taken(played):
        event(name)
        reached.add(name)
    for holds in HOLDS:
        holds(played)


def rehearsed(test: Callable[..., None]) -> Callable[..., None]:
    for script, chosen in REHEARSED:
        test = example(script, chosen)(test)
    return test


def test_what_always_holds_holds_on_every_branch():
    reached: set[str] = set()

    @QUICK
    @rehearsed
    @RANDOM
    def explore(script, chosen):
        check(script, chosen, reached)

    explore()

    assert sorted(set(BRANCHES) - reached) == []


@pytest.mark.slow
def test_random_episodes_alone_come_to_every_branch():
    reached: set[str] = set()

    @settings(THOROUGH, phases=[phase for phase in Phase if phase is not Phase.explicit])
    @RANDOM
    def explore(script, chosen):
        check(script, chosen, reached)

    explore()

    assert sorted(set(BRANCHES) - reached) == []
