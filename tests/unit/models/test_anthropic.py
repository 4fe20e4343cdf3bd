import asyncio
import json

import pytest
from model_server import Answer

from spectrace.core.types import Message, ModelRequest, Scoring, ToolCall, Usage
from spectrace.errors import ModelFailed
from spectrace.models.anthropic import AnthropicClient

HELLO = ModelRequest((Message("user", "hi"),))
SCHEMA = {
    "type": "object",
    "properties": {"finish": {"type": "string", "minLength": 1}},
    "required": ["finish"],
    "additionalProperties": False,
}
CHOICE = ModelRequest((Message("user", "hi"),), schema=json.dumps({"anyOf": [SCHEMA]}))


def message(*content, **members):
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "little-1",
        "content": list(content) or [{"type": "text", "text": "hello"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 3, "cache_read_input_tokens": 7, "output_tokens": 4},
        **members,
    }


def client_for(server, *, own_host=False, **options):
    made = AnthropicClient if not own_host else OwnHost
    return made("little", server.url, **{"backoff_s": 0.001, **options})


class OwnHost(AnthropicClient):
    """A client that takes the test's server for api.anthropic.com."""

    def _constrains(self):
        self._own_host = True
        return super()._constrains()


def ask(client, request=HELLO):
    async def call():
        try:
            return await client.generate(request)
        finally:
            await client.close()

    return asyncio.run(call())


def test_a_message_is_read_whole(server):
    server.on("/v1/messages", message({"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "hello"}))

    answer = ask(client_for(server))

    assert answer.message == Message("assistant", "hello")
    assert (answer.reasoning, answer.finish_reason, answer.model) == ("hm", "end_turn", "little-1")
    assert answer.usage == Usage(input=10, cached=7, output=4)
    assert (answer.provider_id, answer.server, answer.first_token_us) == ("msg_1", None, None)


def test_native_calls_are_read(server):
    call = {"type": "tool_use", "id": "t1", "name": "look", "input": {"id": "W1"}}
    server.on("/v1/messages", message(call, stop_reason="tool_use"))

    assert ask(client_for(server)).message.calls == (ToolCall("t1", "look", '{"id": "W1"}'),)


def test_what_was_odd_is_recorded_with_the_body_as_received(server):
    call = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
    body = json.dumps(message(call, call, stop_reason="tool_use"))
    server.on("/v1/messages", Answer(body))

    answer = ask(client_for(server))

    assert len(answer.message.calls) == 1
    assert json.loads(answer.server) == {
        "anomalies": ["call 2: the same block as before (id 't1'), counted once"],
        "raw": body,
    }


def test_a_limit_is_always_sent_and_a_temperature_only_elsewhere(server):
    server.on("/v1/messages", message())

    ask(client_for(server))
    ask(client_for(server, own_host=True))

    elsewhere, own = (received.json for received in server.received)
    assert (elsewhere["max_tokens"], elsewhere["temperature"]) == (8192, 0)
    assert (own["max_tokens"], "temperature" in own) == (8192, False)


def test_replies_are_constrained_on_its_own_host(server):
    server.on("/v1/messages", message())

    ask(client_for(server, own_host=True), CHOICE)

    form = server.received[0].json["output_config"]["format"]
    assert form["type"] == "json_schema"
    assert form["schema"]["anyOf"][0]["properties"]["finish"] == {"type": "string", "description": '{"minLength": 1}'}


@pytest.mark.parametrize(("options", "sent"), [({}, False), ({"constrained": True}, True)])
def test_elsewhere_replies_are_constrained_only_where_the_user_says_so(server, options, sent):
    server.on("/v1/messages", message())

    ask(client_for(server, **options), CHOICE)

    assert ("output_config" in server.received[0].json) is sent


def test_a_schema_that_cannot_be_enforced_is_noted(server):
    server.on("/v1/messages", message())
    free = ModelRequest((Message("user", "hi"),), schema='{"type": "object"}')

    answer = ask(client_for(server, own_host=True), free)

    assert "output_config" not in server.received[0].json
    assert json.loads(answer.server) == {"schema": "not enforced: it has free members"}


def test_a_seed_that_was_not_sent_is_noted(server):
    server.on("/v1/messages", message(usage={"cache_creation_input_tokens": 5, "service_tier": "standard"}))

    answer = ask(client_for(server, parameters={"seed": 3}))

    assert json.loads(answer.server) == {
        "cache_creation_input_tokens": 5,
        "not_sent": ["seed"],
        "service_tier": "standard",
    }


def test_a_stream_gives_the_unstreamed_answer_and_the_time_of_its_first_token(server):
    events = [
        {"type": "message_start", "message": {**message(), "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hello"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 4}},
        {"type": "message_stop"},
    ]
    server.on("/v1/messages", Answer(pieces=[f"data: {json.dumps(event)}\n\n" for event in events]), message())

    streamed, whole = ask(client_for(server, stream=True)), ask(client_for(server))

    assert server.received[0].json["stream"] is True
    assert 0 < streamed.first_token_us <= streamed.latency_us
    assert (streamed.message, streamed.usage, streamed.finish_reason) == (
        whole.message,
        whole.usage,
        whole.finish_reason,
    )


def test_elsewhere_the_named_key_goes_in_both_headers_and_nothing_of_the_environment(server, monkeypatch):
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENAI_ORG_ID"):
        monkeypatch.setenv(name, "sk-ambient")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway: sk-ambient")
    server.on("/v1/messages", message())

    ask(client_for(server, api_key="sk-named"))

    headers = server.received[0].headers
    assert (headers["x-api-key"], headers["authorization"]) == ("sk-named", "Bearer sk-named")
    assert headers["anthropic-version"] == "2023-06-01"
    assert "sk-ambient" not in str(headers)


def test_on_its_own_host_the_key_goes_in_its_own_header_alone(monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org")
    client = AnthropicClient("little", api_key="sk-named")

    headers = client._credentials()
    asyncio.run(client.close())

    assert headers == {"x-api-key": "sk-named"}


def test_without_a_key_no_header_of_one_is_sent(server):
    server.on("/v1/messages", message())

    ask(client_for(server))

    assert not {"x-api-key", "authorization"} & set(server.received[0].headers)


def test_a_busy_api_is_asked_again(server):
    busy = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    server.on("/v1/messages", Answer(busy, 529), message())

    answer = ask(client_for(server))

    assert "Overloaded (overloaded_error)" in answer.attempts[0].error
    assert answer.message.content == "hello"


def test_a_prompt_that_does_not_fit_is_its_own_kind(server):
    words = "prompt is too long: 200082 tokens > 200000 maximum"
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": words}}
    server.on("/v1/messages", Answer(error, 400))

    with pytest.raises(ModelFailed) as raised:
        ask(client_for(server))

    assert raised.value.kind == "context"


def test_a_scored_request_is_refused_because_only_sglang_can_score(server):
    with pytest.raises(ModelFailed, match="verdict=scored needs sglang"):
        ask(client_for(server), ModelRequest((Message("user", "hi"),), scoring=Scoring(2)))


def test_facts_say_what_was_asked_for_and_what_the_server_says(server):
    entry = {"id": "little", "display_name": "Little", "lifecycle": "active", "capabilities": {"x": 1}}
    server.on("/v1/models", {"data": [entry]})

    async def facts():
        client = client_for(server, calls="native")
        try:
            return await client.facts()
        finally:
            await client.close()

    found = asyncio.run(facts())

    assert (found.provider, found.name, found.url) == ("anthropic", "little", server.url)
    assert (found.calls, found.constrained) == ("native", False)
    assert json.loads(found.server) == {"display_name": "Little", "lifecycle": "active"}
