"""Strict reading of actions; what cannot be read is Unusable with its cause, what is tolerated is said."""

from dataclasses import replace

import pytest

from spectrace.core.reading import LIKE_A_CALL, Actions, Unusable, arguments_objection, objection, read_actions
from spectrace.core.types import Call, Completion, Effect, Finish, Message, Reply, ToolCall, Usage
from spectrace.core.unwrapping import BYTE_ORDER_MARK, FENCE, THOUGHTS
from tests.playbook import SCHEMA, look, setup

REVISION_1 = replace(setup(), revision=1)
FENCED = '```json\n{"finish": "done"}\n```'


def said(text: str = "", *calls: ToolCall, **of_completion: object) -> Completion:
    return Completion(Message("assistant", text, calls), **of_completion)


def test_a_call_keeps_the_exact_text_of_its_arguments():
    text = '{"tool": "look", "arguments": {"id" :  "A", "n": 12345678901234567890, "x": 1.0e2}}'

    assert read_actions(setup(), said(text), native=False) == Actions(
        (Call("look", '{"id" :  "A", "n": 12345678901234567890, "x": 1.0e2}'),)
    )


@pytest.mark.parametrize(
    ("text", "tolerated"),
    [
        (FENCED, (FENCE,)),
        ('\ufeff {"finish": "done"}', (BYTE_ORDER_MARK,)),
        ('<think>or {"finish": "no"}</think>{"finish": "done"}', (THOUGHTS,)),
    ],
)
def test_what_stands_around_an_action_is_no_part_of_it_and_is_said(text, tolerated):
    assert read_actions(setup(), said(text), native=False) == Actions((Finish("done"),), tolerated)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("", "expected one JSON object"),
        ("I will look.", "expected one JSON object"),
        ('{"tool": "look"}', 'expected {"tool", "arguments"}'),
        ('{"tool": "look", "arguments": {"id": "A"', "the value of 'arguments' is broken or cut off"),
        ('{"tool": "look", "arguments": {}', "cut off"),
        ('{"tool": "look", "arguments": [1]}', "the arguments cannot be used"),
        ('{"tool": "look", "arguments": {"id": NaN}}', "NaN is not a number"),
        ('{"tool": "look", "arguments": {"id": %s}}' % ("9" * 641), "a number has more than 640 digits"),
        ('{"tool": %s, "arguments": {}}' % ("9" * 6000), "tool must be a text"),
        ('{"finish": %s}' % ("9" * 6000), "finish must be a text"),
        ('I will:\n```\n{"finish": "done"}\n```', "expected one JSON object"),
        ('<think>{"finish": "done"}', "thoughts have no end"),
        ('{"tool": "look", "arguments": {}} and more', "text follows"),
        ('{"tool": "look", "tool": "change", "arguments": {}}', "stands twice"),
        ('{"tool": 3, "arguments": {}}', "must be a text"),
        ('{"finish": ""}', "must be a text"),
        ("[" * 100_000, "expected one JSON object"),
        ('{"tool": ' + "[" * 100_000, "nested more than 100 deep"),
    ],
)
def test_what_is_no_action_is_unusable_and_says_why(text, cause):
    found = read_actions(setup(), said(text), native=False)

    assert isinstance(found, Unusable)
    assert cause in found.cause


def test_native_calls_come_in_the_order_sent():
    calls = (ToolCall("a", "look", '{"id": "A"}'), ToolCall("a", "look", '{"id": "B"}'))

    assert read_actions(setup(), said("", *calls), native=True) == Actions((look("A"), look("B")))


@pytest.mark.parametrize("arguments", ["", " \n"])
def test_empty_native_arguments_mean_none_and_are_said(arguments):
    found = read_actions(setup(), said("", ToolCall("a", "look", arguments)), native=True)

    assert found == Actions((Call("look", "{}"),), ("empty arguments were read as {}",))


@pytest.mark.parametrize(
    "arguments", ['{"id": "A', "[1]", '"A"', '{"id": NaN}', '{"id": "A", "id": "B"}', '{"id": 1,}']
)
def test_native_arguments_that_are_no_json_object_are_unusable(arguments):
    calls = (ToolCall("a", "look", '{"id": "A"}'), ToolCall("b", "change", arguments))
    found = read_actions(setup(), said("", *calls), native=True)

    assert isinstance(found, Unusable)
    assert "the arguments of call 2 ('change') cannot be used" in found.cause


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("how", [{"finish_reason": "length"}, {"finish_reason": "stop", "usage": Usage(output=32)}])
def test_a_reply_that_was_cut_off_is_unusable_even_if_it_parses(native, how):
    text, calls = ("", (ToolCall("a", "look", '{"id": "A"}'),)) if native else ('{"finish": "done"}', ())
    found = read_actions(setup(), said(text, *calls, **how), native=native, limit=32)

    assert isinstance(found, Unusable)
    assert "cut off" in found.cause


def test_native_text_is_a_reply_where_there_is_a_user_and_a_finish_elsewhere():
    assert read_actions(setup(replies=True), said("Hello"), native=True) == Actions((Reply("Hello"),))
    assert read_actions(setup(), said("<think>so</think> Done"), native=True) == Actions((Finish("Done"),), (THOUGHTS,))


@pytest.mark.parametrize("text", ["", " ", "<think>so</think>\n"])
def test_a_native_reply_without_call_or_text_is_unusable_whatever_its_finish_reason(text):
    found = read_actions(setup(), said(text, finish_reason="tool_calls"), native=True)

    assert found == Unusable(
        "the reply is empty: neither a tool call nor text, though its finish reason says tool_calls"
    )


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "x"}\n</tool_call>',
        "<function=look>",
        "[TOOL_CALLS] []",
        'I call {"name": "look", "arguments": {"id": "A"}}',
    ],
)
def test_text_that_looks_like_a_call_stays_text_and_is_said(text):
    assert read_actions(setup(), said(text), native=True) == Actions((Finish(text),), (LIKE_A_CALL,))


def test_text_that_only_speaks_of_names_is_not_taken_for_a_call():
    text = 'The record is {"name": "Ada", "arguments": "none"}; I did look.'

    assert read_actions(setup(), said(text), native=True) == Actions((Finish(text),))


def test_text_beside_a_finish_reason_that_promised_calls_is_said():
    found = read_actions(setup(), said("Done", finish_reason="tool_calls"), native=True)

    assert found == Actions((Finish("Done"),), ("text although the finish reason says tool_calls",))


@pytest.mark.parametrize("name", ["change<|channel|>commentary", "query_register"])
def test_an_unknown_name_is_kept_as_sent_is_a_write_and_is_objected_to(name):
    found = read_actions(setup(), said("", ToolCall("a", name, "{}")), native=True)

    assert found == Actions((Call(name, "{}"),))
    assert setup().effect(found.actions[0]) is Effect.WRITE
    assert objection(setup(), found.actions[0]).startswith(f"no tool is named {name!r}")


def test_revision_1_takes_a_fence_silently_and_native_arguments_as_they_came():
    calls = (ToolCall("a", "look", ""), ToolCall("b", "look", '{"id": "A'), ToolCall("c", "look", " "))
    native = read_actions(REVISION_1, said("", *calls, finish_reason="length"), native=True, limit=1)

    assert native == Actions((Call("look", "{}"), Call("look", '{"id": "A'), Call("look", " ")))
    assert read_actions(REVISION_1, said(FENCED, finish_reason="length"), native=False) == Actions((Finish("done"),))
    assert read_actions(REVISION_1, said('{"finish": "x",}'), native=False) == Actions((Finish("x"),))


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("", "expected one JSON object, found ''"),
        ('{"tool": "look", "arguments": {"id": "A"}', "the JSON object is cut off"),
        ('{"finish": "a\\q"}', "not JSON: Invalid \\escape at character 13"),
    ],
)
def test_revision_1_words_its_causes_as_it_did(text, cause):
    found = read_actions(REVISION_1, said(text), native=False)

    assert isinstance(found, Unusable)
    assert found.cause.startswith(cause)


def test_arguments_are_checked_without_ever_fetching_a_schema():
    remote = '{"$ref": "http://127.0.0.1:9/schema.json"}'

    assert arguments_objection(SCHEMA, '{"id": "A"}') is None
    assert arguments_objection(SCHEMA, '{"id": 3}') == "argument id: 3 is not of type 'string'"
    assert "not a JSON object" in (arguments_objection(SCHEMA, '["id"]') or "")
    assert "schema cannot be used" in (arguments_objection(remote, '{"id": "A"}') or "")


@pytest.mark.parametrize(
    "schema",
    [
        "[]",
        "7",
        '{"type": "objekt"}',
        '{"required": 3}',
        '{"properties": {"id": 3}}',
        '{"properties": {"id": {"pattern": "("}}}',
        '{"minProperties": "x"}',
    ],
)
def test_a_schema_that_is_none_is_an_objection_and_never_an_error_of_ours(schema):
    assert "the tool's own schema cannot be used" in (arguments_objection(schema, '{"id": "A"}') or "")
