"""Canonical bytes against an independent RFC 8785 implementation; links against the formula."""

import hashlib
from dataclasses import replace

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from spectrace.core.digest import (
    body_proof,
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


@given(st.text())
def test_text_bytes_keep_every_text_lone_surrogates_too(text):
    data, codec = text_bytes(text)

    assert data.decode("utf-8", "surrogatepass") == text
    assert (codec == "wtf-8") == any(0xD800 <= ord(c) <= 0xDFFF for c in text)


def test_a_task_has_a_digest_whatever_its_text_and_each_part_counts():
    tasks = [Task("a", "b", "{}"), Task("ab", "", "{}"), Task("a", "b", "[]"), Task("\ud800", "b", "{}")]

    assert len({task_digest(task) for task in tasks}) == len(tasks)


def test_tools_have_a_digest_of_what_models_see_and_of_their_effects():
    tool = ToolSpec("f", "\ud800", "{}")
    seen = [(tool,), (), (tool, tool), (replace(tool, name="g"),), (replace(tool, effect=Effect.READ),)]

    assert len({tools_digest(tools) for tools in seen}) == len(seen)
    assert tools_digest((replace(tool, effect_by="declared"),)) == tools_digest((tool,))
