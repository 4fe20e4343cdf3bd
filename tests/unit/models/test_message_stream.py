import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectrace.core.types import Message, ToolCall, Usage
from spectrace.models import anthropic_messages
from spectrace.models.calls import InvalidReply
from spectrace.models.message_stream import MessageStream
from spectrace.models.stream import StreamBroken, StreamFailed


def event(type_, **members):
    return f"event: {type_}\ndata: {json.dumps({'type': type_, **members})}\n\n"


def delta(index, kind, **members):
    return event("content_block_delta", index=index, delta={"type": kind, **members})


START = event("message_start", message={
    "id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "m-7", "stop_reason": None,
    "usage": {"input_tokens": 3, "cache_read_input_tokens": 7, "output_tokens": 1},
})  # fmt: skip
END = [
    event("message_delta", delta={"stop_reason": "tool_use", "stop_sequence": None}, usage={"output_tokens": 9}),
    event("message_stop"),
]
WHOLE = [
    START,
    event("content_block_start", index=0, content_block={"type": "thinking", "thinking": ""}),
    delta(0, "thinking_delta", thinking="hm"),
    delta(0, "signature_delta", signature="x"),
    event("content_block_stop", index=0),
    event("ping"),
    event("content_block_start", index=1, content_block={"type": "text", "text": ""}),
    delta(1, "text_delta", text="Hé"),
    delta(1, "text_delta", text="llo"),
    event("content_block_stop", index=1),
    event("content_block_start", index=2, content_block={"type": "tool_use", "id": "t1", "name": "look", "input": {}}),
    delta(2, "input_json_delta", partial_json=""),
    delta(2, "input_json_delta", partial_json='{"id":'),
    delta(2, "input_json_delta", partial_json=' "W1"}'),
    event("content_block_stop", index=2),
    *END,
]


def read(pieces):
    stream = MessageStream()
    for piece in pieces:
        stream.feed(piece.encode() if isinstance(piece, str) else piece)
    return stream.reply()


def test_a_streamed_message_is_the_unstreamed_one():
    whole = anthropic_messages.read_body({
        "id": "msg_1", "model": "m-7", "stop_reason": "tool_use",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "x"},
            {"type": "text", "text": "Héllo"},
            {"type": "tool_use", "id": "t1", "name": "look", "input": {"id": "W1"}},
        ],
        "usage": {"input_tokens": 3, "cache_read_input_tokens": 7, "output_tokens": 9},
    })  # fmt: skip

    streamed = read(WHOLE)

    for name in ("message", "reasoning", "finish_reason", "model", "usage", "provider_id", "anomalies"):
        assert getattr(streamed, name) == getattr(whole, name), name
    assert streamed.message == Message("assistant", "Héllo", (ToolCall("t1", "look", '{"id": "W1"}'),))
    assert streamed.usage == Usage(input=10, cached=7, output=9)


@given(st.data())
def test_how_the_bytes_are_split_never_matters(data):
    text = "".join(WHOLE).encode()
    at = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=20)))
    pieces = [text[start:stop] for start, stop in zip([0, *at], [*at, len(text)], strict=True)]

    assert read(pieces) == read([text])


@given(st.integers(0, len("".join(WHOLE).encode())))
def test_a_stream_that_stops_anywhere_is_whole_or_no_reply(stop):
    try:
        reply = read(["".join(WHOLE).encode()[:stop]])
    except StreamBroken:
        return

    assert reply.message == read(WHOLE).message


def test_a_call_without_pieces_has_the_input_of_its_beginning():
    begin = event(
        "content_block_start", index=0, content_block={"type": "tool_use", "id": "t", "name": "a", "input": {}}
    )

    assert read([START, begin, event("content_block_stop", index=0), *END]).message.calls == (ToolCall("t", "a", "{}"),)


def test_a_message_without_its_last_event_is_whole_and_noted():
    assert read(WHOLE[:-1]).anomalies == ("no message_stop came",)


@pytest.mark.parametrize(
    ("reasons", "stands", "told"),
    [
        (["max_tokens", "end_turn"], "max_tokens", "'max_tokens', 'end_turn'"),
        ([5, "end_turn"], "not text: 5", "'not text: 5', 'end_turn'"),
    ],
)
def test_a_later_stop_reason_does_not_cover_a_cut(reasons, stands, told):
    ends = [event("message_delta", delta={"stop_reason": reason}) for reason in reasons]
    reply = read([*WHOLE[:10], *ends, event("message_stop")])

    assert (reply.finish_reason, reply.anomalies[-1]) == (stands, f"the stream told 2 finish reasons: {told}")


def test_an_empty_stop_reason_ends_no_stream():
    with pytest.raises(StreamBroken):
        read([*WHOLE[:10], event("message_delta", delta={"stop_reason": ""})])


def test_a_cut_stream_is_no_reply_and_what_arrived_can_be_read():
    stream = MessageStream()
    stream.feed("".join(WHOLE[:13]).encode())

    with pytest.raises(StreamBroken, match="without a stop reason"):
        stream.reply()
    assert stream.partial_text() == 'Héllo\nlook {"id":'


@pytest.mark.parametrize(("events", "begun"), [(WHOLE[:2], False), (WHOLE[:3], True), ([START, WHOLE[10]], True)])
def test_a_first_token_is_of_text_reasoning_or_a_call(events, begun):
    stream = MessageStream()
    stream.feed("".join(events).encode())

    assert stream.begun is begun


@pytest.mark.parametrize(
    "failing",
    [event("error", error={"type": "overloaded_error", "message": "Busy"}), '{"error": {"message": "Busy"}}\n'],
)
def test_an_error_inside_the_stream_is_the_servers(failing):
    with pytest.raises(StreamFailed, match="Busy"):
        read([*WHOLE[:8], failing])


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        ([START, delta(0, "text_delta", text="x")], "for block 0, which is not open"),
        ([*WHOLE[:5], delta(0, "thinking_delta", thinking="x")], "for block 0, which is not open"),
        ([*WHOLE[:2], WHOLE[1]], "block 0 of its stream begins twice"),
        ([*WHOLE[:4], *END], "block 0 of its stream was never ended"),
        (["data: {\n\n"], "it is not JSON, in an event"),
        ([event("message_start")], "the message of an event is NoneType"),
    ],
)
def test_a_stream_that_breaks_the_api_is_invalid(pieces, words):
    with pytest.raises(InvalidReply, match=words):
        read(pieces)
