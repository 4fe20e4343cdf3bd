"""Whole episodes on real models: SGLang in both roles; a local weak model beside an OpenAI-compatible strong one."""

import asyncio

import pytest

from spectrace.config import open_model
from spectrace.core.baselines import StrongOnly
from spectrace.core.events import EpisodeEnded, EpisodeStarted, GenerateCompleted, VerdictGiven
from spectrace.core.specagent import SpecAgent
from spectrace.environments.shop import open_shop
from spectrace.runs.live import record
from spectrace.runs.replay import replay_episode
from spectrace.store.sql import open_store

pytestmark = [pytest.mark.live, pytest.mark.timeout(1500)]

SHORT = SpecAgent(k=3, max_steps=5, review="every")
"""A few real steps, reviewed whatever they are: a review takes tens of seconds on a CPU."""


def episode(tmp_path, weak, strong, protocol=SHORT):
    """Record one shop episode into SQLite; return its events and its replay."""

    async def go():
        store = open_store(f"sqlite:///{tmp_path / 'live.db'}")
        environment = open_shop()
        clients = {"weak": open_model(weak), "strong": open_model(strong)}
        try:
            recorded = await record(environment.tasks()[0], environment, clients, protocol, store)
            events = list(store.read(recorded.episode))
            return events, await replay_episode(events)
        finally:
            for client in clients.values():
                await client.close()
            store.close()

    return asyncio.run(go())


def test_an_episode_with_sglang_in_both_roles_is_recorded_and_replays_the_same(tmp_path, sglang_url):
    spec = f"sglang:weak@{sglang_url}"
    events, replayed = episode(tmp_path, spec, spec)
    started, answers = events[0].body, [e.body for e in events if isinstance(e.body, GenerateCompleted)]
    assert isinstance(started, EpisodeStarted)
    assert isinstance(events[-1].body, EpisodeEnded)

    assert (replayed.result, replayed.compared) == ("same", len(events) - 1)
    assert [event for event in events if isinstance(event.body, VerdictGiven)]
    assert answers[1].usage.cached > 0
    assert all(answer.usage.input is not None and answer.usage.output is not None for answer in answers)
    assert [model.provider for model in started.models] == ["sglang", "sglang"]
    assert "weight_version" in started.models[0].server
    assert events[-1].body.outcome in {"completed", "truncated"}


def test_strong_only_on_sglang_is_recorded_and_replays_the_same(tmp_path, sglang_url):
    spec = f"sglang:weak@{sglang_url}"
    events, replayed = episode(tmp_path, spec, spec, StrongOnly(max_steps=4))
    answers = [event.body for event in events if isinstance(event.body, GenerateCompleted)]

    assert replayed.result == "same"
    assert {answer.role for answer in answers} == {"actor"}
    assert answers[-1].usage.cached >= answers[0].usage.input - 1


def test_a_local_weak_model_and_an_openai_compatible_strong_one_work_together(tmp_path, sglang_url):
    events, replayed = episode(tmp_path, "local:weak", f"openai:weak@{sglang_url}/v1")
    started = events[0].body
    assert isinstance(started, EpisodeStarted)

    assert replayed.result == "same"
    assert [(model.role, model.provider) for model in started.models] == [("weak", "local"), ("strong", "openai")]
    assert {e.body.role for e in events if isinstance(e.body, GenerateCompleted)} >= {"drafter"}
