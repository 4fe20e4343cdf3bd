"""SpecAgent under random models, a random world and random options: what always holds, and that everything happens."""

import asyncio

import pytest

from spectrace.audit.integrity import verify_episode
from spectrace.audit.why import why_items
from spectrace.cli import story
from spectrace.core.events import GenerateCompleted, GenerateRequested
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Completion
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.replay import replay_episode
from spectrace.runs.reverify import reverify_episode
from spectrace.store.sql import open_store
from tests.properties.branches import BRANCHES
from tests.properties.claims import HOLDS
from tests.properties.exploring import not_reached
from tests.properties.played import play
from tests.properties.rehearsed import REHEARSED
from tests.properties.scripts import OPTIONS


def test_what_always_holds_holds_on_every_branch():
    assert not_reached(SpecAgent, BRANCHES, OPTIONS, 40, REHEARSED) == []


@pytest.mark.slow
def test_random_episodes_alone_come_to_every_branch():
    assert not_reached(SpecAgent, BRANCHES, OPTIONS, 1000) == []


def answers_again(played):
    """Return a verifier that says what the first one said in the reviews that came to a verdict."""
    judged = {f"s{segment.index}" for segment in played.episode.segments if segment.verdict is not None}
    asked = {event.seq for event in played.all(GenerateRequested) if event.body.position in judged}
    said = [event.body.message for event in played.all(GenerateCompleted) if event.body.request in asked]
    style = "native" if played.script.native[1] else "json"
    return ScriptedModel([Completion(message, finish_reason="stop") for message in said], calls=style)


@pytest.mark.slow
def test_a_verifier_that_says_the_same_again_agrees_with_every_verdict():
    for script, chosen in REHEARSED:
        played = play(script, SpecAgent, {**chosen, "acceptance": "semantic", "verdict": "decoded"})
        checks, _ = asyncio.run(reverify_episode(played.events, answers_again(played), played.store, "again"))
        verdicts = [segment.verdict for segment in played.episode.segments if segment.verdict is not None]

        assert [check.recorded for check in checks] == verdicts
        assert [(check.new.decision, check.new.accepted, check.new.replacement) for check in checks] == [
            (verdict.decision, verdict.accepted, verdict.replacement) for verdict in verdicts
        ]


@pytest.mark.slow
def test_each_episode_has_a_story(capsys):
    for script, chosen in REHEARSED:
        played = play(script, SpecAgent, chosen)
        story.tell(played.episode, why_items(played.events))

        assert played.episode.id in capsys.readouterr().out


@pytest.mark.slow
def test_an_episode_that_was_cut_anywhere_replays_up_to_there():
    for script, chosen in REHEARSED[::3]:
        whole = play(script, SpecAgent, chosen).events
        cut = [asyncio.run(replay_episode(whole[:end])) for end in range(1, len(whole))]

        assert [(one.result, one.compared) for one in cut] == [("same", end - 1) for end in range(1, len(whole))]


@pytest.mark.slow
def test_what_always_holds_holds_in_a_database_and_the_chain_is_whole(tmp_path):
    store = open_store(f"sqlite:///{tmp_path / 'log.db'}")
    results = set()
    for script, chosen in REHEARSED:
        played = play(script, SpecAgent, chosen, store)
        for holds in HOLDS:
            holds(played)
        results.add(verify_episode(store, played.recorded.episode).result)
    store.close()

    assert results == {"consistent"}
