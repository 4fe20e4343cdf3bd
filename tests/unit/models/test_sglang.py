import asyncio
import json
from dataclasses import replace

import pytest
from model_server import Answer

from spectrace.core.types import Message, ModelRequest, Scoring, Usage
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


ONE_STEP = ModelRequest((Message("user", "hi"),), schema='{"type": "object"}', scoring=Scoring(1))
PROMPT_IDS, PIECE_IDS = {"tokens": [7, 8, 9]}, {"tokens": [[3], [4], [5], [1, 2]]}
SCORED = {
    "text": "",
    "meta_info": {
        "id": "e1d4cc03",
        "finish_reason": {"type": "length", "length": 0},
        "prompt_tokens": 7,
        "cached_tokens": 3,
        "completion_tokens": 0,
        "reasoning_tokens": 0,
        "weight_version": "wv-1",
        "input_token_ids_logprobs": [None, [[-0.25, 3, None], [-1.5, 4, None]], [[-9.5, 3, None], [-9.0, 4, None]]],
    },
}
DECODED = {
    "text": '{"reason": "so"}',
    "meta_info": {**SCORED["meta_info"], "finish_reason": {"type": "stop", "matched": 2}, "completion_tokens": 5},
}


def scoring_server(server, *generated):
    return server.on("/tokenize", PROMPT_IDS, PIECE_IDS).on("/generate", *generated)


def score(server, request=ONE_STEP, **options):
    return with_client(server, lambda client: client.generate(request), **options)


def refusal(server, request=ONE_STEP, **options):
    with pytest.raises(ModelFailed) as raised:
        score(server, request, **options)
    return raised.value


def test_a_scored_review_carries_log_probabilities_and_the_servers_counts(server):
    answer = score(scoring_server(server, SCORED))

    assert answer.message == Message("assistant", '{"yes": ["-0.25"], "no": ["-1.5"]}')
    assert answer.usage == Usage(input=7, cached=3, output=0, reasoning=0)
    assert (answer.finish_reason, answer.provider_id, answer.model) == ("length", "e1d4cc03", None)
    assert json.loads(answer.server) == {"weight_version": "wv-1"}
    assert [attempt.error for attempt in answer.attempts] == [None]


def test_a_scored_review_is_asked_in_ids_behind_the_chats_own_prompt(server):
    score(scoring_server(server, SCORED), api_key="sk-mine")

    chat, texts, generated = server.received
    assert [request.path for request in server.received] == ["/tokenize", "/tokenize", "/generate"]
    assert {request.headers["authorization"] for request in server.received} == {"Bearer sk-mine"}
    assert chat.json == {"model": "tiny", "messages": [{"role": "user", "content": "hi"}]}
    assert texts.json == {"model": "tiny", "prompt": ["yes", "no", "\n", "1:"], "add_special_tokens": False}
    assert generated.json == {
        "input_ids": [7, 8, 9, 1, 2, 3, 5],
        "sampling_params": {"max_new_tokens": 0, "temperature": 0},
        "return_logprob": True,
        "logprob_start_len": 4,
        "token_ids_logprob": [3, 4],
    }


def test_a_rejected_step_is_explained_under_the_schema(server):
    request = replace(ONE_STEP, scoring=Scoring(1, rejected=1), parameters='{"max_tokens": 90}')

    answer = score(scoring_server(server, DECODED), request)

    assert (answer.message.content, answer.finish_reason, answer.usage.output) == ('{"reason": "so"}', "stop", 5)
    assert server.received[-1].json == {
        "input_ids": [7, 8, 9, 1, 2, 4],
        "sampling_params": {"temperature": 0, "max_new_tokens": 90, "json_schema": '{"type": "object"}'},
    }


def test_an_adapter_scores_as_itself(server):
    score(scoring_server(server, SCORED), name="tiny:adapter")

    assert server.received[-1].json["lora_path"] == "adapter"


def test_what_failed_on_the_way_to_a_score_is_among_its_attempts(server):
    busy = Answer({"error": {"message": "busy"}}, 503)
    server.on("/tokenize", busy, PROMPT_IDS, PIECE_IDS).on("/generate", busy, SCORED)

    errors = [attempt.error for attempt in score(server).attempts]

    assert [error is None for error in errors] == [False, False, True]


def test_a_server_that_cannot_tokenize_a_chat_is_refused(server):
    server.on("/generate", SCORED)

    failed = refusal(server)

    assert failed.kind == "refused"
    assert "cannot tokenize a chat (SGLang can from 0.5.12 on)" in str(failed)


def test_a_server_that_gives_no_log_probabilities_of_chosen_ids_is_refused(server):
    meta = {name: value for name, value in SCORED["meta_info"].items() if name != "input_token_ids_logprobs"}

    failed = refusal(scoring_server(server, {"text": "", "meta_info": meta}))

    assert failed.kind == "refused"
    assert str(failed) == (
        f"{server.url} cannot score verdicts: its /generate gives no input_token_ids_logprobs "
        "(it may be older than that)."
    )


def test_a_scored_prompt_that_does_not_fit_is_recognised(server):
    said = "The input (17000 tokens) is longer than the model's context length (16384 tokens)."

    failed = refusal(scoring_server(server, Answer({"error": {"message": said}}, 400)))

    assert failed.kind == "context"


def test_a_score_that_the_server_aborts_fails(server):
    aborted = {**SCORED["meta_info"], "finish_reason": {"type": "abort", "message": "Aborted"}}

    failed = refusal(scoring_server(server, {"text": "", "meta_info": aborted}))

    assert (failed.kind, len(failed.attempts)) == ("server", 1)


def test_what_is_no_answer_of_generate_is_invalid(server):
    failed = refusal(scoring_server(server, reply()))

    assert failed.kind == "invalid"
    assert "has no text with meta_info" in str(failed)


def test_the_key_stays_out_of_a_scored_reviews_failure(server):
    said = Answer({"error": {"message": "no such key sk-mine"}}, 401)

    failed = refusal(scoring_server(server, said), api_key="sk-mine")

    assert "sk-mine" not in str(failed)
    assert "sk-mine" not in repr(failed.attempts)


def test_a_prompts_tokens_are_the_servers(server):
    server.on("/tokenize", PROMPT_IDS)

    assert with_client(server, lambda client: client.prompt_ids(HELLO)) == (7, 8, 9)
