import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectrace.interchange import json_lines
from spectrace.interchange.json_lines import Lines, Place, Torn, Whole, read_lines
from spectrace.store.rows import Damage


def read(value):
    if "a" not in value:
        raise Damage("an object without a")
    return value["a"]


def lines(data: bytes) -> list[Lines]:
    return list(read_lines(io.BytesIO(data), read))


def pieces(data: bytes) -> list:
    return [
        (type(piece).__name__, piece.place.line, piece.place.offset, piece.place.length)
        for line in lines(data)
        for piece in line.pieces
    ]


def test_each_line_is_a_record_with_its_place():
    assert lines(b'{"a":1}\n{"a":"\xc3\xa9"}\n') == [
        Lines((Whole(Place(1, 0, 7), 1),), cut=False),
        Lines((Whole(Place(2, 8, 10), "é"),), cut=False),
    ]


def test_a_mark_other_line_ends_and_blank_lines_say_nothing():
    data = b'\xef\xbb\xbf{"a":1}\r\n\r\n  \n{"a":2}'

    assert [(piece.record, piece.place) for line in lines(data) for piece in line.pieces] == [
        (1, Place(1, 3, 7)),
        (2, Place(4, 17, 7)),
    ]


@pytest.mark.parametrize("cut", range(1, 12))
def test_half_a_record_is_cut_wherever_it_stops(cut):
    found = lines(b'{"a":1}\n' + b'{"a":"\xc3\xa9 x"}'[:cut])

    assert [line.cut for line in found] == [False, True]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"[1,2]", "JSON that is a list, not an object"),
        (b"5", "JSON that is a number, not an object"),
        (b'{"b":1}', "an object without a"),
        (b'{"a":"\xff"}', "not UTF-8 text: its byte 6 is 0xff"),
        (b"\0" * 400, "400 NUL bytes, the first at its byte 0"),
        (b'{"a":"x\0y"}', "1 NUL bytes, the first at its byte 7"),
        (b'{"a":NaN}', "cut off, or no JSON"),
        (b"{'a':1}", "cut off, or no JSON"),
        (b"a,b,c", "cut off, or no JSON"),
    ],
)
def test_what_is_no_record_is_said_with_line_offset_and_bytes(line, said):
    (_, torn, _) = lines(b'{"a":1}\n' + line + b'\n{"a":2}\n')
    (piece,) = torn.pieces

    assert isinstance(piece, Torn)
    assert (piece.place, piece.head) == (Place(2, 8, len(line)), line[:200])
    assert said in piece.why


def test_a_record_that_was_glued_to_half_of_another_is_found():
    assert pieces(b'{"a":1}\n{"a":"he{"a":3}\n{"a":4}\n') == [
        ("Whole", 1, 0, 7),
        ("Torn", 2, 8, 8),
        ("Whole", 2, 16, 7),
        ("Whole", 3, 24, 7),
    ]


def test_records_without_a_line_break_between_them_are_found():
    assert pieces(b'{"a":1}{"a":2}garbage{"a":3}\n') == [
        ("Whole", 1, 0, 7),
        ("Whole", 1, 7, 7),
        ("Torn", 1, 14, 7),
        ("Whole", 1, 21, 7),
    ]


def test_a_line_with_a_whole_record_in_it_is_not_cut():
    assert [line.cut for line in lines(b'{"a":"he{"a":3}')] == [False]


@pytest.mark.parametrize("tail", [b'{"a":"x' + b"\0" * 400, b"\0" * 400])
def test_zeroes_in_place_of_the_end_are_a_cut_end(tail):
    assert [line.cut for line in lines(b'{"a":1}\n' + tail)] == [False, True]


@pytest.mark.parametrize("tail", [b"[1,2", b"garbage", b'{"b":1}', b"[1,2]", b'{"a":"\xff"', b'\0{"a":1'])
def test_another_thing_at_the_end_is_not_a_cut_end(tail):
    assert [line.cut for line in lines(b'{"a":1}\n' + tail)] == [False, False]


def test_a_line_that_no_record_can_have_is_not_read_into_memory(monkeypatch):
    monkeypatch.setattr(json_lines, "MAX_LINE_BYTES", 100)
    found = pieces(b'{"a":1}\n' + b"x" * 950 + b'\n{"a":2}\n')

    assert found == [("Whole", 1, 0, 7), ("Torn", 2, 8, 951), ("Whole", 3, 959, 7)]


def test_a_line_of_brackets_takes_no_time():
    found = lines(b'{"' * 200_000 + b"\n")

    assert [line.cut for line in found] == [True]


def test_nesting_beyond_every_parser_is_damage_not_a_crash():
    found = lines(b'{"a":' * 100_000 + b"\n" + b'{"a":1}\n')

    assert [type(line.pieces[-1]).__name__ for line in found] == ["Torn", "Whole"]


@given(st.binary(max_size=300))
def test_every_byte_is_in_some_piece_or_is_white_space(data):
    covered = bytearray(len(data))
    for line in lines(data):
        for piece in line.pieces:
            covered[piece.place.offset : piece.place.offset + piece.place.length] = b"x" * piece.place.length
    left = bytes(byte for byte, seen in zip(data, covered, strict=True) if not seen)

    assert left.removeprefix(b"\xef\xbb\xbf").strip(b" \t\r\n") == b""
