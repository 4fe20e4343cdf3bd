"""What all dialects share, through a real server: streams, retries, failures; keys are in test_openai.py."""

import asyncio
import json
import time

import pytest
from model_server import Answer, chunks, completion, model_server

from spectrace.core.types import Message, ModelRequest, ToolCall, Usage
from spectrace.errors import ModelFailed, UsageError
from spectrace.models.openai import OpenAIClient

HELLO = ModelRequest((Message("user", "hi"),))
STREAM = chunks({"role": "assistant", "content": "hel"}, {"content": "lo"})


def client_for(server, **options):
    return OpenAIClient("little", f"{server.url}/v1", **{"backoff_s": 0.001, **options})


def ask(client):
    async def call():
        try:
            return await client.generate(HELLO)
        finally:
            await client.close()

    return asyncio.run(call())


def streamed(server, **options):
    return ask(client_for(server, stream=True, **options))


def failure(client):
    with pytest.raises(ModelFailed) as raised:
        ask(client)
    return raised.value


def failed_stream(server, **options):
    return failure(client_for(server, stream=True, **options))


# Streams


def test_a_streamed_answer_is_the_unstreamed_one_with_the_time_of_its_first_token(server):
    server.chat(Answer(pieces=STREAM, pause_s=0.02))
    arrived = streamed(server)
    server.chat({**completion("hello"), "system_fingerprint": None})
    whole = ask(client_for(server))

    assert (arrived.message, arrived.usage, arrived.model) == (whole.message, whole.usage, whole.model)
    assert (arrived.finish_reason, arrived.provider_id, arrived.server) == ("stop", "chatcmpl-1", None)
    assert 0 < arrived.first_token_us < arrived.latency_us
    assert whole.first_token_us is None


def test_usage_is_asked_for(server):
    server.chat(Answer(pieces=STREAM))

    streamed(server)

    sent = server.received[0].json
    assert (sent["stream"], sent["stream_options"]) == (True, {"include_usage": True})


def test_what_else_a_stream_is_asked_for_can_be_said(server):
    server.chat(Answer(pieces=STREAM))

    streamed(server, parameters={"stream_options": {}})

    assert (server.received[0].json["stream"], server.received[0].json["stream_options"]) == (True, {})


def test_streaming_is_no_parameter_of_a_call():
    with pytest.raises(UsageError, match="say stream = true beside its name"):
        OpenAIClient("little", parameters={"stream": True})


def test_a_server_that_answers_whole_all_the_same_is_read(server):
    server.chat(completion("hello"))

    answer = streamed(server)

    assert (answer.message.content, answer.first_token_us) == ("hello", None)


def test_what_arrived_of_a_broken_stream_is_kept(server):
    server.chat(Answer(pieces=STREAM[:2], cut=True))

    error = failed_stream(server, retries=1)

    assert (error.kind, error.partial_text, len(error.attempts)) == ("server", "hello", 2)
    assert "broke off" in str(error)


def test_a_stream_that_ends_early_is_tried_again(server):
    server.chat(Answer(pieces=STREAM[:2]), Answer(pieces=STREAM))

    answer = streamed(server)

    assert answer.message.content == "hello"
    assert "without a finish reason" in answer.attempts[0].error


def test_an_error_inside_a_stream_is_the_servers(server):
    server.chat(Answer(pieces=[STREAM[0], 'data: {"error": {"message": "upstream died"}}\n\n']))

    error = failed_stream(server)

    assert (error.kind, error.partial_text, len(error.attempts)) == ("server", "hel", 1)
    assert "answered 200 with an error for the model 'little': upstream died" in str(error)


def test_a_prompt_that_does_not_fit_may_be_said_inside_a_stream(server):
    server.chat(Answer(pieces=['data: {"error": {"message": "maximum context length is 8"}}\n\n']))

    assert failed_stream(server).kind == "context"


def test_calls_that_cannot_be_told_apart_are_refused_whole(server):
    heads = [{"index": 0, "id": id_, "function": {"name": "pay", "arguments": ""}} for id_ in "ab"]
    tail = {"index": 0, "function": {"arguments": '{"cents": 1}'}}
    server.chat(Answer(pieces=chunks(*[{"tool_calls": [one]} for one in (*heads, tail)], finish="tool_calls")))

    error = failed_stream(server)

    assert error.kind == "invalid"
    assert "the pieces of its tool calls cannot be told apart: two tool calls carry the index 0" in str(error)


def test_a_silent_stream_is_given_up_with_what_arrived(server):
    server.chat(Answer(pieces=STREAM, pause_s=3))

    error = failed_stream(server, idle_s=0.1)

    assert (error.kind, error.partial_text) == ("timeout", "hel")


def test_a_key_that_a_stream_repeats_is_scrubbed(server):
    server.chat(Answer(pieces=chunks({"content": "sk-named"}, finish=None, done=False)))

    assert failed_stream(server, api_key="sk-named", retries=0).partial_text == "[key]"


@pytest.mark.parametrize("stream", [True, False])
def test_what_was_odd_is_recorded_with_the_body_as_received(server, stream):
    call = {"index": 0, "id": "c1", "function": {"name": "look", "arguments": {"id": "W1"}}}
    body = json.dumps(completion(None, tool_calls=[call]))
    pieces = chunks({"tool_calls": [call]}, finish="tool_calls")
    server.chat(Answer(pieces=pieces) if stream else Answer(body))

    answer = ask(client_for(server, stream=stream))
    said = json.loads(answer.server)

    assert answer.message.calls == (ToolCall("c1", "look", '{"id": "W1"}'),)
    assert said["anomalies"][0] == "call 1: the arguments came as an object"
    assert said["raw"] == ("".join(pieces) if stream else body)


def test_a_key_in_the_body_as_received_is_scrubbed(server):
    server.chat({**completion("x"), "echo": "sk-named", "choices": completion("x")["choices"] * 2})

    assert "sk-named" not in ask(client_for(server, api_key="sk-named")).server


def test_a_reply_as_long_as_its_limit_that_claims_to_be_whole_is_noted(server):
    server.chat(completion("x"))

    said = json.loads(ask(client_for(server, parameters={"max_tokens": 5})).server)

    assert said["anomalies"] == ["the reply has as many tokens as its limit (5): it may be cut off"]


def test_an_unknown_count_is_none_in_a_stream_too(server):
    server.chat(Answer(pieces=[*STREAM[:3], STREAM[-1]]))

    assert streamed(server).usage == Usage()


def test_facts_say_that_answers_are_streamed(server):
    async def facts():
        client = OpenAIClient("little", f"{server.url}/v1", stream=True)
        try:
            return await client.facts()
        finally:
            await client.close()

    assert asyncio.run(facts()).server == '{"stream":true}'


# Retries


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503])
def test_a_passing_trouble_is_an_attempt_of_the_one_completion(server, status):
    server.chat(Answer({"error": {"message": "busy"}}, status), completion())

    answer = ask(client_for(server))

    first, second = answer.attempts
    assert f"answered {status} to a call of the model 'little': busy" in first.error
    assert second.error is None
    assert second.started_us >= first.started_us + first.duration_us
    assert answer.latency_us >= second.started_us + second.duration_us


def test_a_lost_connection_is_tried_again(server):
    server.chat(Answer(hang_up=True), completion())

    assert len(ask(client_for(server)).attempts) == 2


def test_retries_are_bounded_and_all_listed(server):
    server.chat(Answer("<html>bad gateway</html>", 502))

    error = failure(client_for(server, retries=2))

    assert (error.kind, len(error.attempts), len(server.received)) == ("server", 3, 3)
    assert "<html>bad gateway</html>" in str(error)
    assert error.latency_us > 0


@pytest.mark.parametrize("status", [400, 401, 403, 422])
def test_another_4xx_is_not_tried_again(server, status):
    server.chat(Answer({"object": "error", "message": "bad", "code": status}, status))

    error = failure(client_for(server))

    assert (error.kind, len(error.attempts)) == ("refused", 1)


def test_the_server_says_how_long_to_wait(server):
    server.chat(Answer({"error": "later"}, 429, {"retry-after": "0.2"}), completion())
    started = time.monotonic()

    ask(client_for(server))

    assert time.monotonic() - started >= 0.2


def test_no_answer_in_time_is_a_timeout_and_not_tried_again(server):
    server.chat(Answer(completion(), delay_s=10))

    error = failure(client_for(server, timeout_s=0.2))

    assert (error.kind, len(error.attempts)) == ("timeout", 1)
    assert "timeout_s" in str(error)


# Failures


def test_an_unreachable_server_is_named_with_what_to_do():
    with model_server() as gone:
        pass

    error = failure(client_for(gone, retries=1))

    assert (error.kind, len(error.attempts)) == ("unreachable", 2)
    assert f"No model server answers at {gone.url}/v1" in str(error)
    assert "Start the server, or check the URL" in str(error)


def test_an_unknown_model_is_answered_with_those_that_there_are(server):
    server.chat(Answer({"error": {"message": "no such model"}}, 404))
    server.on("/v1/models", {"data": [{"id": "big"}, {"id": "biggest"}]})

    error = failure(client_for(server))

    assert error.kind == "refused"
    assert "has no model 'little'. It serves: big, biggest." in str(error)


def test_a_404_without_a_list_of_models_points_at_the_path(server):
    error = failure(OpenAIClient("little", f"{server.url}/wrong"))

    assert error.kind == "refused"
    assert "check the URL's path" in str(error)


@pytest.mark.parametrize(
    "body",
    [
        {
            "object": "error",
            "message": "The input (5031 tokens) is longer than the model's context length (4096 tokens).",
        },
        {"error": {"code": 400, "message": "request exceeds", "type": "exceed_context_size_error"}},
        {"error": {"message": "This model's maximum context length is 8 tokens", "code": "context_length_exceeded"}},
    ],
)
def test_a_prompt_that_does_not_fit_is_its_own_kind(server, body):
    server.chat(Answer(body, 400))

    assert failure(client_for(server)).kind == "context"


def test_an_error_under_status_200_is_the_servers_failure(server):
    server.chat({"error": {"message": "upstream died", "code": 502}})

    error = failure(client_for(server))

    assert error.kind == "server"
    assert "answered 200 with an error" in str(error)


@pytest.mark.parametrize(
    ("body", "words"), [({"choices": []}, "no choices"), ("<html>", "not JSON"), ({"choices": [{}]}, "no message")]
)
def test_a_reply_that_breaks_the_api_is_invalid(server, body, words):
    server.chat(Answer(body))

    error = failure(client_for(server))

    assert error.kind == "invalid"
    assert words in str(error)
