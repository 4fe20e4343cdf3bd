"""The SGLang client against a real SGLang server that serves the weak model on this machine's CPU."""

import asyncio
import json
import urllib.request

import pytest
from live.sglang_server import server

from spectrace.core.types import Effect, Message, ModelRequest, ToolSpec
from spectrace.errors import ModelFailed
from spectrace.models.sglang import SGLangClient

pytestmark = pytest.mark.live

SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"verdict": {"type": "string", "enum": ["accept", "reject"]}},
        "required": ["verdict"],
        "additionalProperties": False,
    }
)
RULES = "You review orders. An order may be cancelled only while it is pending. " * 10


def question(text, **options):
    messages = (Message("system", RULES), Message("user", text))
    return ModelRequest(messages, parameters='{"max_tokens": 40}', **options)


def run(url, conversation, name="weak"):
    async def go():
        client = SGLangClient(name, url)
        try:
            return await conversation(client)
        finally:
            await client.close()

    return asyncio.run(go())


def test_a_constrained_reply_parses_and_the_next_call_reuses_the_prefix(sglang_url):
    async def conversation(client):
        asked = [question(text, schema=SCHEMA) for text in ("Cancel W1, pending.", "Cancel W2, shipped.")]
        return [await client.generate(request) for request in asked]

    first, second = run(sglang_url, conversation)

    for answer in (first, second):
        assert json.loads(answer.message.content)["verdict"] in {"accept", "reject"}
        assert answer.model == "weak"
        assert json.loads(answer.server)["weight_version"] == server.WEIGHT_VERSION
    assert second.usage.cached > 100
    assert second.usage.input > second.usage.cached


def test_facts_hold_version_and_weights_and_none_of_the_servers_keys(sglang_url):
    with urllib.request.urlopen(f"{sglang_url}/server_info", timeout=10) as response:  # noqa: S310 - our own server
        assert server.ADMIN_KEY in response.read().decode(), "the server no longer shows its key: is this test needed?"

    facts = run(sglang_url, lambda client: client.facts())
    kept = json.loads(facts.server)

    assert (facts.provider, facts.name, facts.url) == ("sglang", "weak", sglang_url)
    assert (kept["version"], kept["weight_version"]) == ("0.5.23", server.WEIGHT_VERSION)
    assert (kept["dtype"], kept["attention_backend"]) == ("bfloat16", "torch_native")
    assert server.ADMIN_KEY not in repr(facts)


def test_a_native_call_comes_back_as_text_arguments(sglang_url):
    look = ToolSpec(
        "get_order",
        "Look an order up.",
        '{"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}',
        Effect.READ,
    )
    messages = (Message("user", "Look up the order W200 with the tool."),)
    request = ModelRequest(messages, tools=(look,), parameters='{"max_tokens": 60, "tool_choice": "required"}')

    answer = run(sglang_url, lambda client: client.generate(request))

    assert [call.name for call in answer.message.calls] == ["get_order"]
    assert isinstance(json.loads(answer.message.calls[0].arguments), dict)


def test_a_prompt_that_does_not_fit_is_a_context_failure(sglang_url):
    with pytest.raises(ModelFailed) as raised:
        run(sglang_url, lambda client: client.generate(question("word " * 20_000)))

    assert raised.value.kind == "context"


def test_a_model_that_is_not_served_is_refused_with_the_one_that_is(sglang_url):
    with pytest.raises(ModelFailed, match=r"has no model 'huge'\. It serves: weak"):
        run(sglang_url, lambda client: client.facts(), "huge")
