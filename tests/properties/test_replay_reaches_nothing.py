"""A replay from the record reaches no environment and no model: each raises on any call, whatever was recorded."""

import asyncio
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spectrace import config, library
from spectrace.core.agentcollab import AgentCollab
from spectrace.core.baselines import StrongOnly, WeakOnly
from spectrace.core.specagent import SpecAgent
from spectrace.core.speculative_actions import SpeculativeActions
from spectrace.environments.environment import Environment
from spectrace.models.client import ModelClient
from spectrace.models.scripted import ScriptedModel
from tests.properties.played import play
from tests.properties.scripts import BUDGETS, COLLABORATING, GUESSING, OPTIONS, options, scripts
from tests.properties.world import World

PROTOCOLS = (
    (SpecAgent, OPTIONS),
    (WeakOnly, {}),
    (StrongOnly, {}),
    (SpeculativeActions, GUESSING),
    (AgentCollab, COLLABORATING),
)
EPISODES = st.sampled_from(PROTOCOLS).flatmap(
    lambda one: st.tuples(st.just(one[0]), options(one[1], BUDGETS), scripts())
)
OPENERS = ("open_environment", "builtin_environment", "open_model")


def reached(*_: object, **__: object) -> None:
    raise AssertionError("a replay from the record reached outside it")


def methods(port: type) -> list[str]:
    return [name for name in vars(port) if not name.startswith("_")]


@contextmanager
def nothing_to_reach():
    """Until the block ends, the world, the models and whatever would open others raise on any call."""
    with pytest.MonkeyPatch.context() as patched:
        for kind, port in ((World, Environment), (ScriptedModel, ModelClient)):
            for name in methods(port):
                if callable(getattr(kind, name, None)):
                    patched.setattr(kind, name, reached)
        for name in OPENERS:
            patched.setattr(config, name, reached)
        yield


def replays_alone(examples: int) -> int:
    """Record so many random episodes and replay each where nothing can be reached; return how many there were."""
    count = 0

    @settings(max_examples=examples, derandomize=True, database=None)
    @given(EPISODES)
    def explore(episode) -> None:
        nonlocal count
        protocol, chosen, script = episode
        played = play(script, protocol, chosen)
        called = len(played.world.calls)
        with nothing_to_reach():
            result = asyncio.run(library.replay(played.recorded.episode, played.store))
        count += 1

        assert (result.result, result.compared) == ("same", len(played.events) - 1), result.detail
        assert len(played.world.calls) == called

    explore()
    return count


def test_a_replay_from_the_record_reaches_nothing():
    assert replays_alone(25) >= 25


@pytest.mark.slow
def test_a_thousand_replays_from_the_record_reach_nothing():
    assert replays_alone(1000) >= 1000


@pytest.mark.parametrize("name", methods(Environment))
def test_the_world_raises_on_any_call_where_nothing_may_be_reached(name):
    world = World((), (), None, fingerprints=False, has_user=False, flushed=int)

    with nothing_to_reach(), pytest.raises(AssertionError, match="reached outside it"):
        getattr(world, name)()
