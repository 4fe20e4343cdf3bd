import json

import pytest

from spectrace.core.types import Effect, Message, ModelRequest, ToolCall, ToolSpec, Usage
from spectrace.models import chat

LOOK = ToolSpec(
    "look", "Look at an order.", '{"type": "object", "properties": {"id": {"type": "string"}}}', Effect.READ
)


def body_of(request, defaults=None, *, constrained=True):
    return chat.request_body("m", request, {} if defaults is None else defaults, constrained=constrained)


def reply_with(**message):
    return chat.read_reply(json.dumps({"choices": [{"message": message}]}))


def test_messages_are_sent_in_the_wire_format():
    messages = (
        Message("system", "Be brief."),
        Message("assistant", "", (ToolCall("s0.1", "look", '{"id": "W1"}'),)),
        Message("tool", "shipped", call_id="s0.1"),
    )

    body = body_of(ModelRequest(messages))

    assert body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {"id": "s0.1", "type": "function", "function": {"name": "look", "arguments": '{"id": "W1"}'}}
                ],
            },
            {"role": "tool", "content": "shipped", "tool_call_id": "s0.1"},
        ],
    }


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ('{"id":  1.50}', '{"id":  1.50}'),
        (" ", "{}"),
        ("{broken", '{"not_json": "{broken"}'),
        ("[1]", '{"not_json": "[1]"}'),
        ('{"n": NaN}', '{"not_json": "{\\"n\\": NaN}"}'),
    ],
)
def test_a_server_is_sent_arguments_that_it_can_read(arguments, sent):
    body = body_of(ModelRequest((Message("assistant", "", (ToolCall("1", "look", arguments),)),)))

    assert body["messages"][0]["tool_calls"][0]["function"]["arguments"] == sent


def test_tools_are_sent_natively_with_their_schema():
    body = body_of(ModelRequest((), tools=(LOOK,)))

    assert body["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "look",
                "description": "Look at an order.",
                "parameters": {"type": "object", "properties": {"id": {"type": "string"}}},
            },
        }
    ]


def test_a_schema_constrains_the_reply():
    body = body_of(ModelRequest((), schema='{"type": "object"}'))

    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "reply", "strict": True, "schema": {"type": "object"}},
    }


def test_a_schema_is_not_sent_to_a_server_that_cannot_constrain():
    assert "response_format" not in body_of(ModelRequest((), schema="{}"), constrained=False)


def test_the_requests_parameters_win_over_the_defaults():
    request = ModelRequest((), parameters='{"temperature": 0.7, "seed": 3, "top_k": 4}')

    body = body_of(request, {"temperature": 0, "max_tokens": 9})

    assert body == {"model": "m", "messages": [], "temperature": 0.7, "max_tokens": 9, "seed": 3, "top_k": 4}


def test_a_null_parameter_takes_a_default_away():
    assert "temperature" not in body_of(ModelRequest((), parameters='{"temperature": null}'), {"temperature": 0})


@pytest.mark.parametrize("text", ["plain", "ü 😀 \x00", "\ufffd"])
def test_a_body_that_utf8_can_hold_is_sent_untouched(text):
    body = {"messages": [text]}

    assert chat.sendable(body) is body


def test_a_lone_surrogate_is_sent_as_the_replacement_character():
    assert chat.sendable({"messages": ["ü\ud800x"], "n": 1.5}) == {"messages": ["ü\ufffdx"], "n": 1.5}


def test_a_reply_is_read_whole():
    text = json.dumps(
        {
            "id": "r1",
            "model": "m-7",
            "choices": [{"message": {"content": "yes", "reasoning_content": "hm"}, "finish_reason": "stop"}],
            "usage": {
                "prompt_tokens": 9,
                "completion_tokens": 4,
                "prompt_tokens_details": {"cached_tokens": 8},
                "completion_tokens_details": {"reasoning_tokens": 2},
            },
        }
    )

    reply = chat.read_reply(text)

    assert reply.message == Message("assistant", "yes")
    assert (reply.reasoning, reply.finish_reason, reply.model, reply.provider_id) == ("hm", "stop", "m-7", "r1")
    assert reply.usage == Usage(input=9, cached=8, output=4, reasoning=2)


@pytest.mark.parametrize(
    ("content", "read"),
    [
        (None, ""),
        ("", ""),
        ("a\x00\ud800", "a\x00\ud800"),
        ([{"type": "text", "text": "a"}, {"text": "b"}], "ab"),
        ([{"text": "half \ud83d"}, {"text": "\ude00 and \ud835"}], "half 😀 and \ud835"),
    ],
)
def test_content_comes_in_several_shapes(content, read):
    assert reply_with(content=content).message.content == read


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        ('{"id":  "W1"}', '{"id":  "W1"}'),
        ("", ""),
        ("{broken", "{broken"),
        (None, ""),
        ({"id": "Wü", "n": 10**20}, '{"id": "Wü", "n": 100000000000000000000}'),
    ],
)
def test_arguments_stay_text_and_an_object_becomes_text(arguments, read):
    reply = reply_with(tool_calls=[{"id": "c1", "function": {"name": "look", "arguments": arguments}}])

    assert reply.message.calls == (ToolCall("c1", "look", read),)


def test_a_note_of_what_is_odd_goes_with_the_reply():
    reply = reply_with(tool_calls=[{"id": "c1", "function": {"name": "look", "arguments": {"id": 1}}}])

    assert reply.anomalies == ("call 1: the arguments came as an object",)


@pytest.mark.parametrize(
    ("reason", "calls", "note"),
    [
        ("tool_calls", [], "the finish reason is 'tool_calls', and there is no call"),
        ("stop", [{"id": "c", "function": {"name": "look"}}], "the finish reason is 'stop', and there is a call"),
        ("tool_calls", [{"id": "c", "function": {"name": "look"}}], None),
        ("stop", [], None),
        ("length", [{"id": "c", "function": {"name": "look"}}], None),
        (None, [], None),
    ],
)
def test_a_finish_reason_that_disagrees_is_noted(reason, calls, note):
    body = {"choices": [{"message": {"tool_calls": calls}, "finish_reason": reason}]}

    assert chat.read_body(body).anomalies == (() if note is None else (note,))


@pytest.mark.parametrize(("reason", "read"), [({"type": "length", "length": 16}, "length"), (["x"], 'not text: ["x"]')])
def test_a_finish_reason_that_is_no_text_is_kept_as_text_and_noted(reason, read):
    reply = chat.read_body({"choices": [{"message": {}, "finish_reason": reason}]})

    assert reply.finish_reason == read
    assert reply.anomalies == (f"the finish reason came as {type(reason).__name__}, not text",)


@pytest.mark.parametrize(
    ("choices", "note"),
    [
        ([{"message": {}}, {"message": {}}], "1 more choices were left out"),
        ([{"message": {"function_call": {"name": "look", "arguments": "{}"}}}], chat.FORMER_CALL),
    ],
)
def test_what_is_not_read_is_noted(choices, note):
    assert chat.read_body({"choices": choices}).anomalies == (note,)


def test_reasoning_is_kept_under_either_name():
    assert reply_with(reasoning="so").reasoning == "so"


@pytest.mark.parametrize(
    "usage",
    [None, [], {}, {"prompt_tokens": None}, {"prompt_tokens": True}, {"prompt_tokens": -1}, {"prompt_tokens": 2**53}],
)
def test_an_unknown_count_is_none_and_never_zero(usage):
    reply = chat.read_reply(json.dumps({"choices": [{"message": {}}], "usage": usage}))

    assert reply.usage == Usage()


def test_a_count_of_zero_is_known():
    text = json.dumps({"choices": [{"message": {}}], "usage": {"prompt_tokens_details": {"cached_tokens": 0}}})

    assert chat.read_reply(text).usage.cached == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<html>", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not a JSON object"),
        ("{}", "no choices"),
        ('{"choices": []}', "no choices"),
        ('{"choices": [{}]}', "no message"),
        ('{"choices": [{"message": {"content": 3}}]}', "content is int"),
        ('{"choices": [{"message": {"tool_calls": {}}}]}', "dict, not a list"),
        ('{"choices": [{"message": {"tool_calls": [{"id": "1"}]}}]}', "tool call 1 names no function"),
    ],
)
def test_a_body_that_is_no_completion_is_refused_with_the_reason(text, words):
    with pytest.raises(chat.InvalidReply, match=words):
        chat.read_reply(text)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": "too big", "type": "exceed_context_size_error"}}, "too big (exceed_context_size_error)"),
        ({"error": "plain"}, "plain"),
        ({"object": "error", "message": "bad", "type": "BadRequestError"}, "bad (BadRequestError)"),
        ({"detail": "Not Found"}, "Not Found"),
        ({"error": None, "choices": [{}]}, None),
        ({"choices": [{"message": {"content": ""}, "error": {"code": 502, "message": "upstream"}}]}, "upstream"),
        ({"choices": []}, None),
        ([], None),
    ],
)
def test_error_bodies_of_several_servers_are_read(body, words):
    assert chat.error_text(body) == words


@pytest.mark.parametrize(
    "message",
    [
        "The input (5031 tokens) is longer than the model's context length (4096 tokens).",
        "request (5030 tokens) exceeds the available context size (2048 tokens) (exceed_context_size_error)",
        "This model's maximum context length is 8192 tokens.",
        "too many tokens (context_length_exceeded)",
    ],
)
def test_a_prompt_that_does_not_fit_is_recognised_by_its_words(message):
    assert chat.says_context(message)


def test_another_bad_request_is_not_taken_for_a_prompt_that_does_not_fit():
    assert not chat.says_context("max_new_tokens must be at least 0, got -1.")
