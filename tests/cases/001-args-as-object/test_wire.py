"""Case 001: arguments sent as an object are the step that the string form makes; what was sent stays readable."""

import json
from pathlib import Path

from spectrace.core.sameness import same_action
from spectrace.core.types import Call, Message, ModelRequest
from spectrace.models import chat
from tests.wire import received, received_text

CASE = Path(__file__).parent
TEXT = (CASE / "response.json").read_text()
(EXPECTED,) = json.loads((CASE / "expected.json").read_text())["steps"]


def as_text():
    body = json.loads(TEXT)
    function = body["choices"][0]["message"]["tool_calls"][0]["function"]
    return json.dumps({**body, "choices": [{**body["choices"][0], "message": {"tool_calls": [{
        "id": "call_1", "function": {**function, "arguments": json.dumps(function["arguments"], separators=(",", ":"))},
    }]}}]})  # fmt: skip


def test_the_step_is_that_of_the_string_form():
    (sent_as_object,) = received(CASE / "response.json").message.calls
    (sent_as_text,) = received_text(as_text(), "response.json").message.calls

    assert {"name": sent_as_object.name, "arguments": json.loads(sent_as_object.arguments)} == EXPECTED
    assert same_action(*[Call(call.name, call.arguments) for call in (sent_as_object, sent_as_text)])


def test_a_reader_sees_that_an_object_was_sent():
    said = json.loads(received(CASE / "response.json").server)

    assert said == {"anomalies": ["call 1: the arguments came as an object"], "raw": TEXT}


def test_it_goes_back_as_a_string():
    again = ModelRequest((Message("assistant", "", received(CASE / "response.json").message.calls),))
    (call,) = chat.request_body("m", again, {}, constrained=True)["messages"][0]["tool_calls"]

    assert call["function"] == {"name": "find_member", "arguments": '{"card": "20417"}'}
