import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectrace.models.sse import Events


def read(*pieces):
    events = Events()
    return [data for piece in pieces for data in events.feed(piece)] + list(events.end())


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_lines_end_in_three_ways(end):
    assert read(b"data: a" + end + b"data: b" + end + end + b"data: c" + end + end) == ["a\nb", "c"]


def test_comments_names_and_a_byte_order_mark_are_no_data():
    assert read(b"\xef\xbb\xbf: ping\nevent: x\nid: 1\nretry: 3\ndata:  a\n\n") == [" a"]


def test_an_event_without_data_is_none():
    assert read(b"event: ping\n\n\n\ndata: a\n\n") == ["a"]


def test_the_last_event_needs_no_blank_line():
    assert read(b"data: a\n\ndata: [DONE]") == ["a", "[DONE]"]


def test_a_line_that_is_no_field_is_kept_for_the_message():
    events = Events()

    assert (list(events.feed(b'{"error": "no"}\n{"later": 1}\n')), events.stray) == ([], '{"error": "no"}')


LINES = st.lists(st.sampled_from([b"data: \xc3\xa9\xf0\x9f\x98\x80", b"data:x", b": c", b"event: e", b"", b"\xff"]))
ENDS = st.lists(st.sampled_from([b"\n", b"\r\n", b"\r"]), min_size=1)


@given(LINES, ENDS, st.data())
def test_how_the_bytes_are_split_never_matters(lines, ends, data):
    stream = b"".join(line + ends[at % len(ends)] for at, line in enumerate(lines))
    at = sorted(data.draw(st.lists(st.integers(0, len(stream)))))
    pieces = [stream[start:stop] for start, stop in zip([0, *at], [*at, len(stream)], strict=True)]

    assert read(*pieces) == read(stream)
