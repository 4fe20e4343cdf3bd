import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectrace.core.types import ToolCall
from spectrace.models.calls import Calls, InvalidReply, SentCall, canonical, json_object, read_calls, sendable_arguments


def test_a_call_is_kept_as_sent():
    assert read_calls([SentCall("c1", "look", '{"id":  1}')]) == Calls((ToolCall("c1", "look", '{"id":  1}'),), ())


def test_the_same_block_twice_is_one_call():
    sent = [SentCall("c1", "look", '{"a": 1, "b": 2}'), SentCall("c1", "look", '{"b":2,"a":1}')]

    read = read_calls(sent)

    assert read.calls == (ToolCall("c1", "look", '{"a": 1, "b": 2}'),)
    assert read.anomalies == ("call 2: the same block as before (id 'c1'), counted once",)


@pytest.mark.parametrize("other", ['{"a": true}', '{"a": 1.0}', '{"a": "1"}', "{}", "{broken"])
def test_one_id_for_two_actions_makes_two_calls_with_two_ids(other):
    read = read_calls([SentCall("c1", "look", '{"a": 1}'), SentCall("c1", "look", other)])

    assert [(call.id, call.arguments) for call in read.calls] == [("c1", '{"a": 1}'), ("synthetic_2", other)]
    assert read.anomalies == ("call 2: id 'c1' is another call's; 'synthetic_2' was made from its position",)


def test_two_equal_calls_without_ids_are_two_calls():
    read = read_calls([SentCall("", "look", "{}"), SentCall(None, "look", "{}")])

    assert [call.id for call in read.calls] == ["synthetic_1", "synthetic_2"]
    assert read.anomalies == (
        "call 1: it has no id; 'synthetic_1' was made from its position",
        "call 2: it has no id; 'synthetic_2' was made from its position",
    )


def test_an_object_is_nothing_odd_where_the_dialect_sends_objects():
    assert read_calls([SentCall("c1", "look", {"id": 1})], objects=True) == Calls(
        (ToolCall("c1", "look", '{"id": 1}'),), ()
    )


def test_a_number_beyond_json_is_refused():
    with pytest.raises(InvalidReply, match="a number that JSON cannot express"):
        read_calls([SentCall("c1", "look", json.loads('{"n": 1e400}'))])


IDS = st.sampled_from(["", "a", "b", "synthetic_1", "synthetic_2"]) | st.none()
SENT = st.builds(SentCall, IDS, st.sampled_from(["look", "pay"]), st.sampled_from(["", "{}", '{"a": 1}', "{"]))


@given(st.lists(SENT, max_size=6))
def test_ids_are_distinct_and_the_same_for_the_same_calls(sent):
    read = read_calls(sent)

    ids = [call.id for call in read.calls]
    assert len(set(ids)) == len(ids)
    assert read == read_calls(sent)


@given(st.lists(SENT, max_size=6))
def test_reading_what_was_read_changes_nothing(sent):
    calls = read_calls(sent).calls

    assert read_calls([SentCall(call.id, call.name, call.arguments) for call in calls]) == Calls(calls, ())


@given(st.text() | st.recursive(st.none() | st.booleans() | st.integers(), st.lists).map(json.dumps))
def test_what_is_sent_of_past_arguments_is_always_an_object(text):
    assert json_object(sendable_arguments(text)) is not None


@pytest.mark.parametrize("text", ["[]", "1", "", "{", '{"n": NaN}', "[" * 100_000])
def test_what_is_no_object_of_json_is_none(text):
    assert json_object(text) is None


def test_canonical_text_ignores_layout_and_order():
    assert canonical('{"b": [1,2], "a": null}') == canonical('{ "a":null,"b":[1, 2]}')
