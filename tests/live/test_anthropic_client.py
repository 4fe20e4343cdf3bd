"""The Messages API as llama.cpp speaks it, on the real weak model; needs the catalogue's weights (fetched once)."""

import asyncio

import pytest

from spectrace.core.types import Message, ModelRequest, ToolCall, ToolSpec
from spectrace.models.anthropic import AnthropicClient
from spectrace.models.local import LocalClient

pytestmark = pytest.mark.live

RULES = "You review orders. An order may be cancelled only while it is pending. " * 10
SHORT = '{"max_tokens": 24}'
LOOK = ToolSpec(
    "look", "Look up an order.", '{"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}'
)


def run(conversation, **options):
    async def go():
        local = LocalClient("weak", n_ctx=2048)
        client = None
        try:
            await local.facts()
            at = local._client._endpoint
            client = AnthropicClient(local.name, at.url, api_key=at.key, **options)
            return await conversation(client)
        finally:
            if client is not None:
                await client.close()
            await local.close()

    return asyncio.run(go())


def asked(*messages, **request):
    return ModelRequest((Message("system", RULES), *messages), parameters=SHORT, **request)


def test_a_message_comes_with_counts_that_include_what_the_cache_held():
    async def conversation(client):
        return [await client.generate(asked(Message("user", text))) for text in ("Cancel W1.", "Cancel W2.")]

    first, second = run(conversation)

    assert first.message.content
    assert (first.model, first.usage.cached) == ("qwen2.5-coder-0.5b", 0)
    assert second.usage.cached > 100
    assert first.usage.input == second.usage.input > second.usage.cached


def test_a_streamed_message_equals_the_unstreamed_one():
    request = asked(Message("user", "Say hello to Zoë 😀."))
    whole = run(lambda client: client.generate(request))
    streamed = run(lambda client: client.generate(request), stream=True)

    assert (streamed.message, streamed.finish_reason, streamed.usage) == (
        whole.message,
        whole.finish_reason,
        whole.usage,
    )
    assert 0 < streamed.first_token_us < streamed.latency_us


def test_a_history_with_a_call_and_its_result_is_accepted():
    call = ToolCall("s1.1", "look", '{"id": "W1"}')
    history = (
        Message("user", "Look up W1."),
        Message("assistant", "", (call,)),
        Message("tool", "shipped", call_id="s1.1"),
        Message("user", "What is the state of W1?"),
    )

    answer = run(lambda client: client.generate(asked(*history, tools=(LOOK,))), calls="native")

    assert answer.message.content
    assert answer.finish_reason in {"end_turn", "max_tokens"}


def test_facts_name_what_is_served():
    facts = run(lambda client: client.facts())

    assert (facts.provider, facts.name, facts.constrained) == ("anthropic", "qwen2.5-coder-0.5b", False)
