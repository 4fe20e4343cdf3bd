import json

import pytest
from tau2_files import calls, result, says

from spectrace.core.types import Message, ToolCall, Usage
from spectrace.interchange import losses
from spectrace.interchange.tau2_messages import microseconds, paired, read_messages, results_after


def read(*messages):
    lost = set()
    return read_messages(json.dumps(messages), lost), lost


def test_arguments_keep_their_exact_text():
    text = '[{"role": "assistant", "tool_calls": [{"id": "c", "name": "f", "arguments": {"b":1.50,  "a": NaN}}]}]'

    (said,) = read_messages(text, set())

    assert said.message == Message("assistant", "", (ToolCall("c", "f", '{"b":1.50,  "a": NaN}'),))


def test_arguments_filed_as_a_string_are_that_string():
    (said,), _ = read(calls(("c", "f", '{"a": 1}')))

    assert said.calls == (ToolCall("c", "f", '{"a": 1}'),)


def test_a_tool_result_is_read_with_its_flag():
    (good, bad), lost = read(result("c1", "ok"), result("c2", "no", error=True))

    assert [good.message, good.error, bad.error] == [Message("tool", "ok", call_id="c1"), False, True]
    assert lost == set()


def test_a_result_without_a_flag_is_an_error_where_it_says_so():
    found, lost = read(result("c1", "Error: no such order", error=None), result("c2", "[]", error=None))

    assert [said.error for said in found] == [True, False]
    assert lost == {losses.NO_ERROR_FLAGS}


def test_unknown_token_counts_stay_unknown():
    found, _ = read(
        says("a", usage={"prompt_tokens": 5, "completion_tokens": 2}),
        says("b", usage={"prompt_tokens": None}),
        says("c"),
    )

    assert [said.usage for said in found] == [Usage(input=5, output=2), Usage(), None]


def test_times_without_a_zone_are_utc_and_said_to_be():
    lost = set()

    assert microseconds("1970-01-02T00:00:00.000001", lost) == 86_400_000_001
    assert lost == {losses.NAIVE_TIMES}


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1970-01-01T02:00:00+02:00", 0), ("1970-01-01T00:00:01Z", 10**6), ("soon", None), (None, None)],
)
def test_times_with_a_zone_are_converted(text, expected):
    lost = set()

    assert microseconds(text, lost) == expected
    assert lost == set()


def test_content_that_is_not_text_is_kept_as_its_json():
    (said,), lost = read(says([{"type": "text", "text": "a"}]))

    assert (said.content, lost) == ('[{"type": "text", "text": "a"}]', {losses.CONTENT_NOT_TEXT})


def test_results_are_paired_by_id_never_by_place():
    found, _ = read(calls(("c1", "f", {}), ("c2", "g", {})), result("c2", "two"), result("c1", "one"), says("x"))
    lost = set()

    results = results_after(found, 0)

    assert [one.content for one in paired(found[0].calls, results, lost)] == ["one", "two"]
    assert lost == {losses.RESULTS_OUT_OF_ORDER}


def test_equal_ids_are_answered_in_order():
    found, _ = read(calls(("c", "f", {}), ("c", "f", {})), result("c", "one"), result("c", "two"))
    lost = set()

    assert [one.content for one in paired(found[0].calls, found[1:], lost)] == ["one", "two"]
    assert lost == set()


def test_a_result_of_no_call_and_a_call_of_no_result_stay_apart():
    found, _ = read(calls(("c1", "f", {})), result("c9", "whose?"))
    lost = set()

    assert paired(found[0].calls, found[1:], lost) == [None]
    assert lost == {losses.RESULT_WITHOUT_CALL}


def test_the_rest_of_a_message_is_all_that_no_event_holds():
    message = calls(("c", "f", {}), cost=0.5, turn_idx=3, raw_data=None)
    message["tool_calls"][0]["confidence"] = 1.0
    (said,), _ = read(message)

    assert said.rest(whole=False) == {"cost": "0.5", "turn_idx": "3", "tool_calls": '[{"confidence":1.0}]'}
    assert said.rest(whole=True)["role"] == '"assistant"'
