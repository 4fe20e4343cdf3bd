"""One model behind several real servers: an episode stays on one, all must be equal, and one may die."""

import asyncio
import json
import math
from contextlib import asynccontextmanager

import pytest
from model_server import Answer, completion, model_server

from spectrace.config import open_model, open_verifier
from spectrace.core.types import Message, ModelRequest
from spectrace.errors import ModelFailed, UsageError
from spectrace.models.client import can_score, pinned
from spectrace.models.openai import OpenAIClient
from spectrace.models.replicas import Replicas
from spectrace.models.scripted import ScriptedModel
from spectrace.settings import Settings
from tests.aio import in_loop

REQUEST = ModelRequest((Message("user", "hi"),))
EPISODES = [f"e{number}" for number in range(16)]


@pytest.fixture
def servers():
    with model_server() as one, model_server() as other:
        yield [serving(server) for server in (one, other)]


def serving(server, **facts):
    return server.on("/v1/models", {"data": [{"id": "m", "max_model_len": 4096} | facts]}).chat(completion())


@asynccontextmanager
async def replicas(*urls, said=None, **options):
    clients = {url: OpenAIClient("m", url, backoff_s=0.001, **options) for url in urls}
    pool = Replicas("big", clients, None if said is None else said.append)
    try:
        yield pool
    finally:
        await pool.close()


def urls_of(servers):
    return [f"{one.url}/v1" for one in servers]


async def answering(pool, episode):
    return json.loads((await pool.client(episode).generate(REQUEST)).server)["url"]


def chats(server):
    return sum(one.path.endswith("/chat/completions") for one in server.received)


@in_loop
async def test_an_episode_stays_on_one_replica_and_each_answer_says_which(servers):
    async with replicas(*urls_of(servers)) as pool:
        first = {episode: await answering(pool, episode) for episode in EPISODES}
        again = {episode: await answering(pool, episode) for episode in reversed(EPISODES)}

    assert first == again
    assert set(first.values()) == set(urls_of(servers))
    assert chats(servers[0]) == 2 * list(first.values()).count(f"{servers[0].url}/v1")


@in_loop
async def test_another_process_sends_an_episode_to_the_same_replica(servers):
    urls = urls_of(servers)
    async with replicas(*urls) as pool, replicas(*reversed(urls)) as other:
        assert [pool.client(one).url for one in EPISODES] == [other.client(one).url for one in EPISODES]


@pytest.mark.parametrize("number", [2, 3, 5])
def test_no_replica_gets_more_than_a_quarter_over_its_share(number):
    pool = Replicas("big", {f"http://{name}": ScriptedModel() for name in range(number)})
    for count in range(1, 100):
        pool.client(f"e{count}")

        assert max(pool._homes.values()) <= math.ceil(1.25 * count / number)


@in_loop
async def test_each_episode_is_described_by_its_own_replica_and_all_are_asked_once(servers):
    async with replicas(*urls_of(servers)) as pool:
        facts = await pool.client("e1").facts()

        assert facts.url == pool.client("e1").url
        assert (await pool.facts()).url == ", ".join(urls_of(servers))
    assert [sum(one.path == "/v1/models" for one in server.received) for server in servers] == [1, 1]


@in_loop
async def test_replicas_that_differ_are_refused_before_anything_is_asked(servers):
    serving(servers[1], max_model_len=8192)
    async with replicas(*urls_of(servers)) as pool:
        with pytest.raises(UsageError, match=r"differ in server\.max_model_len \(4096 and 8192\)"):
            await pool.client("e1").facts()

    assert [chats(server) for server in servers] == [0, 0]


@in_loop
async def test_what_only_one_replica_says_is_a_difference(servers):
    serving(servers[0], owned_by="me")
    async with replicas(*urls_of(servers)) as pool:
        with pytest.raises(UsageError, match=r'server\.owned_by \("me" and not said\)'):
            await pool.facts()


class Seeded(ScriptedModel):
    def __init__(self, **server):
        super().__init__(["{}"], source=server)


@in_loop
async def test_a_random_seed_of_ones_own_is_no_difference():
    pool = Replicas("big", {"http://a": Seeded(random_seed=1, dtype="x"), "http://b": Seeded(random_seed=2, dtype="x")})
    facts = {episode: json.loads((await pool.client(episode).facts()).server) for episode in EPISODES}

    assert {one["random_seed"] for one in facts.values()} == {1, 2}


@in_loop
async def test_a_replica_that_dies_fails_its_episodes_and_new_ones_go_to_the_other(servers):
    said = []
    gone, left = urls_of(servers)
    async with replicas(gone, left, said=said, retries=1) as pool:
        await pool.facts()
        clients = {episode: pool.client(episode) for episode in EPISODES}
        mine = [client for client in clients.values() if client.url == gone]
        others = [client for client in clients.values() if client.url == left]
        servers[0].chat(Answer(hang_up=True))

        for client in mine[:2]:
            with pytest.raises(ModelFailed):
                await client.generate(REQUEST)
        await others[0].generate(REQUEST)
        afterwards = {await answering(pool, episode) for episode in EPISODES}
    assert len(said) == 1
    assert said[0].startswith(f"big: the replica at {gone} does not answer any more.")
    assert f"left for going on; new ones go to {left}." in said[0]
    assert afterwards == {left}


@in_loop
async def test_three_troubles_in_a_row_bring_a_replica_down_and_an_answer_between_does_not(servers):
    said = []
    broken, fine = Answer({"error": {"message": "oops"}}, 500), completion()
    async with replicas(*urls_of(servers), said=said, retries=0) as pool:
        client = pool.client("e1")
        own = next(one for one in servers if client.url.startswith(one.url))
        own.chat(broken, broken, fine, broken, broken, broken, fine)

        for _ in range(2):
            with pytest.raises(ModelFailed):
                await client.generate(REQUEST)
        await client.generate(REQUEST)
        for count in (0, 0, 1):
            with pytest.raises(ModelFailed):
                await client.generate(REQUEST)
            assert len(said) == count
        assert pool.client("e1").url != client.url


@in_loop
async def test_a_replica_that_is_back_is_found_when_the_facts_are_asked_for_again(servers):
    gone, left = urls_of(servers)
    async with replicas(gone, left, retries=0) as pool:
        await pool.facts()
        one = next(episode for episode in EPISODES if pool.client(episode).url == gone)
        servers[0].chat(Answer(hang_up=True), completion())
        with pytest.raises(ModelFailed):
            await pool.client(one).generate(REQUEST)
        meanwhile = pool.client(one).url
        await pool.facts()

        assert (meanwhile, pool.client(one).url) == (left, left)
        assert sum(pool._homes.values()) == 0
        assert {await answering(pool, f"new{number}") for number in range(16)} == {gone, left}


NOBODY = "http://127.0.0.1:9/v1"


@in_loop
async def test_one_that_is_not_there_from_the_start_is_left_out_and_said(servers):
    said = []
    there = f"{servers[0].url}/v1"
    async with replicas(NOBODY, there, said=said, retries=0) as pool:
        await pool.facts()
        found = {await answering(pool, episode) for episode in EPISODES}

    assert (len(said), "big: a replica is left out, up: 1." in said[0]) == (1, True)
    assert found == {there}


@in_loop
async def test_where_nobody_is_there_the_failure_is_told_as_it_is():
    async with replicas(NOBODY, "http://127.0.0.1:7/v1", retries=0) as pool:
        with pytest.raises(ModelFailed, match=r"127\.0\.0\.1:9") as failed:
            await pool.client("e1").facts()

    assert failed.value.kind == "unreachable"


@in_loop
async def test_whoever_names_no_episode_is_answered_by_one_replica(servers):
    async with replicas(*urls_of(servers)) as pool:
        urls = {json.loads((await pool.generate(REQUEST)).server)["url"] for _ in range(4)}

        assert len(urls) == 1
        assert pinned(pool, "e1").url == pool.client("e1").url
        assert pinned(model := ScriptedModel(), "e1") is model


def test_a_pool_can_do_what_its_clients_can():
    url = "http://127.0.0.1:1"
    pool = open_model(f"sglang:m@{url}1,{url}2", Settings())

    assert (can_score(pool), can_score(pool.client("e1"))) == (True, True)
    assert not can_score(open_model(f"openai:m@{url}1,{url}2", Settings()))
    with pytest.raises(ModelFailed, match="no page that tokenizes"):
        asyncio.run(Replicas("x", {url: ScriptedModel()}).prompt_ids(REQUEST))


@in_loop
async def test_urls_may_stand_on_the_command_line_and_in_the_settings(servers):
    urls = urls_of(servers)
    by_line = open_verifier(f"openai:m@{','.join(urls)}", Settings())
    by_table = open_verifier("big", Settings(models={"big": {"provider": "openai", "name": "m", "url": urls}}))

    for pool in (by_line, by_table):
        assert (await pool.facts()).url == ", ".join(urls)
        await pool.close()


def test_credentials_in_a_list_of_urls_go_to_their_own_server_and_nowhere_else(servers):
    one, other = (server.url.removeprefix("http://") for server in servers)
    pool = open_model(f"openai:m@http://ann:sesame@{one}/v1,http://{other}/v1", Settings())

    async def go():
        facts = [await pool.facts(), *[await pool.client(episode).facts() for episode in EPISODES]]
        await pool.close()
        return facts

    assert "sesame" not in str(asyncio.run(go()))
    sent = [{request.headers.get("authorization") for request in server.received} for server in servers]
    assert sent == [{"Basic YW5uOnNlc2FtZQ=="}, {None}]


def test_the_same_place_twice_is_no_second_replica():
    with pytest.raises(UsageError, match=r"has the URL http://127\.0\.0\.1:9 twice"):
        open_model("sglang:m@http://127.0.0.1:9,http://127.0.0.1:9/", Settings())
