"""Live models that say what they said then come out the same, whatever was recorded, and the world hears nothing."""

import asyncio

import pytest
from hypothesis import given, settings

from spectrace.core.events import GenerateFailed
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.live_models import Asking, replay_with_models
from spectrace.runs.replay import ReplayResult
from tests.properties.played import Played, play
from tests.properties.test_replay_reaches_nothing import EPISODES
from tests.resumes import answers


def told_again(played: Played) -> ReplayResult:
    """Replay with models that give their recorded answers, one after another."""
    said, styles = answers(played.events), {facts.role: facts.calls for facts in played.events[0].body.models}
    clients = {who: ScriptedModel(said.get(who, []), name=who, calls=styles[who]) for who in ("weak", "strong")}
    return asyncio.run(replay_with_models(played.events, Asking(clients=clients)))


def come_out_the_same(examples: int) -> int:
    """Return how many of so many random episodes ended with every model answering; those that did not prove nothing."""
    count = 0

    @settings(max_examples=examples, derandomize=True, database=None, deadline=None)
    @given(EPISODES)
    def explore(episode) -> None:
        nonlocal count
        protocol, chosen, script = episode
        played = play(script, protocol, chosen)
        called = len(played.world.calls)
        result = told_again(played)
        failed = any(isinstance(event.body, GenerateFailed) for event in played.events)
        count += not failed

        assert result.result in ({"same", "untestable"} if failed else {"same"}), result.detail
        assert len(played.world.calls) == called

    explore()
    return count


def test_models_that_say_the_same_come_out_the_same():
    assert come_out_the_same(20) > 5


@pytest.mark.slow
def test_models_that_say_the_same_come_out_the_same_in_many_episodes():
    assert come_out_the_same(400) > 100
