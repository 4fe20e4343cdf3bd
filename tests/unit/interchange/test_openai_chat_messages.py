import json

import pytest

from spectrace.core.types import ToolCall
from spectrace.interchange import json_text, losses
from spectrace.interchange.openai_chat_messages import HELD, HELD_JSON, read_messages, restored
from tests.chat_files import call, calls, result


def read(*messages):
    lost: set[str] = set()
    return read_messages([json_text.compact(json.dumps(one)) for one in messages], lost), lost


@pytest.mark.parametrize(
    ("members", "held"),
    [
        ({"content": "hi"}, {"content": HELD}),
        ({"content": ""}, {"content": HELD}),
        ({"content": None}, {"content": "null"}),
        ({"content": [{"type": "text", "text": "hi"}]}, {"content": HELD_JSON}),
        ({}, {}),
        ({"reasoning": ""}, {"reasoning": HELD}),
        ({"reasoning": "a", "reasoning_content": "b"}, {"reasoning": '"a"', "reasoning_content": HELD}),
        ({"reasoning": "a", "reasoning_content": None}, {"reasoning": HELD, "reasoning_content": "null"}),
        ({"name": "x", "refusal": None}, {"name": '"x"', "refusal": "null"}),
    ],
)
def test_a_shape_says_of_each_member_whether_an_event_holds_it(members, held):
    found, _ = read({"role": "assistant", **members})

    assert found.shapes == [{"role": '"assistant"', **held}]


@pytest.mark.parametrize(
    ("given", "held", "shape"),
    [
        (call("c", "f", '{"a": 1}'), ToolCall("c", "f", '{"a": 1}'), {"name": HELD, "arguments": HELD}),
        (call("c", "f", ""), ToolCall("c", "f", ""), {"name": HELD, "arguments": HELD}),
        (call("c", "f", {"a": 1.0}), ToolCall("c", "f", '{"a":1.0}'), {"name": HELD, "arguments": HELD_JSON}),
        ({"id": "c", "function": {"name": "f"}}, ToolCall("c", "f", ""), {"name": HELD}),
        ({"id": "c", "function": {"arguments": None}}, ToolCall("c", "", ""), {"arguments": "null"}),
    ],
)
def test_a_call_is_held_with_its_exact_arguments(given, held, shape):
    found, _ = read(calls(given))

    assert found.said[0].calls == (held,)
    assert found.shapes[0]["tool_calls"][0]["function"] == shape


def test_a_call_of_something_else_than_a_function_is_kept_whole():
    custom = {"id": "c", "type": "custom", "custom": {"name": "run", "input": "x"}}
    found, _ = read(calls(custom))

    assert found.said[0].calls == (ToolCall("c", "custom", json_text.compact(json.dumps(custom))),)
    assert json.loads(restored(found.shapes[0], {}, found.said[0].calls)) == calls(custom)


def test_results_without_an_id_answer_the_calls_that_no_other_names():
    found, lost = read(calls(call("a"), call("b"), call("c")), result("b", "1"), result("", "2"), {"role": "tool"})

    assert [said.call_id for said in found.said[1:]] == ["b", "a", "c"]
    assert (found.inferred, losses.INFERRED_PAIRS in lost, losses.SYNTHETIC_IDS in lost) == ([2, 3], True, False)


def test_a_result_too_many_is_paired_with_nothing():
    found, _ = read(calls(call("a")), result("", "1"), result("", "2"))

    assert [said.call_id for said in found.said[1:]] == ["a", ""]


def test_what_cannot_be_read_as_a_call_is_said():
    _, lost = read({"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}})

    assert losses.FUNCTION_CALLS in lost


def test_content_that_is_not_text_is_its_json():
    found, lost = read({"role": "user", "content": [{"type": "text", "text": "é"}]})

    assert (found.said[0].content, losses.CONTENT_NOT_TEXT in lost) == ('[{"type":"text","text":"é"}]', True)


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": "\ud800 \0 é \\u", "reasoning": "\n"},
        {"content": None, "role": "assistant", "tool_calls": [call("", "f"), {**call("x"), "index": 1}], "n": [1.0]},
        {"role": "assistant", "tool_calls": [{"function": {"arguments": "{", "name": ""}}], "audio": {"id": "a"}},
        {"role": "assistant", "content": "", "tool_calls": []},
        {"role": "assistant", "content": "x", "tool_calls": None},
    ],
)
def test_a_message_is_given_back_as_it_was(message):
    found, _ = read(message)
    said = found.said[0]
    reasoning = dict.fromkeys(("reasoning", "reasoning_content"), json_text.string(said.part("reasoning")) or "")
    text = restored(found.shapes[0], {"content": said.content or "", **reasoning}, said.calls)

    assert text == json_text.compact(json.dumps(message))
