"""Scored verdicts (PROTOCOL section 6) on a real SGLang server, with its own counters and probabilities."""

import asyncio
import json
import re
import urllib.request

import jsonschema
import pytest

from spectrace.audit.queries import Reader
from spectrace.audit.reverified import read_reverified
from spectrace.config import open_model, open_verifier
from spectrace.core.events import EpisodeEnded, GenerateCompleted, GenerateRequested, VerdictGiven
from spectrace.core.reviewing import review_messages
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import ModelFacts, ModelRequest, Scoring
from spectrace.environments.shop import open_shop
from spectrace.models.sglang import SGLangClient
from spectrace.runs.live import record
from spectrace.runs.pass_plan import Plan
from spectrace.runs.replay import replay_episode
from spectrace.runs.reverify_all import reverify_all
from spectrace.store.memory import MemoryEventStore
from tests.live.planted import PLANTED, desk, laid_out
from tests.live.sglang_server import server
from tests.shop_log import recorded as recorded_in

pytestmark = [pytest.mark.live, pytest.mark.timeout(1500)]

MARGIN = 0.15
"""Nats by which answers in bfloat16 move with the cache's split."""
ACCEPTS, REJECTS = "0.000001", "0.999999"
"""Thresholds that walk both ways, whatever so small a model thinks."""
FACTS = ModelFacts(role="strong", provider="sglang", name="weak")
SEGMENT = PLANTED[0]


def scored(segment=SEGMENT, **options):
    """Return the request that scores a segment."""

    async def prompt():
        history, steps = await laid_out(segment)
        return review_messages(desk(FACTS, segment.task, verdict="scored"), history, steps)

    messages = asyncio.run(prompt())
    return ModelRequest(messages, scoring=Scoring(len(segment.steps), **options), parameters='{"max_tokens": 160}')


def run(url, conversation):
    async def go():
        client = SGLangClient("weak", url)
        try:
            return await conversation(client)
        finally:
            await client.close()

    return asyncio.run(go())


def decoded(url):
    """Return how many tokens the server has decoded since it started, by its own counter."""
    with urllib.request.urlopen(f"{url}/metrics", timeout=10) as response:  # noqa: S310 - our own server
        counts = re.findall(r"^sglang:generation_tokens_total\{.*\} (\S+)$", response.read().decode(), re.MULTILINE)
    return sum(float(count) for count in counts)


def posted(url, path, body):
    request = urllib.request.Request(  # noqa: S310 - our own server
        f"{url}{path}", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=600) as response:  # noqa: S310 - the same
        return json.load(response)


def log_odds(content):
    scores = json.loads(content)
    return [float(yes) - float(no) for yes, no in zip(scores["yes"], scores["no"], strict=True)]


def test_a_scored_review_decodes_no_token_and_reads_no_prefix_twice(sglang_url):
    server.flush(sglang_url)
    before = decoded(sglang_url)

    async def conversation(client):
        return [await client.generate(scored_request) for scored_request in (request, request)]

    request = scored()
    first, second = run(sglang_url, conversation)

    assert (first.usage.output, second.usage.output) == (0, 0)
    assert decoded(sglang_url) == before
    assert first.usage.cached == 0
    assert second.usage.input - second.usage.cached <= 4 * len(SEGMENT.steps)  # the answers behind the prompt


def test_a_chat_moves_the_counter_that_a_score_does_not(sglang_url):
    before = decoded(sglang_url)
    body = {"model": "weak", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 3, "ignore_eos": True}
    posted(sglang_url, "/v1/chat/completions", body)

    assert decoded(sglang_url) == before + 3


def test_the_prompt_that_is_scored_is_the_chats_own(sglang_url):
    request = scored()
    ids = run(sglang_url, lambda client: client.prompt_ids(request))
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    body = {"model": "weak", "messages": messages, "max_tokens": 1, "return_prompt_token_ids": True}

    assert tuple(posted(sglang_url, "/v1/chat/completions", body)["choices"][0]["prompt_token_ids"]) == ids


def test_a_score_is_what_the_model_would_have_said_there(sglang_url):
    request = scored()
    answer = run(sglang_url, lambda client: client.generate(request))
    ids = run(sglang_url, lambda client: client.prompt_ids(request))
    texts = ["1:", "yes", "no"]
    pieces = posted(sglang_url, "/tokenize", {"model": "weak", "prompt": texts, "add_special_tokens": False})
    number, (yes,), (no,) = pieces["tokens"]
    body = {
        "input_ids": [*ids, *number],
        "sampling_params": {"max_new_tokens": 1, "temperature": 0},
        "return_logprob": True,
        "token_ids_logprob": [yes, no],
    }
    said = posted(sglang_url, "/generate", body)["meta_info"]["output_token_ids_logprobs"][0]

    assert log_odds(answer.message.content)[0] == pytest.approx(said[0][0] - said[1][0], abs=MARGIN)


def test_a_rejection_is_explained_in_the_schemas_form(sglang_url):
    schema = desk(FACTS, SEGMENT.task).setup.rejection_schema()
    request = scored(rejected=3)
    request = ModelRequest(request.messages, (), json.dumps(schema), request.parameters, request.scoring)
    answer = run(sglang_url, lambda client: client.generate(request))

    assert answer.finish_reason == "stop"
    assert answer.usage.output > 0
    jsonschema.validate(json.loads(answer.message.content), schema)


@pytest.mark.parametrize("threshold", [ACCEPTS, REJECTS])
def test_an_episode_with_scored_verdicts_is_recorded_and_replays_the_same(sglang_url, threshold):
    protocol = SpecAgent(k=3, max_steps=4, verdict="scored", threshold=threshold)

    async def go():
        store, shop = MemoryEventStore(), open_shop()
        clients = {who: open_model(f"sglang:weak@{sglang_url}") for who in ("weak", "strong")}
        try:
            recorded = await record(shop.tasks()[0], shop, clients, protocol, store)
            events = list(store.read(recorded.episode))
            return events, await replay_episode(events)
        finally:
            for client in clients.values():
                await client.close()

    events, replayed = asyncio.run(go())
    asked = {event.seq: event.body for event in events if isinstance(event.body, GenerateRequested)}
    answers = [event.body for event in events if isinstance(event.body, GenerateCompleted)]
    verdicts = [event.body for event in events if isinstance(event.body, VerdictGiven)]
    scores = [answer.usage.output for answer in answers if _is_score(asked[answer.request])]

    assert isinstance(events[-1].body, EpisodeEnded)
    assert (replayed.result, replayed.compared) == ("same", len(events) - 1)
    assert scores == [0] * len(verdicts) != []
    assert {verdict.accepted == verdict.drafted for verdict in verdicts} == {threshold == ACCEPTS}
    assert any(question.position.endswith(".x") for question in asked.values()) == (threshold == REJECTS)


@pytest.mark.parametrize("threshold", [ACCEPTS, "0.5", REJECTS])
def test_two_episodes_are_judged_again_twice_by_scored_verdicts(sglang_url, threshold):
    """The prefill alone decides: only rejections are written, each repeat replays, and the noise is told."""
    store = MemoryEventStore()
    episodes = [recorded_in(store) for _ in range(2)]
    plan = Plan("again", "sglang:weak", repeat=2, verdict="scored", threshold=threshold)
    before = decoded(sglang_url)

    async def go():
        pool = open_verifier(f"sglang:weak@{sglang_url}")
        try:
            rows = await reverify_all(store, episodes, pool, plan, concurrency=2)
        finally:
            await pool.close()
        children = {row.child: list(store.read(row.child)) for row in rows}
        parents = {row.child: list(store.read(row.episode)) for row in rows}
        return rows, children, [await replay_episode(children[one], parent=parents[one]) for one in children]

    rows, children, replays = asyncio.run(go())
    bodies = [event.body for events in children.values() for event in events]
    asked = [body for body in bodies if isinstance(body, GenerateRequested)]
    written = [body.usage.output for body in bodies if isinstance(body, GenerateCompleted)]
    rejected = [row for row in rows if row.new.decision == "reject"]
    found = read_reverified(Reader(store), ["again"])
    told = {one.metric: one.estimate for one in found.figures[0][1]}

    assert [(row.episode, row.repeat, row.segment) for row in rows] == [
        (episode, repeat, segment) for episode in episodes for repeat in (1, 2) for segment in (1, 2, 3)
    ]
    assert {one.result for one in replays} == {"same"}
    assert sum(written) == decoded(sglang_url) - before
    assert written.count(0) == sum(map(_is_score, asked)) == len(rows)
    assert len(asked) - len(rows) == len(rejected)
    if threshold != "0.5":
        assert {row.new.decision for row in rows} == {"accept" if threshold == ACCEPTS else "reject"}
        assert told["disagreement_second"].value == 0
    assert told["near_threshold"].n == sum(min(row.new.accepted + 1, row.new.drafted) for row in rows)
    assert told["disagreement_second"].n == len(rows) // 2


def _is_score(question):
    return json.loads(question.parameters).get("scoring", {"rejected": 1})["rejected"] is None
