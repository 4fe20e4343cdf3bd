"""Case 018, the wire: two calls of one tool are two calls in the order sent, streamed or not."""

import json
from pathlib import Path

import pytest

from tests.wire import received_text

CASE = Path(__file__).parent
BODY = json.loads((CASE / "response.json").read_text())
EXPECTED = json.loads((CASE / "expected.json").read_text())["steps"]


def streamed():
    """Return the same reply as a stream, each call in one chunk."""
    calls = BODY["choices"][0]["message"]["tool_calls"]
    deltas = [{"tool_calls": [{"index": index, **call}]} for index, call in enumerate(calls)]
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": "tool_calls"})
    return "".join(f"data: {json.dumps({'choices': [choice]})}\n\n" for choice in choices) + "data: [DONE]\n\n"


@pytest.mark.parametrize("name", ["response.json", "response.sse"])
def test_both_calls_are_there_in_order(name):
    answer = received_text(streamed() if name.endswith(".sse") else json.dumps(BODY), name)

    assert [{"name": call.name, "arguments": json.loads(call.arguments)} for call in answer.message.calls] == EXPECTED
    assert answer.server is None
