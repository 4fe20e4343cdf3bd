"""Streams through a real server; retries, keys and failures of unstreamed calls are in test_openai.py."""

import asyncio
import json

import pytest
from model_server import Answer, chunks, completion

from spectrace.core.types import Message, ModelRequest, ToolCall, Usage
from spectrace.errors import ModelFailed
from spectrace.models.openai import OpenAIClient

HELLO = ModelRequest((Message("user", "hi"),))
STREAM = chunks({"role": "assistant", "content": "hel"}, {"content": "lo"})


def ask(server, **options):
    async def call():
        client = OpenAIClient("little", f"{server.url}/v1", **{"backoff_s": 0.001, "stream": True, **options})
        try:
            return await client.generate(HELLO)
        finally:
            await client.close()

    return asyncio.run(call())


def failure(server, **options):
    with pytest.raises(ModelFailed) as raised:
        ask(server, **options)
    return raised.value


def test_a_streamed_answer_is_the_unstreamed_one_with_the_time_of_its_first_token(server):
    server.chat(Answer(pieces=STREAM, pause_s=0.02))
    streamed = ask(server)
    server.chat({**completion("hello"), "system_fingerprint": None})
    whole = ask(server, stream=False)

    assert (streamed.message, streamed.usage, streamed.model) == (whole.message, whole.usage, whole.model)
    assert (streamed.finish_reason, streamed.provider_id, streamed.server) == ("stop", "chatcmpl-1", None)
    assert 0 < streamed.first_token_us < streamed.latency_us
    assert whole.first_token_us is None


def test_usage_is_asked_for(server):
    server.chat(Answer(pieces=STREAM))

    ask(server)

    sent = server.received[0].json
    assert (sent["stream"], sent["stream_options"]) == (True, {"include_usage": True})


def test_a_server_that_answers_whole_all_the_same_is_read(server):
    server.chat(completion("hello"))

    answer = ask(server)

    assert (answer.message.content, answer.first_token_us) == ("hello", None)


def test_what_arrived_of_a_broken_stream_is_kept(server):
    server.chat(Answer(pieces=STREAM[:2], cut=True))

    error = failure(server, retries=1)

    assert (error.kind, error.partial_text, len(error.attempts)) == ("server", "hello", 2)
    assert "broke off" in str(error)


def test_a_stream_that_ends_early_is_tried_again(server):
    server.chat(Answer(pieces=STREAM[:2]), Answer(pieces=STREAM))

    answer = ask(server)

    assert answer.message.content == "hello"
    assert "without a finish reason" in answer.attempts[0].error


def test_an_error_inside_a_stream_is_the_servers(server):
    server.chat(Answer(pieces=[STREAM[0], 'data: {"error": {"message": "upstream died"}}\n\n']))

    error = failure(server)

    assert (error.kind, error.partial_text, len(error.attempts)) == ("server", "hel", 1)
    assert "answered 200 with an error for the model 'little': upstream died" in str(error)


def test_a_prompt_that_does_not_fit_may_be_said_inside_a_stream(server):
    server.chat(Answer(pieces=['data: {"error": {"message": "maximum context length is 8"}}\n\n']))

    assert failure(server).kind == "context"


def test_calls_that_cannot_be_told_apart_are_refused_whole(server):
    heads = [{"index": 0, "id": id_, "function": {"name": "pay", "arguments": ""}} for id_ in "ab"]
    tail = {"index": 0, "function": {"arguments": '{"cents": 1}'}}
    server.chat(Answer(pieces=chunks(*[{"tool_calls": [one]} for one in (*heads, tail)], finish="tool_calls")))

    error = failure(server)

    assert error.kind == "invalid"
    assert "the pieces of its tool calls cannot be told apart: two tool calls carry the index 0" in str(error)


def test_a_silent_stream_is_given_up_with_what_arrived(server):
    server.chat(Answer(pieces=STREAM, pause_s=3))

    error = failure(server, idle_s=0.1)

    assert (error.kind, error.partial_text) == ("timeout", "hel")


def test_a_key_that_a_stream_repeats_is_scrubbed(server):
    server.chat(Answer(pieces=chunks({"content": "sk-named"}, finish=None, done=False)))

    assert failure(server, api_key="sk-named", retries=0).partial_text == "[key]"


@pytest.mark.parametrize("stream", [True, False])
def test_what_was_odd_is_recorded_with_the_body_as_received(server, stream):
    call = {"index": 0, "id": "c1", "function": {"name": "look", "arguments": {"id": "W1"}}}
    body = json.dumps(completion(None, tool_calls=[call]))
    pieces = chunks({"tool_calls": [call]}, finish="tool_calls")
    server.chat(Answer(pieces=pieces) if stream else Answer(body))

    answer = ask(server, stream=stream)
    said = json.loads(answer.server)

    assert answer.message.calls == (ToolCall("c1", "look", '{"id": "W1"}'),)
    assert said["anomalies"][0] == "call 1: the arguments came as an object"
    assert said["raw"] == ("".join(pieces) if stream else body)


def test_a_reply_as_long_as_its_limit_that_claims_to_be_whole_is_noted(server):
    server.chat(completion("x"))

    said = json.loads(ask(server, stream=False, parameters={"max_tokens": 5}).server)

    assert said["anomalies"] == ["the reply has as many tokens as its limit (5): it may be cut off"]


def test_an_unknown_count_is_none_in_a_stream_too(server):
    server.chat(Answer(pieces=[*STREAM[:3], STREAM[-1]]))

    assert ask(server).usage == Usage()


def test_facts_say_that_answers_are_streamed(server):
    async def facts():
        client = OpenAIClient("little", f"{server.url}/v1", stream=True)
        try:
            return await client.facts()
        finally:
            await client.close()

    assert asyncio.run(facts()).server == '{"stream":true}'
