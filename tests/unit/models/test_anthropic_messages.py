import json
from itertools import pairwise

import pytest

from spectrace.core.prompts import Prompts, history_messages
from spectrace.core.types import (
    Call,
    Effect,
    History,
    Message,
    ModelRequest,
    Observation,
    Reply,
    Step,
    ToolCall,
    ToolSpec,
    Usage,
)
from spectrace.models import anthropic_messages as wire
from spectrace.models.calls import InvalidReply

LOOK = ToolSpec("look", "Look at an order.", '{"type": "object", "properties": {}}', Effect.READ)


def body_of(*messages, defaults=None, schema=None, **request):
    asked = ModelRequest(tuple(messages), **request)
    return wire.request_body("m", asked, {} if defaults is None else defaults, schema=schema)


def turns(*messages):
    return body_of(*messages).sent["messages"]


def text(said):
    return {"type": "text", "text": said}


def read(*blocks, **body):
    return wire.read_body({"content": list(blocks), **body})


def test_what_the_same_side_says_in_a_row_is_one_turn():
    call = ToolCall("s0.1", "look", '{"id": "W1"}')

    body = body_of(
        Message("system", "Be brief."),
        Message("user", "hi"),
        Message("assistant", "", (call,)),
        Message("tool", "shipped", call_id="s0.1"),
        Message("user", "REVIEW"),
    )

    assert body.sent == {
        "model": "m",
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": [text("hi")]},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "s0_1", "name": "look", "input": {"id": "W1"}}],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "s0_1", "content": "shipped"},
                    text("REVIEW"),
                ],
            },
        ],
    }


@pytest.mark.parametrize("native", [True, False])
def test_the_protocols_history_keeps_the_rules_of_the_api(native):
    prompts = Prompts()
    steps = tuple(
        Step(f"s1.{number}", action, Effect.READ, observation)
        for number, (action, observation) in enumerate(
            [
                (Call("look", '{"id": "W1"}'), Observation("")),
                (Call("look", '{"id": "W1"'), Observation("not JSON", error=True)),
                (Reply("Which one?"), Observation("W2")),
                (Call("change", '{"id": "W2"}'), None),
            ],
            1,
        )
    )
    history = History((Message("user", "Change W2."),), steps[:3])
    messages = history_messages(prompts, history, steps[3:], native=native)

    said = turns(Message("system", "Be brief."), *messages, Message("user", "REVIEW"))

    assert [turn["role"] for turn in said] == ["user", "assistant"] * (len(said) // 2) + ["user"]
    assert all(block["type"] != "text" or block["text"].strip() for turn in said for block in turn["content"])
    for turn, answer in pairwise(said):
        asked = [block["id"] for block in turn["content"] if block["type"] == "tool_use"]
        assert [block["tool_use_id"] for block in answer["content"] if block["type"] == "tool_result"] == asked


def test_several_system_prompts_stay_apart():
    assert body_of(Message("system", "a"), Message("system", "b")).sent["system"] == [text("a"), text("b")]


def test_a_later_system_message_is_said_by_the_users_side():
    assert turns(Message("user", "a"), Message("system", "b")) == [{"role": "user", "content": [text("a"), text("b")]}]


def test_a_turn_without_text_says_so():
    assert turns(Message("user", " \n")) == [{"role": "user", "content": [text("(empty)")]}]


def test_an_empty_result_of_a_tool_is_sent_as_it_is():
    assert turns(Message("tool", "", call_id="c"))[0]["content"] == [
        {"type": "tool_result", "tool_use_id": "c", "content": ""}
    ]


@pytest.mark.parametrize(("arguments", "sent"), [("", {}), ('{"n": 1}', {"n": 1}), ("{bro", {"not_json": "{bro"})])
def test_past_arguments_are_sent_as_an_object(arguments, sent):
    assert turns(Message("assistant", "", (ToolCall("c", "look", arguments),)))[0]["content"][0]["input"] == sent


def test_tools_are_sent_with_their_schema():
    assert body_of(tools=(LOOK,)).sent["tools"] == [
        {"name": "look", "description": "Look at an order.", "input_schema": {"type": "object", "properties": {}}}
    ]


def test_the_requests_parameters_win_and_a_null_takes_a_default_away():
    body = body_of(parameters='{"max_tokens": 9, "temperature": null}', defaults={"max_tokens": 5, "temperature": 0})

    assert body.sent == {"model": "m", "messages": [], "max_tokens": 9}


@pytest.mark.parametrize(
    ("parameters", "sent"),
    [
        ({"stop": "x"}, {"stop_sequences": ["x"]}),
        ({"stop": ["x", "y"]}, {"stop_sequences": ["x", "y"]}),
        ({"max_completion_tokens": 3}, {"max_tokens": 3}),
        ({"tool_choice": "required"}, {"tool_choice": {"type": "any"}}),
        ({"tool_choice": "auto"}, {"tool_choice": {"type": "auto"}}),
        ({"thinking": {"type": "adaptive"}}, {"thinking": {"type": "adaptive"}}),
    ],
)
def test_parameters_of_the_other_dialect_are_put_into_this_ones_words(parameters, sent):
    body = body_of(parameters=json.dumps(parameters)).sent

    assert {name: body[name] for name in body if name not in {"model", "messages"}} == sent


def test_a_seed_is_left_out_and_that_is_told():
    body = body_of(parameters='{"seed": 3}')

    assert ("seed" in body.sent, body.not_sent) == (False, ("seed",))


def test_a_schema_goes_beside_other_wishes_for_the_output():
    body = body_of(schema={"type": "string"}, parameters='{"output_config": {"effort": "low"}}')

    assert body.sent["output_config"] == {
        "effort": "low",
        "format": {"type": "json_schema", "schema": {"type": "string"}},
    }


def test_a_message_is_read_whole():
    reply = read(
        {"type": "thinking", "thinking": "hm", "signature": "x"},
        text("He"),
        text("llo"),
        {"type": "tool_use", "id": "t1", "name": "look", "input": {"id": "W1"}},
        id="msg_1",
        model="m-7",
        stop_reason="tool_use",
        usage={"input_tokens": 3, "output_tokens": 4, "output_tokens_details": {"thinking_tokens": 2}},
    )

    assert reply.message == Message("assistant", "Hello", (ToolCall("t1", "look", '{"id": "W1"}'),))
    assert (reply.reasoning, reply.finish_reason, reply.model, reply.provider_id) == ("hm", "tool_use", "m-7", "msg_1")
    assert (reply.usage, reply.anomalies) == (Usage(input=3, output=4, reasoning=2), ())


@pytest.mark.parametrize(
    ("usage", "read_as"),
    [
        (None, Usage()),
        ({"input_tokens": 3}, Usage(input=3)),
        ({"input_tokens": 3, "cache_read_input_tokens": 7}, Usage(input=10, cached=7)),
        ({"input_tokens": 3, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 5}, Usage(input=8, cached=0)),
        ({"cache_read_input_tokens": 7, "output_tokens": None}, Usage(cached=7)),
    ],
)
def test_input_includes_what_the_cache_held_and_unknown_is_none(usage, read_as):
    assert read(text("x"), usage=usage).usage == read_as


@pytest.mark.parametrize(
    ("blocks", "reason", "note"),
    [
        ([text("x")], "tool_use", "the finish reason is 'tool_use', and there is no call"),
        ([{"type": "tool_use", "id": "t", "name": "a"}], "end_turn", "the finish reason is 'end_turn', and there is"),
        ([{"type": "server_tool_use", "id": "t"}], "end_turn", "a block of type 'server_tool_use' was not read"),
    ],
)
def test_what_is_odd_is_noted(blocks, reason, note):
    (anomaly,) = read(*blocks, stop_reason=reason).anomalies

    assert anomaly.startswith(note)


@pytest.mark.parametrize(("reason", "as_text"), [({"type": "max_tokens"}, "max_tokens"), (3, "not text: 3")])
def test_a_stop_reason_that_is_no_text_is_kept_as_text_and_noted(reason, as_text):
    reply = read(text("x"), stop_reason=reason)

    assert reply.finish_reason == as_text
    assert reply.anomalies == (f"the finish reason came as {type(reason).__name__}, not text",)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "it has no content"),
        ({"content": ["x"]}, "a block of its content is no object"),
        ({"content": [{"type": "text"}]}, "the text of a block is NoneType"),
        ({"content": [{"type": "tool_use", "id": "t"}]}, "a tool_use block names no tool"),
    ],
)
def test_a_body_that_is_no_message_is_refused_with_the_reason(body, words):
    with pytest.raises(InvalidReply, match=words):
        wire.read_body(body)


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}}, "Busy (overloaded_error)"),
        ({"type": "message_start", "message": {}}, None),
    ],
)
def test_an_error_inside_a_stream_is_told_from_other_events(event, words):
    assert wire.error_text(event) == words
