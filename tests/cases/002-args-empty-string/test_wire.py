"""Case 002, the wire: empty arguments keep their exact text, and go back as the object that they mean."""

import json
from pathlib import Path

import pytest

from spectrace.core.types import Message, ModelRequest
from spectrace.models import chat
from tests.wire import received

CASE = Path(__file__).parent
TEXTS = {"response.json": "", "response_whitespace.json": " \n", "response_required_missing.json": ""}


@pytest.mark.parametrize("name", json.loads((CASE / "expected.json").read_text()))
def test_the_raw_text_is_kept_and_an_object_goes_back(name):
    answer = received(CASE / name)
    body = chat.request_body("m", ModelRequest((Message("assistant", "", answer.message.calls),)), {}, constrained=True)

    assert [call.arguments for call in answer.message.calls] == [TEXTS[name]]
    assert body["messages"][0]["tool_calls"][0]["function"]["arguments"] == "{}"
