"""Case 011, the wire: a reply that used up its tokens is marked although it claims to be whole; its text is kept."""

import json
from pathlib import Path

from spectrace.core.types import Message, ModelRequest
from spectrace.models import chat
from tests.wire import received

CASE = Path(__file__).parent
LIMIT = json.loads((CASE / "request.json").read_text())["max_tokens"]
ASKED = ModelRequest((Message("user", "hi"),), parameters=json.dumps({"max_tokens": LIMIT}))


def test_a_wrong_finish_reason_does_not_hide_that_the_tokens_were_used_up():
    answer = received(CASE / "unterminated.json", ASKED)

    assert json.loads(answer.server)["anomalies"] == [
        f"the reply has as many tokens as its limit ({LIMIT}): it may be cut off"
    ]
    assert answer.message.calls[0].arguments == '{"loan_id": 5001, "da'


def test_a_reply_that_says_itself_that_it_was_cut_is_not_odd():
    answer = received(CASE / "cut_but_parses.json", ASKED)

    assert (answer.finish_reason, answer.server) == ("length", None)


def test_broken_json_is_never_sent_back():
    calls = received(CASE / "unterminated.json", ASKED).message.calls
    body = chat.request_body("m", ModelRequest((Message("assistant", "", calls),)), {}, constrained=True)

    assert json.loads(body["messages"][0]["tool_calls"][0]["function"]["arguments"]) == {
        "not_json": '{"loan_id": 5001, "da'
    }
