"""An episode that somebody stops at any moment: one end, whole, and the same again as far as it went."""

import asyncio

import pytest

from spectrace.audit.integrity import verify_episode
from spectrace.core.agentcollab import AgentCollab
from spectrace.core.events import ActRequested, EpisodeEnded
from spectrace.core.specagent import SpecAgent
from spectrace.core.speculative_actions import SpeculativeActions
from spectrace.core.types import Effect
from spectrace.runs.replay import replay_episode
from tests.properties.played import play
from tests.properties.rehearsed import REHEARSED
from tests.properties.test_rival_properties import GUESSES, STRETCHES

FURTHEST = 60
"""No rehearsed episode has more events."""
STOPPED = {
    "specagent": (SpecAgent, REHEARSED[::4]),
    "speculative-actions": (SpeculativeActions, GUESSES[::2]),
    "agentcollab": (AgentCollab, STRETCHES[::2]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", STOPPED)
def test_an_episode_that_is_cancelled_anywhere_is_whole_ends_once_and_replays(name):
    protocol, episodes = STOPPED[name]
    for script, chosen in episodes:
        for moment in range(1, FURTHEST, 3):
            played = play(script, protocol, chosen, cancelled_at=moment)
            ends, acts = played.all(EpisodeEnded), [event.body for event in played.all(ActRequested)]
            flushed = [
                called.flushed >= event.seq
                for event, called in zip(played.all(ActRequested), played.world.calls, strict=False)
                if event.body.effect != Effect.READ
            ]

            assert verify_episode(played.store, played.episode.id).result == "consistent"
            assert [event.seq for event in ends] == [played.events[-1].seq]
            assert asyncio.run(replay_episode(played.events)).result == "same"
            assert [called.action for called in played.world.calls] == [
                act.action for act in acts[: len(played.world.calls)]
            ]
            assert all(flushed)
            if played.recorded is not None:  # it was over before
                break
