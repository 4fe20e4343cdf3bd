"""What every model client does alike: scripted, and the HTTP dialects, whole and streamed, against a real server.

The HTTP bodies have the shapes that the servers really send (llama.cpp, SGLang 0.5.23, OpenAI).
"""

import asyncio
import json
from dataclasses import dataclass, field

import pytest
from model_server import Answer, chunks, model_server

from spectrace.core.types import Attempt, Completion, Message, ModelRequest, ToolCall, Usage
from spectrace.errors import ModelFailed
from spectrace.models.anthropic import AnthropicClient
from spectrace.models.openai import OpenAIClient
from spectrace.models.scripted import ScriptedModel
from spectrace.models.sglang import SGLangClient

KINDS = {"refused", "context", "invalid", "budget"} | ModelFailed.PROVIDER_TROUBLE
HELLO = ModelRequest((Message("user", "hi"),))
CALL = ToolCall("call_0", "look", '{"id": "W1"}')


@dataclass
class Case:
    """How to make a client that says, calls or fails as wanted."""

    says: list
    clients: list = field(default_factory=list)

    def run(self, conversation):
        async def go():
            client = self.make()
            try:
                return await conversation(client)
            finally:
                await client.close()

        return asyncio.run(go())


@dataclass
class ScriptedCase(Case):
    def make(self):
        told = {"fail": ModelFailed("context", "too long")}
        return ScriptedModel([told.get(say, say) if isinstance(say, str) else self.called(say) for say in self.says])

    def called(self, call):
        return Completion(Message("assistant", "", (call,)), finish_reason="tool_calls")


@dataclass
class HttpCase(Case):
    server: object = None
    path = "/v1/chat/completions"

    def make(self):
        self.server.on(self.path, *[self.answer(say) for say in self.says])
        return self.client(self.server.url)

    def answer(self, say):
        if say == "fail":
            return self.overflow()
        if isinstance(say, ToolCall):
            function = {"name": say.name, "arguments": say.arguments}
            message = {"content": None, "tool_calls": [{"id": say.id, "type": "function", "function": function}]}
            return self.body({"role": "assistant", **message}, "tool_calls")
        return self.body({"role": "assistant", "content": say}, "stop")


class LlamaCase(HttpCase):
    def client(self, url):
        return OpenAIClient("weak", f"{url}/v1", backoff_s=0.001)

    def body(self, message, reason):
        return {
            "choices": [{"finish_reason": reason, "index": 0, "message": message}],
            "created": 1796045600,
            "model": "weak",
            "system_fingerprint": "b0-unknown",
            "object": "chat.completion",
            "usage": {
                "completion_tokens": 14,
                "prompt_tokens": 97,
                "total_tokens": 111,
                "prompt_tokens_details": {"cached_tokens": 96},
            },
            "id": "chatcmpl-KvnnRitYJOcGSOCQsnWP40D7NkeVY8Ou",
            "timings": {"cache_n": 96, "prompt_n": 1, "prompt_ms": 101.836, "predicted_n": 14},
        }

    def overflow(self):
        words = "request (5030 tokens) exceeds the available context size (2048 tokens), try increasing it"
        error = {"code": 400, "message": words, "type": "exceed_context_size_error", "n_prompt_tokens": 5030}
        return Answer({"error": error}, 400)


class StreamedCase(LlamaCase):
    def client(self, url):
        return OpenAIClient("weak", f"{url}/v1", stream=True, backoff_s=0.001)

    def body(self, message, reason):
        deltas = [{"role": "assistant", "content": None}, {name: message[name] for name in message if name != "role"}]
        for call in message.get("tool_calls", []):
            call["index"] = 0
        return Answer(pieces=chunks(*deltas, finish=reason))


class AnthropicCase(HttpCase):
    path = "/v1/messages"

    def client(self, url):
        return AnthropicClient("weak", url, backoff_s=0.001)

    def body(self, message, reason):
        blocks = [{"type": "text", "text": message["content"]}] if message["content"] else []
        for call in message.get("tool_calls", []):
            made = {"id": call["id"], "name": call["function"]["name"]}
            blocks.append({"type": "tool_use", **made, "input": json.loads(call["function"]["arguments"])})
        return {
            "id": "chatcmpl-h1FUY3wIW8VCmUzLZUaGAMZWECydwuiK",
            "type": "message",
            "role": "assistant",
            "content": blocks,
            "model": "weak",
            "stop_reason": {"stop": "end_turn", "tool_calls": "tool_use"}[reason],
            "stop_sequence": None,
            "usage": {"cache_read_input_tokens": 96, "input_tokens": 1, "output_tokens": 14},
        }

    def overflow(self):
        words = "prompt is too long: 200082 tokens > 200000 maximum"
        return Answer({"type": "error", "error": {"type": "invalid_request_error", "message": words}}, 400)


class SGLangCase(HttpCase):
    def client(self, url):
        self.server.on("/model_info", {"served_model_name": "weak"}).on("/server_info", {"version": "0.5.23"})
        return SGLangClient("weak", url, backoff_s=0.001)

    def body(self, message, reason):
        message = {"reasoning_content": None, **message, "content": message["content"] or ""}
        return {
            "id": "3261c804c79a442dbbb6e6b3fabd08e1",
            "object": "chat.completion",
            "created": 1796038935,
            "model": "weak",
            "choices": [
                {"index": 0, "message": message, "logprobs": None, "finish_reason": reason, "matched_stop": None}
            ],
            "usage": {
                "prompt_tokens": 97,
                "total_tokens": 111,
                "completion_tokens": 14,
                "prompt_tokens_details": {"cached_tokens": 96},
                "reasoning_tokens": 0,
                "completion_tokens_details": None,
            },
            "metadata": {"weight_version": "default"},
        }

    def overflow(self):
        words = "The input (5031 tokens) is longer than the model's context length (4096 tokens)."
        return Answer({"object": "error", "message": words, "type": "BadRequestError", "code": 400}, 400)


HTTP = {"llama.cpp": LlamaCase, "streamed": StreamedCase, "sglang": SGLangCase, "anthropic": AnthropicCase}


@pytest.fixture(params=["scripted", *HTTP])
def case(request):
    if request.param == "scripted":
        yield ScriptedCase
        return
    with model_server() as server:
        yield lambda says: HTTP[request.param](says, server=server)


def test_text_comes_back_as_an_assistants_message(case):
    answer = case(['{"verdict": "accept"}']).run(lambda client: client.generate(HELLO))

    assert answer.message == Message("assistant", '{"verdict": "accept"}')
    assert answer.finish_reason in {"stop", "end_turn"}


def test_a_native_call_keeps_its_exact_arguments(case):
    answer = case([CALL]).run(lambda client: client.generate(HELLO))

    assert answer.message == Message("assistant", "", (CALL,))
    assert answer.finish_reason in {"tool_calls", "tool_use"}


def test_answers_come_in_the_order_of_the_calls(case):
    async def twice(client):
        return [(await client.generate(HELLO)).message.content for _ in range(2)]

    assert case(["one", "two"]).run(twice) == ["one", "two"]


def test_calls_may_run_side_by_side(case):
    async def together(client):
        return await asyncio.gather(*[client.generate(HELLO) for _ in range(4)])

    answers = case(["a", "b", "c", "d"]).run(together)

    assert sorted(answer.message.content for answer in answers) == ["a", "b", "c", "d"]


def test_a_failure_has_a_kind_of_the_list(case):
    with pytest.raises(ModelFailed) as raised:
        case(["fail"]).run(lambda client: client.generate(HELLO))

    assert raised.value.kind == "context"
    assert raised.value.kind in KINDS


def test_counts_are_whole_numbers_or_unknown(case):
    usage = case(["hi"]).run(lambda client: client.generate(HELLO)).usage

    assert isinstance(usage, Usage)
    assert all(count is None or type(count) is int for count in (usage.input, usage.cached, usage.output))


def test_times_are_whole_microseconds(case):
    answer = case(["hi"]).run(lambda client: client.generate(HELLO))

    assert type(answer.latency_us) is int
    assert all(isinstance(attempt, Attempt) and type(attempt.duration_us) is int for attempt in answer.attempts)


def test_facts_leave_the_role_to_the_caller_and_are_json_where_they_say_so(case):
    facts = case(["hi"]).run(lambda client: client.facts())

    assert facts.role == ""
    assert facts.provider
    assert facts.name
    assert isinstance(json.loads(facts.parameters), dict)
    assert isinstance(json.loads(facts.server), dict)


def test_a_client_may_be_closed_unused_and_twice(case):
    async def again(client):
        await client.close()

    assert case(["hi"]).run(again) is None
