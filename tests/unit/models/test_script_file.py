import asyncio
import json

import pytest

from spectrace.core.types import Message, ModelRequest, ToolCall, Usage
from spectrace.errors import ModelFailed, UsageError
from spectrace.models.script_file import read_script

HELLO = ModelRequest((Message("user", "hi"),))


@pytest.fixture
def script(tmp_path):
    def write(value):
        path = tmp_path / "shop.json"
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return str(path)

    return write


def first(name, request=HELLO):
    return asyncio.run(read_script(name).generate(request))


@pytest.mark.parametrize(
    ("reply", "content"),
    [
        ({"content": "{broken"}, "{broken"),
        ({"action": {"tool": "look", "arguments": {"id": "W1"}}}, '{"tool": "look", "arguments": {"id": "W1"}}'),
        ({"action": {"tool": "look", "arguments": "{oops"}}, '{"tool": "look", "arguments": {oops}'),
        ({"action": {"reply": "Which?"}}, '{"reply": "Which?"}'),
        ({"action": {"finish": "done"}}, '{"finish": "done"}'),
        ({"verdict": "accept"}, '{"verdict": "accept"}'),
        (
            {"verdict": {"verdict": "reject", "first_wrong": 1, "category": "unsafe", "reason": "no"}},
            '{"verdict": "reject", "first_wrong": 1, "category": "unsafe", "reason": "no"}',
        ),
    ],
)
def test_every_form_of_reply_is_written_as_the_protocol_reads_it(script, reply, content):
    assert first(script({"replies": [reply]})).message == Message("assistant", content)


def test_calls_are_native_whatever_the_mode(script):
    calls = [{"tool": "look", "arguments": {"id": "W1"}}, {"tool": "send", "arguments": ""}]

    completion = first(script({"replies": [{"calls": calls}]}))

    assert completion.finish_reason == "tool_calls"
    assert completion.message.calls == (
        ToolCall("call_0", "look", '{"id": "W1"}'),
        ToolCall("call_1", "send", ""),
    )


def test_an_action_becomes_a_call_in_native_mode(script):
    name = script({"calls": "native", "replies": [{"action": {"tool": "look", "arguments": {}}}]})

    assert first(name).message.calls == (ToolCall("call_0", "look", "{}"),)


def test_an_error_is_raised_with_its_kind(script):
    with pytest.raises(ModelFailed, match="too long") as raised:
        first(script({"replies": [{"error": {"kind": "context", "message": "too long"}}]}))

    assert raised.value.kind == "context"


def test_what_stands_beside_a_reply_is_kept(script):
    reply = {"content": "x", "reasoning": "hm", "finish_reason": "length", "usage": {"input": 9, "cached": 0}}

    completion = first(script({"replies": [reply]}))

    assert (completion.reasoning, completion.finish_reason) == ("hm", "length")
    assert completion.usage == Usage(input=9, cached=0)


def test_tasks_are_told_apart(script):
    name = script({"by_task": {"T1": [{"content": "one"}], "T2": [{"content": "two"}]}})

    assert first(name, ModelRequest((Message("user", "T2"),))).message.content == "two"


def test_one_file_holds_several_models(script):
    name = script({"models": {"weak": {"replies": [{"content": "w"}]}, "strong": {"replies": [{"content": "s"}]}}})

    assert first(f"{name}#strong").message.content == "s"


def test_facts_hold_the_name_the_file_and_its_digest_and_no_path(script, tmp_path):
    facts = asyncio.run(read_script(script({"replies": []})).facts())

    assert facts.name == "shop"
    assert json.loads(facts.server)["script"] == "shop.json"
    assert json.loads(facts.server)["digest"].startswith("sha256:")
    assert str(tmp_path) not in repr(facts)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("{", "is not JSON"),
        ([], "expected a JSON object with replies or by_task"),
        ({}, "expected a JSON object with replies or by_task"),
        ({"replies": [], "reply": []}, "reply is not known; known: name, calls"),
        ({"replies": {}}, "replies is a list of replies, found dict"),
        ({"by_task": []}, "by_task is an object of lists, found list"),
        ({"replies": [], "calls": "xml"}, "calls is json or native, found 'xml'"),
        ({"replies": [{"content": "a"}, "b"]}, r"replies\[1\]: a reply is an object, found str"),
        ({"replies": [{}]}, r"replies\[0\]: a reply has one of content, .* found nothing"),
        ({"replies": [{"content": "a", "verdict": "accept"}]}, "found content, verdict"),
        ({"replies": [{"content": "a", "extra": 1}]}, "found content, extra"),
        ({"replies": [{"content": 1}]}, "content cannot be int"),
        ({"replies": [{"verdict": "maybe"}]}, "verdict cannot be str"),
        ({"replies": [{"action": {"tool": "look"}}]}, r"an action is \{\"tool\", \"arguments\"\}"),
        ({"replies": [{"error": {"kind": "odd", "message": "x"}}]}, "an error's kind is one of unreachable"),
        ({"replies": [{"error": {"kind": "server"}}]}, "'message' is missing"),
        ({"replies": [{"content": "a", "usage": {"tokens": 1}}]}, "usage holds input, cached, output, reasoning"),
        ({"by_task": {"T1": [{}]}}, r"by_task\['T1'\]\[0\]"),
        ({"models": {"weak": {"replies": []}}}, "holds the models weak; found no #MODEL"),
    ],
)
def test_a_wrong_script_says_where_and_how(script, value, words):
    with pytest.raises(UsageError, match=words):
        read_script(script(value))


def test_a_model_that_a_file_does_not_hold_is_named(script):
    name = script({"models": {"weak": {"replies": []}}})

    with pytest.raises(UsageError, match="found no model 'strong'"):
        read_script(f"{name}#strong")


def test_a_model_named_of_a_file_without_models_is_refused(script):
    name = script({"replies": []})

    with pytest.raises(UsageError, match="holds no models: name it without #weak"):
        read_script(f"{name}#weak")


def test_a_missing_file_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read_script(str(tmp_path / "none.json"))
