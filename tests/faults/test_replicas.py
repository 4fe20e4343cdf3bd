"""A replica dies under a re-verification: its episodes are left, the others judged, and going on loses nothing."""

import asyncio
import json
from collections import Counter

import pytest
from model_server import Answer, completion, model_server

from spectrace.audit.passes import read_pass
from spectrace.audit.queries import Reader
from spectrace.core.events import EpisodeEnded, EpisodeStarted, GenerateCompleted
from spectrace.models.openai import OpenAIClient
from spectrace.models.replicas import Replicas
from spectrace.runs.pass_plan import Plan
from spectrace.runs.passes import Rejudging, judge_shard
from spectrace.runs.replay import replay_episode
from spectrace.store.sql import open_store
from tests.playbook import accept
from tests.verifying import begun, shop_episodes

PLAN = Plan("again", "openai:m")
ACCEPT = completion(accept())
GONE = Answer(hang_up=True)


@pytest.fixture
def store(tmp_path):
    opened = open_store(str(tmp_path / "log.db"))
    yield opened
    opened.close()


@pytest.fixture
def servers():
    with model_server() as one, model_server() as other:
        for server in (one, other):
            server.on("/v1/models", {"data": [{"id": "m", "max_model_len": 4096}]}).chat(ACCEPT)
        yield one, other


def judged(store, episodes, servers, said):
    """Judge what is left, several episodes at once, with a pool of its own as a process has."""

    async def go():
        urls = [f"{one.url}/v1" for one in servers]
        pool = Replicas("m", {url: OpenAIClient("m", url, retries=0) for url in urls}, said.append)
        try:
            await pool.facts()
            work = Rejudging(store=store, arbiter=begun(store, episodes, PLAN), plan=PLAN, pool=pool)
            return await judge_shard(work, episodes, concurrency=4)
        finally:
            await pool.close()

    return asyncio.run(go())


def homes(episodes, servers):
    """Which server each episode stays on while all are up."""
    urls = {f"{one.url}/v1": one.url for one in servers}
    pool = Replicas("m", {url: OpenAIClient("m", url) for url in urls})
    found = {episode: urls[pool.client(episode).url] for episode in episodes}
    asyncio.run(pool.close())
    return found


def children(store):
    reader = Reader(store)
    return [reader.events(one.episode) for one in reader.episodes() if one.run == "again"]


def test_every_call_of_a_child_goes_to_the_replica_that_it_was_described_by(store, servers):
    judged(store, shop_episodes(store, 8), servers, [])

    described = Counter()
    for first, *rest in children(store):
        assert isinstance(first.body, EpisodeStarted)
        url = first.body.models[0].url
        described[url] += 1
        assert {json.loads(one.body.server)["url"] for one in rest if isinstance(one.body, GenerateCompleted)} == {url}
    assert sum(described.values()) == 8
    assert set(described) <= {f"{one.url}/v1" for one in servers}


def test_a_replica_that_dies_loses_no_verdict_and_gives_none_twice(store, servers):
    episodes, said = shop_episodes(store, 12), []
    share = homes(episodes, servers)
    dying, left = sorted(servers, key=lambda one: -list(share.values()).count(one.url))
    dying.chat(ACCEPT, ACCEPT, ACCEPT, ACCEPT, GONE)
    first = judged(store, episodes, servers, said)

    assert len(said) == 1
    assert f"{dying.url}/v1 does not answer any more" in said[0]
    failed = [one for one in first if one.left]
    assert failed
    assert {one.then for one in failed} == {"again"}
    ends = [child[-1].body for child in children(store) if child[0].body.models[0].url == f"{dying.url}/v1"]
    assert "failed" in {end.outcome for end in ends if isinstance(end, EpisodeEnded)}
    others = [child[-1].body for child in children(store) if child[0].body.models[0].url == f"{left.url}/v1"]
    assert {end.outcome for end in others} <= {"completed"}

    dying.on("/v1/models", GONE)
    again = judged(store, episodes, servers, said)
    found = read_pass(Reader(store), "again")
    assert [one.left for one in again] == [0] * 12
    assert "left out, up: 1" in said[1]
    assert Counter((one.episode, one.segment) for one in found.answers) == {
        (episode, segment): 1 for episode in episodes for segment in (1, 2, 3)
    }
    assert len([one for one in left.received if one.method == "POST"]) == 36 - 4


def test_children_of_replicas_replay_without_any(store, servers):
    episodes = shop_episodes(store, 2)
    judged(store, episodes, servers, [])
    asked = [len(one.received) for one in servers]
    results = [
        asyncio.run(replay_episode(child, parent=Reader(store).events(child[0].body.parent.episode))).result
        for child in children(store)
    ]

    assert results == ["same", "same"]
    assert [len(one.received) for one in servers] == asked
