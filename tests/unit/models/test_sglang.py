import asyncio
import json

import pytest
from model_server import Answer

from spectrace.core.types import Message, ModelRequest, Usage
from spectrace.errors import ModelFailed
from spectrace.models.sglang import SGLangClient

HELLO = ModelRequest((Message("user", "hi"),))
SECRET = "sk-of-the-server"  # noqa: S105 - of no server

MODEL_INFO = {
    "model_path": "models/tiny",
    "served_model_name": "tiny",
    "tokenizer_path": "models/tiny",
    "is_generation": True,
    "weight_version": "wv-1",
    "reasoning_parser": None,
    "tool_call_parser": "hermes",
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "cache": {"radix_cache_disabled": False},
}
SERVER_INFO = {
    "version": "0.5.23",
    "dtype": "bfloat16",
    "attention_backend": "torch_native",
    "sampling_backend": "pytorch",
    "grammar_backend": "xgrammar",
    "random_seed": 95127559,
    "enable_deterministic_inference": False,
    "page_size": 1,
    "tp_size": 1,
    "dp_size": 1,
    "quantization": None,
    "chat_template": None,
    "api_key": SECRET,
    "admin_api_key": SECRET,
    "launch_command": f"python -m sglang.launch_server --api-key {SECRET}",
    "internal_states": [{"api_key": SECRET, "version": "0.5.23"}],
    "schedule_policy": {"api_key": SECRET},
}


def reply(**changes):
    """Return a completion in the shape of SGLang 0.5.23."""
    usage = {
        "prompt_tokens": 176,
        "total_tokens": 184,
        "completion_tokens": 8,
        "prompt_tokens_details": {"cached_tokens": 175},
        "reasoning_tokens": 3,
        "completion_tokens_details": None,
    }
    span = {"version": "wv-1", "start": 0, "end": 8}
    return {
        "id": "3261c804c79a442dbbb6e6b3fabd08e1",
        "object": "chat.completion",
        "created": 1796038935,
        "model": "tiny",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Paris.", "reasoning_content": None},
                "logprobs": None,
                "finish_reason": "stop",
                "matched_stop": 2,
            }
        ],
        "usage": usage,
        "metadata": {"weight_version": "wv-1", "weight_versions": [span]},
        **changes,
    }


def with_client(server, call, name="tiny", **options):
    async def go():
        client = SGLangClient(name, server.url, backoff_s=0.001, **options)
        try:
            return await call(client)
        finally:
            await client.close()

    return asyncio.run(go())


def ask(server):
    return with_client(server, lambda client: client.generate(HELLO))


def facts_of(server, name="tiny", **options):
    return with_client(server, lambda client: client.facts(), name, **options)


def served(server, models=("tiny",)):
    return server.on("/v1/models", {"data": [{"id": model} for model in models]})


def test_an_answer_carries_what_only_sglang_says(server):
    server.chat(reply())

    answer = ask(server)

    assert answer.usage == Usage(input=176, cached=175, output=8, reasoning=3)
    assert json.loads(answer.server) == {"weight_version": "wv-1", "matched_stop": 2}


def test_weights_that_changed_in_the_middle_of_an_answer_are_kept_as_spans(server):
    spans = [{"version": "wv-1", "start": 0, "end": 4}, {"version": "wv-2", "start": 4, "end": 8}]
    server.chat(reply(metadata={"weight_version": "wv-2", "weight_versions": spans}))

    assert json.loads(ask(server).server)["weight_versions"] == spans


def test_cached_tokens_come_from_the_details_where_the_report_is_off(server):
    details = {"device": 100, "host": 20, "storage": 3, "storage_backend": "file"}
    usage = {"prompt_tokens": 176, "completion_tokens": 8, "prompt_tokens_details": None}
    server.chat(reply(usage=usage, sglext={"cached_tokens_details": details}))

    assert ask(server).usage.cached == 123
    assert server.received[0].json["return_cached_tokens_details"] is True


def test_cached_tokens_of_which_nothing_is_said_are_unknown(server):
    server.chat(reply(usage={"prompt_tokens": 176, "prompt_tokens_details": None}, sglext={}))

    assert ask(server).usage.cached is None


def test_the_report_wins_over_the_details(server):
    server.chat(reply(sglext={"cached_tokens_details": {"device": 1}}))

    assert ask(server).usage.cached == 175


def test_facts_keep_what_explains_an_answer(server):
    served(server).on("/model_info", MODEL_INFO).on("/server_info", SERVER_INFO)

    facts = facts_of(server)

    assert (facts.provider, facts.name, facts.url) == ("sglang", "tiny", server.url)
    assert json.loads(facts.server) == {
        "attention_backend": "torch_native",
        "dp_size": 1,
        "dtype": "bfloat16",
        "enable_deterministic_inference": False,
        "grammar_backend": "xgrammar",
        "model_path": "models/tiny",
        "model_type": "llama",
        "page_size": 1,
        "random_seed": 95127559,
        "sampling_backend": "pytorch",
        "served_model_name": "tiny",
        "tool_call_parser": "hermes",
        "tp_size": 1,
        "version": "0.5.23",
        "weight_version": "wv-1",
    }


def test_the_servers_own_keys_are_in_no_fact(server):
    served(server).on("/model_info", MODEL_INFO).on("/server_info", SERVER_INFO)

    assert SECRET not in repr(facts_of(server))


def test_an_older_server_is_asked_under_the_older_names(server):
    served(server).on("/get_model_info", MODEL_INFO).on("/get_server_info", SERVER_INFO)

    assert json.loads(facts_of(server).server)["version"] == "0.5.23"


def test_the_key_goes_to_every_page(server):
    served(server).on("/model_info", MODEL_INFO).on("/server_info", SERVER_INFO)

    facts_of(server, api_key="sk-mine")

    assert {request.headers.get("authorization") for request in server.received} == {"Bearer sk-mine"}


def test_a_name_that_is_not_served_is_refused_because_sglang_would_answer_to_it(server):
    served(server).on("/model_info", MODEL_INFO).on("/server_info", SERVER_INFO)

    with pytest.raises(ModelFailed, match=r"has no model 'huge'\. It serves: tiny") as raised:
        facts_of(server, "huge")

    assert raised.value.kind == "refused"


@pytest.mark.parametrize("name", ["default", "tiny:adapter"])
def test_the_served_model_may_be_asked_for_in_other_words(server, name):
    served(server).on("/model_info", MODEL_INFO).on("/server_info", SERVER_INFO)

    assert facts_of(server, name).name == name


def test_a_server_that_is_no_sglang_is_refused_with_the_provider_to_use(server):
    served(server)

    with pytest.raises(ModelFailed, match="name the model openai:tiny@URL"):
        facts_of(server)


def test_a_refused_key_is_not_taken_for_an_older_server(server):
    server.on("/model_info", Answer({"error": "Unauthorized"}, 401))

    with pytest.raises(ModelFailed, match="Unauthorized"):
        facts_of(server)


def test_the_default_url_is_sglangs_own_port():
    client = SGLangClient("tiny")

    assert client._endpoint.url == "http://127.0.0.1:30000"
    asyncio.run(client.close())


def test_a_prompt_that_does_not_fit_is_recognised(server):
    said = "The input (5031 tokens) is longer than the model's context length (4096 tokens)."
    server.chat(
        Answer({"object": "error", "message": said, "type": "BadRequestError", "param": None, "code": 400}, 400)
    )

    with pytest.raises(ModelFailed) as raised:
        ask(server)

    assert raised.value.kind == "context"
