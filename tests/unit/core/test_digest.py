"""Canonical bytes against an independent RFC 8785 implementation; links against the formula."""

import hashlib
from dataclasses import replace

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from spectrace.core.digest import (
    body_proof,
    bytes_text,
    canonical,
    first_link,
    header_bytes,
    link_over,
    next_link,
    task_digest,
    text_bytes,
    tools_digest,
)
from spectrace.core.types import Effect, Task, ToolSpec

# Keys below U+10000: RFC 8785 sorts by UTF-16, and no field of ours is named outside the basic plane.
KEYS = st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_canonical_bytes_are_rfc_8785(value):
    assert canonical(value) == rfc8785.dumps(value)


@pytest.mark.parametrize("value", [1.0, float("nan"), {"a": [0.5]}, b"x", {1, 2}])
def test_floats_and_foreign_types_are_refused(value):
    with pytest.raises(TypeError):
        canonical(value)


def test_integers_beyond_2_53_are_refused():
    with pytest.raises(TypeError):
        canonical({"n": 2**53 + 1})


def test_the_link_is_the_documented_formula():
    link = first_link("abc")
    assert link == hashlib.sha256(b"spectrace.v1" + b"abc").digest()

    expected = hashlib.sha256(link + hashlib.sha256(b"H").digest() + hashlib.sha256(b"S" + b"B").digest()).digest()
    assert next_link(link, b"H", b"S", b"B") == expected
    assert link_over(link, b"H", body_proof(b"S", b"B")) == expected


def test_a_header_is_an_array_of_its_ten_values():
    header = header_bytes("e", 3, "0.1", "act.requested", 1, 5, "write", "verdict:2", None, "pay")

    assert header == b'["e",3,"0.1","act.requested",1,5,"write","verdict:2",null,"pay"]'


# Half pairs of both kinds, halves that stand for bytes, and characters whose bytes those could spell.
ODD = st.text(st.sampled_from("a\0é🙂\ud835\udd00\udc80\udcc3\udca9\udced\udca0\udcb5\udcff"), max_size=8)


@given(st.text(st.characters()) | ODD)
def test_text_bytes_keep_every_text_lone_surrogates_too(text):
    data, codec = text_bytes(text)

    assert bytes_text(data, codec) == text
    assert (codec == "utf-8") == (not any(0xD800 <= ord(c) <= 0xDFFF for c in text))


@given(ODD, ODD)
def test_different_texts_have_different_bytes(one, other):
    assert (text_bytes(one)[0] == text_bytes(other)[0]) == (one == other)


@pytest.mark.parametrize(
    ("data", "codec"),
    [
        (b"ok \xff end", "bytes"),
        (b"\xc4\xe3\xba\xc3 \0", "bytes"),
        (b"ok \xc3\xa9", "utf-8"),
        (b"\xed\xa0\xb5 \xff", "bytes"),
    ],
)
def test_bytes_that_a_program_printed_are_kept_as_those_bytes(data, codec):
    assert text_bytes(data.decode("utf-8", "surrogateescape")) == (data, codec)


def test_bytes_that_look_like_half_a_pair_are_kept_apart_from_one():
    read, said = text_bytes(b"\xed\xa0\xb5".decode("utf-8", "surrogateescape")), text_bytes("\ud835")

    assert (read[1], said) == ("wtf-8", (b"\xed\xa0\xb5", "wtf-8"))
    assert read[0] != said[0]


def test_a_task_has_a_digest_whatever_its_text_and_each_part_counts():
    tasks = [Task("a", "b", "{}"), Task("ab", "", "{}"), Task("a", "b", "[]"), Task("\ud800", "b", "{}")]

    assert len({task_digest(task) for task in tasks}) == len(tasks)


def test_tools_have_a_digest_of_what_models_see_and_of_their_effects():
    tool = ToolSpec("f", "\ud800", "{}")
    seen = [(tool,), (), (tool, tool), (replace(tool, name="g"),), (replace(tool, effect=Effect.READ),)]

    assert len({tools_digest(tools) for tools in seen}) == len(seen)
    assert tools_digest((replace(tool, effect_by="declared"),)) == tools_digest((tool,))
