import pytest

from spectrace.core.digest import canonical, digest
from spectrace.errors import NewerSchema, StoreError
from spectrace.store.blobs import TextReferences
from spectrace.store.texts import HEAD_BYTES, HEAD_CHARS, MARK, Head, fill, fill_heads, holes

LONG = "x" * 300
NAME = digest(LONG.encode())


def found_in(value):
    found = []
    holes(value, found)
    return found


def test_a_text_is_put_back_wherever_a_body_refers_to_it():
    reference = {"$blob": NAME}
    value = {"a": [reference, {"b": reference}], "c": NAME, "d": {"e": [[]], "f": None}}
    fill(found_in(value), lambda _: {NAME: LONG.encode()})

    assert value == {"a": [LONG, {"b": LONG}], "c": NAME, "d": {"e": [[]], "f": None}}


@pytest.mark.parametrize(
    "value",
    [
        {"a": {"$blob": NAME}, "b": {"c": {"d": [1]}}},
        [{"$blob": NAME}, {"b": [{"$blob": NAME}]}, {"c": {"$blob": NAME}}],
        {"a": "$blob", "b": [{"c": {"$blob": NAME}}]},
        {"a": "$blob", "$blob": 7},
    ],
)
def test_a_search_that_knows_how_many_there_are_finds_the_same(value):
    found = []
    holes([0, value], found)
    known = found[:1]  # of another body
    holes([0, value], known, canonical(value).count(MARK))

    assert known == found[:1] + found


def test_every_text_is_asked_for_once():
    asked = []
    value = [{"$blob": NAME}, {"$blob": NAME}]
    fill(found_in(value), lambda digests: asked.append(digests) or {NAME: LONG.encode()})

    assert asked == [{NAME}]


def test_nothing_is_asked_for_where_nothing_is_missing():
    fill(found_in({"a": 1}), lambda _: pytest.fail("asked for"))


@pytest.mark.parametrize("text", ["\ud800", "a" * 300 + "\udc80", "é" * 200])
def test_a_text_comes_back_exactly(text):
    texts = TextReferences()
    value = [texts.refer(text)]
    blobs = {f"sha256:{name.hex()}": data for name, data in texts.take().blobs.items()}
    fill(found_in(value), lambda _: blobs)

    assert value == [text]


def test_where_one_text_is_missing_none_is_put_back():
    value = [{"$blob": NAME}, {"$blob": "sha256:" + "0" * 64}]
    with pytest.raises(StoreError, match=r"blob sha256:0+ is missing"):
        fill(found_in(value), lambda _: {NAME: LONG.encode()})

    assert value == [{"$blob": NAME}, {"$blob": "sha256:" + "0" * 64}]


def test_an_altered_text_is_refused():
    with pytest.raises(StoreError, match="holds other bytes than its name says"):
        fill(found_in([{"$blob": NAME}]), lambda _: {NAME: b"other"})


def test_bytes_that_are_no_text_are_refused():
    name = digest(b"\xff")

    with pytest.raises(StoreError, match="referred to as utf-8 text but is not"):
        fill(found_in([{"$blob": name}]), lambda _: {name: b"\xff"})


def test_a_codec_of_a_later_spectrace_is_named():
    with pytest.raises(NewerSchema, match="codec 'utf-99'"):
        fill(found_in([{"$blob": NAME, "codec": "utf-99"}]), lambda _: {NAME: LONG.encode()})


def test_a_beginning_says_of_what_it_is_the_beginning():
    data = "é" * 10_000
    value = [{"$blob": NAME}]
    fill_heads(found_in(value), lambda _: {NAME: Head(data.encode()[: HEAD_BYTES + 1], 20_000)})

    assert value == [f"{'é' * HEAD_CHARS}… (20,000 bytes in all, {NAME})"]


def test_a_beginning_that_is_all_of_it_says_nothing_more():
    value = [{"$blob": NAME}]
    fill_heads(found_in(value), lambda _: {NAME: Head(LONG.encode(), 300)})

    assert value == [LONG]


def test_a_missing_beginning_is_named():
    with pytest.raises(StoreError, match=f"blob {NAME} is missing"):
        fill_heads(found_in([{"$blob": NAME}]), lambda _: {})


def test_the_mark_stands_in_every_body_that_refers_and_in_no_text():
    assert (MARK in b'{"a":{"$blob":"sha256:1"}}', MARK in b'{"a":"{\\"$blob\\":1}"}') == (True, False)
