import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_server import chunks, completion

from spectrace.core.types import Message, ToolCall, Usage
from spectrace.models import chat
from spectrace.models.calls import InvalidReply
from spectrace.models.stream import ChatStream, StreamBroken, StreamFailed

HELLO = chunks({"role": "assistant", "content": "hé"}, {"content": "llo 😀"})
CALL = chunks(
    {"reasoning_content": "hm"},
    {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "look", "arguments": '{"id":'}}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": ' "W1"}'}}]},
    finish="tool_calls",
)


def read(pieces):
    stream = ChatStream()
    for piece in pieces:
        stream.feed(piece.encode() if isinstance(piece, str) else piece)
    return stream.reply()


def event(**body):
    return f"data: {json.dumps(body)}\n\n"


def test_a_streamed_reply_is_the_unstreamed_one():
    whole = {**completion("héllo 😀"), "system_fingerprint": None}

    assert_same(read(HELLO), chat.read_body(whole))


def assert_same(streamed, whole):
    for name in ("message", "reasoning", "finish_reason", "model", "usage", "provider_id", "anomalies"):
        assert getattr(streamed, name) == getattr(whole, name), name


def test_reasoning_and_calls_are_put_together():
    reply = read(CALL)

    assert reply.message == Message("assistant", "", (ToolCall("c1", "look", '{"id": "W1"}'),))
    assert (reply.reasoning, reply.finish_reason, reply.anomalies) == ("hm", "tool_calls", ())


@pytest.mark.parametrize("stream", [HELLO, CALL])
@given(st.data())
def test_how_the_bytes_are_split_never_matters(stream, data):
    text = "".join(stream).encode()
    at = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=20)))
    pieces = [text[start:stop] for start, stop in zip([0, *at], [*at, len(text)], strict=True)]

    assert read(pieces) == read([text])


def test_every_single_byte_may_come_alone():
    text = "".join(CALL).encode()

    assert read([bytes([byte]) for byte in text]) == read([text])


@given(st.data())
def test_a_stream_that_stops_anywhere_is_whole_or_no_reply(data):
    text = "".join(chunks({"content": "hello"}, finish="stop")).encode()
    stop = data.draw(st.integers(0, len(text)))
    finished = text.index(b'"finish_reason": "stop"')

    try:
        reply = read([text[:stop]])
    except StreamBroken:
        assert stop < text.index(b"}]}", finished) + len(b"}]}")
    else:
        assert (reply.message.content, reply.finish_reason) == ("hello", "stop")


def test_a_cut_stream_is_no_reply_and_what_arrived_can_be_read():
    stream = ChatStream()
    stream.feed("".join(chunks({"content": "Hel"}, {"content": "lo"}, finish=None, done=False)).encode())

    with pytest.raises(StreamBroken, match="without a finish reason"):
        stream.reply()
    assert stream.partial_text() == "Hello"


def test_the_last_mark_alone_ends_a_reply():
    assert read(chunks({"content": "x"}, finish=None)).finish_reason is None


def test_a_reply_without_the_last_mark_is_whole_and_noted():
    assert read(chunks({"content": "x"}, done=False)).anomalies == ("the stream ended without [DONE]",)


@pytest.mark.parametrize(
    ("reasons", "stands", "told"),
    [
        (["length", "stop"], "length", "'length', 'stop'"),
        ([["x"], "stop"], 'not text: ["x"]', """'not text: ["x"]', 'stop'"""),
        ([{"type": "length"}, "tool_calls"], "length", "'length', 'tool_calls'"),
    ],
)
def test_a_later_finish_reason_does_not_cover_a_cut(reasons, stands, told):
    ends = [event(choices=[{"index": 0, "delta": {}, "finish_reason": reason}]) for reason in reasons]
    reply = read([*chunks({"content": "x"}, finish=None, done=False), *ends, "data: [DONE]\n\n"])

    assert (reply.finish_reason, reply.anomalies[0]) == (stands, f"the stream told 2 finish reasons: {told}")


def test_a_placeholder_without_a_reason_takes_none_away():
    ends = [event(choices=[{"index": 0, "delta": {}, "finish_reason": reason}]) for reason in ("stop", None, "")]

    assert read([*ends, "data: [DONE]\n\n"]).finish_reason == "stop"


def test_an_empty_finish_reason_ends_no_stream():
    with pytest.raises(StreamBroken):
        read([event(choices=[{"index": 0, "delta": {"content": "x"}, "finish_reason": ""}])])


def test_a_first_token_is_of_text_reasoning_or_a_call():
    role, text = chunks({"role": "assistant", "content": ""}, {"content": "x"})[:2]
    stream = ChatStream()
    stream.feed(role.encode())
    before = stream.begun
    stream.feed(text.encode())

    assert (before, stream.begun) == (False, True)


@pytest.mark.parametrize(
    ("usages", "read_as"),
    [
        ([{"prompt_tokens": 1}, {"prompt_tokens": 3}], 3),
        ([{"prompt_tokens": 3}, None], 3),
        ([{"prompt_tokens": 3}, {"prompt_tokens": None}], 3),
        ([None, {}], None),
    ],
)
def test_usage_is_the_latest_total_and_never_added_up(usages, read_as):
    tail = [event(choices=[], usage=usage) for usage in usages]

    assert read([*chunks({"content": "x"}, done=False)[:2], *tail]).usage == Usage(input=read_as)


def test_what_comes_after_the_last_mark_is_not_read():
    assert read([*HELLO, event(error="late")]) == read(HELLO)


def test_another_choice_is_left_out_and_noted():
    other = event(choices=[{"index": 1, "delta": {"content": "no"}, "finish_reason": None}])
    reply = read([other, other, *HELLO])

    assert (reply.message.content, reply.anomalies) == ("héllo 😀", ("a choice numbered 1 was left out",))


def test_a_call_in_its_former_shape_is_noted():
    piece = event(choices=[{"index": 0, "delta": {"function_call": {"name": "look"}}}])

    assert read([piece, piece, *HELLO]).anomalies == (chat.FORMER_CALL,)


def test_other_members_of_chunks_are_kept():
    reply = read([event(choices=[{"delta": {"content": "x"}, "matched_stop": 7}], metadata={"v": 1}), *HELLO[2:]])

    assert (reply.body["metadata"], reply.choice["matched_stop"]) == ({"v": 1}, 7)


@pytest.mark.parametrize(
    "failing",
    [
        event(error={"message": "upstream died", "code": 502}),
        'event: error\ndata: {"message": "upstream died"}\n\n',
        '{"error": {"message": "upstream died"}}\n',
    ],
)
def test_an_error_inside_the_stream_is_the_servers(failing):
    with pytest.raises(StreamFailed, match="upstream died"):
        read([HELLO[0], failing])


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        (["data: {\n\n"], "it is not JSON, in a chunk"),
        (["data: [1]\n\n"], "not a JSON object"),
        ([event(choices={"a": 1})], "choices of a chunk are dict"),
        ([event(choices=[3])], "a choice of a chunk is int"),
        ([event(choices=[{"delta": {"tool_calls": {"a": 1}}}])], "tool_calls of a chunk are dict"),
        ([event(choices=[{"delta": {"content": 3}}])], "content is int"),
    ],
)
def test_a_stream_that_breaks_the_api_is_invalid(pieces, words):
    with pytest.raises(InvalidReply, match=words):
        read(pieces)


def test_an_unfinished_call_can_be_shown():
    stream = ChatStream()
    stream.feed("".join(CALL[:2]).encode())

    assert stream.partial_text() == 'look {"id":'
