import asyncio
import json

import pytest
from model_server import Answer, completion, model_server

from spectrace.core.types import Message, ModelRequest, Scoring, ToolCall, Usage
from spectrace.errors import ModelFailed, UsageError
from spectrace.models.openai import OpenAIClient

HELLO = ModelRequest((Message("user", "hi"),))


def client_for(server, **options):
    return OpenAIClient("little", f"{server.url}/v1", **{"backoff_s": 0.001, **options})


def ask(client, request=HELLO):
    async def call():
        try:
            return await client.generate(request)
        finally:
            await client.close()

    return asyncio.run(call())


def facts_of(client):
    async def call():
        try:
            return await client.facts()
        finally:
            await client.close()

    return asyncio.run(call())


def failure(client, request=HELLO):
    with pytest.raises(ModelFailed) as raised:
        ask(client, request)
    return raised.value


def test_a_completion_is_read_whole(server):
    server.chat(completion("hello", reasoning_content="hm"))

    answer = ask(client_for(server))

    assert answer.message == Message("assistant", "hello")
    assert (answer.reasoning, answer.finish_reason, answer.model) == ("hm", "stop", "little-1")
    assert answer.usage == Usage(input=20, cached=16, output=5, reasoning=2)
    assert (answer.provider_id, answer.server) == ("chatcmpl-1", '{"system_fingerprint":"fp_7"}')
    assert answer.latency_us > 0
    assert answer.first_token_us is None
    assert [attempt.error for attempt in answer.attempts] == [None]


def test_a_refusal_is_kept_beside_an_empty_reply(server):
    server.chat(completion(None, refusal="I will not."))

    answer = ask(client_for(server))

    assert answer.message.content == ""
    assert json.loads(answer.server)["refusal"] == "I will not."


def test_native_calls_are_read(server):
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"id": "W1"}'}}
    server.chat(completion(None, tool_calls=[call]))

    assert ask(client_for(server)).message == Message("assistant", "", (ToolCall("c1", "look", '{"id": "W1"}'),))


def test_temperature_is_zero_unless_said_otherwise(server):
    server.chat(completion())

    ask(client_for(server))

    assert server.received[0].json == {
        "model": "little",
        "messages": [{"role": "user", "content": "hi"}],
        "temperature": 0,
    }


def test_text_that_utf8_cannot_hold_reaches_the_server_marked(server):
    server.chat(completion())

    ask(client_for(server), ModelRequest((Message("user", "aü\x00\ud800"),)))

    assert server.received[0].json["messages"][0]["content"] == "aü\x00\ufffd"


def test_a_url_without_a_path_means_v1(server):
    server.chat(completion())

    ask(OpenAIClient("little", server.url))

    assert server.received[0].path == "/v1/chat/completions"


def test_a_query_in_the_url_goes_along(server):
    server.chat(completion())

    ask(OpenAIClient("little", f"{server.url}/v1?api-version=2"))

    assert server.received[0].path == "/v1/chat/completions?api-version=2"


def test_a_model_without_a_name_is_a_usage_error():
    with pytest.raises(UsageError, match=r"openai:NAME\[@URL\]"):
        OpenAIClient("")


# Keys


def test_no_key_organisation_or_header_of_the_environment_reaches_another_host(server, monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "sk-ambient")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway: sk-ambient\nAuthorization: Bearer sk-ambient")
    server.chat(completion()).on("/v1/models", {"data": []})

    async def both():
        client = client_for(server)
        await client.facts()
        await client.generate(HELLO)
        await client.close()

    asyncio.run(both())

    allowed = {"accept", "accept-encoding", "connection", "content-length", "content-type", "host", "user-agent"}
    assert [request.path for request in server.received] == ["/v1/models", "/v1/chat/completions"]
    assert all(set(request.headers) <= allowed for request in server.received)
    assert all("sk-ambient" not in str(request.headers) for request in server.received)


def test_a_named_key_reaches_the_server_and_nothing_else_shows_it(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-ambient")
    server.chat(completion()).on("/v1/models", {"data": []})

    facts = facts_of(client_for(server, api_key="sk-named"))
    ask(client_for(server, api_key="sk-named"))

    assert [request.headers["authorization"] for request in server.received] == ["Bearer sk-named"] * 2
    assert "sk-named" not in repr(facts)


def test_the_urls_credentials_are_sent_and_never_shown(server):
    server.on("/v1/models", {"data": []})
    url = server.url.replace("http://", "http://ann:hunter2@")

    facts = facts_of(OpenAIClient("little", f"{url}/v1"))

    assert server.received[0].headers["authorization"].startswith("Basic ")
    assert facts.url == f"{server.url}/v1"
    assert "hunter2" not in repr(facts)


def test_a_key_that_the_server_repeats_is_scrubbed_from_the_error(server):
    server.chat(Answer({"error": {"message": "Incorrect key sk-named"}}, 401))

    error = failure(client_for(server, api_key="sk-named"))

    assert error.kind == "refused"
    assert str(error).endswith(
        "Incorrect key [key]. The key that was sent is not accepted: see key_env or key_file of this model in "
        "spectrace.toml."
    )
    assert "sk-named" not in repr(error.attempts)


@pytest.mark.parametrize(
    "said", [{"error": {"message": "x" * 495 + " sk-named-and-long"}}, "x" * 495 + "sk-named-and-long"]
)
def test_a_key_is_scrubbed_before_the_servers_words_are_cut(server, said):
    server.chat(Answer(said, 401))

    assert "sk-n" not in str(failure(client_for(server, api_key="sk-named-and-long")))


def test_a_key_in_the_url_is_scrubbed_too(server):
    server.chat(Answer('no such key sk-1, nor "YW5uOmh1bnRlcjI="', 403))
    url = f"{server.url.replace('//', '//ann:hunter2@')}/v1?api-key=sk-1"
    error = failure(OpenAIClient("little", url, backoff_s=0.001))

    assert 'no such key [key], nor "[key]".' in str(error)


@pytest.mark.parametrize(
    ("status", "todo"),
    [
        (401, "No key was sent: name one with key_env or key_file of this model in spectrace.toml."),
        (402, "The account of this key has no credit left: top it up, or name another key."),
        (429, "It is asked too often: wait, or lower --concurrency."),
        (500, "The server itself failed: look into its log, and try again when it is well."),
    ],
)
def test_a_refusal_ends_with_what_to_do(server, status, todo):
    server.chat(Answer({"error": {"message": "No."}}, status))

    assert str(failure(client_for(server))).endswith(f"to a call of the model 'little': No. {todo}")


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_refused_and_the_other_host_sees_nothing(server, status):
    with model_server() as other:
        server.chat(Answer("", status, {"location": f"{other.url}/v1/chat/completions"}))

        error = failure(client_for(server, api_key="sk-named"))

    assert error.kind == "refused"
    assert f"redirects elsewhere ({status}), which is not followed" in str(error)
    assert other.received == []


def test_a_proxy_of_the_environment_is_not_the_way_to_this_machine(server, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    server.chat(completion())

    assert ask(client_for(server)).message.content == "hello"


# Facts


def test_facts_say_what_was_asked_for_and_what_the_server_says(server):
    entry = {"id": "little", "owned_by": "me", "max_model_len": 4096, "root": "/home/ann/little", "created": 3}
    server.on("/v1/models", {"data": [{"id": "other"}, entry]})

    facts = facts_of(client_for(server, parameters={"max_tokens": 9}, calls="native", constrained=False))

    assert (facts.provider, facts.name, facts.url) == ("openai", "little", f"{server.url}/v1")
    assert facts.parameters == '{"max_tokens":9,"temperature":0}'
    assert (facts.calls, facts.constrained) == ("native", False)
    assert facts.server == '{"max_model_len":4096,"owned_by":"me"}'


def test_a_server_without_a_list_of_models_is_reachable_all_the_same(server):
    assert facts_of(client_for(server)).server == "{}"


def test_facts_of_an_unreachable_server_fail_at_once():
    with model_server() as gone:
        pass

    with pytest.raises(ModelFailed) as raised:
        facts_of(client_for(gone, backoff_s=60))

    assert raised.value.kind == "unreachable"


def test_facts_with_a_wrong_key_are_refused(server):
    server.on("/v1/models", Answer({"error": "who are you?"}, 401))

    with pytest.raises(ModelFailed, match="who are you"):
        facts_of(client_for(server))


def test_a_scored_request_is_refused_because_only_sglang_can_score():
    client = OpenAIClient("little", "http://127.0.0.1:9/v1")

    failed = failure(client, ModelRequest(HELLO.messages, scoring=Scoring(steps=2)))

    assert (failed.kind, str(failed)) == (
        "refused",
        "verdict=scored needs sglang: openai:little answers in text only.",
    )


# OpenAI's own host takes an object at the root only; this client is told that the test's server is that host.


def asked_of_its_own_host(server, request, **options):
    client = client_for(server, **options)
    client._own_host = True
    return ask(client, request)


def an_object(required, **properties):
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


CHOICE = ModelRequest(
    (Message("user", "hi"),), schema=json.dumps({"anyOf": [an_object(["finish"], finish={"type": "string"})]})
)
OPTIONAL = ModelRequest((Message("user", "hi"),), schema=json.dumps(an_object([], note={"type": "string"})))


def test_a_reply_is_asked_for_inside_an_object_and_taken_out_of_it(server):
    server.chat(completion('{"reply": {"finish":  "done"}}'))

    answer = asked_of_its_own_host(server, CHOICE)
    sent = server.received[0].json["response_format"]["json_schema"]

    assert answer.message.content == '{"finish":  "done"}'
    assert json.loads(answer.server)["schema"] == "wrapped in an object"
    assert (sent["strict"], sent["schema"]) == (True, an_object(["reply"], reply=json.loads(CHOICE.schema)))


def test_a_schema_that_strict_mode_refuses_is_described_and_that_is_noted(server):
    server.chat(completion('{"reply": {}}'))

    answer = asked_of_its_own_host(server, OPTIONAL)

    assert server.received[0].json["response_format"]["json_schema"]["strict"] is False
    assert json.loads(answer.server)["schema"].startswith("wrapped in an object, not enforced")


def test_a_reply_that_is_not_wrapped_or_not_whole_stays_as_it_is(server):
    server.chat(completion('{"finish": "done"}'))

    assert asked_of_its_own_host(server, CHOICE).message.content == '{"finish": "done"}'


@pytest.mark.parametrize("options", [{"constrained": False}, {}])
def test_without_a_schema_nothing_is_wrapped(server, options):
    server.chat(completion("hello"))

    answer = asked_of_its_own_host(server, CHOICE if options else HELLO, **options)

    assert "response_format" not in server.received[0].json
    assert "schema" not in json.loads(answer.server)
