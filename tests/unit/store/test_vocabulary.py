from dataclasses import fields

import pytest

from spectrace.core import types
from spectrace.core.admin_events import ErasedRange
from spectrace.core.events import HEADER_FIELDS, TYPE_NUMBERS, Parent, Totals
from spectrace.store.vocabulary import BY_CLASS, BY_TYPE, COUNT, DIGEST, EVERYWHERE, one_of, or_null

BY_NAME = {cls.TYPE: cls for cls in TYPE_NUMBERS}
NESTED = {"ErasedRange": ErasedRange, "ModelFacts": types.ModelFacts, "Parent": Parent, "Totals": Totals}


@pytest.mark.parametrize(("type_", "field"), BY_TYPE)
def test_each_closed_field_exists(type_, field):
    assert field in {one.name for one in fields(BY_NAME[type_])}


@pytest.mark.parametrize(("name", "field"), BY_CLASS)
def test_each_closed_field_of_an_inner_value_exists(name, field):
    assert field in {one.name for one in fields(NESTED[name])}


@pytest.mark.parametrize("field", EVERYWHERE)
def test_each_common_field_is_used(field):
    assert any(field in {one.name for one in fields(cls)} for cls in TYPE_NUMBERS)


@pytest.mark.parametrize("cls", TYPE_NUMBERS, ids=lambda cls: cls.TYPE)
def test_every_header_field_but_the_tool_is_closed(cls):
    lifted = {one.name for one in fields(cls)} & set(HEADER_FIELDS) - {"tool"}

    assert all(name in EVERYWHERE or (cls.TYPE, name) in BY_TYPE for name in lifted)


def test_null_fits_beside_a_type_several_types_words_and_choices():
    assert [
        or_null(schema) for schema in (COUNT, {"type": ["string", "object"]}, one_of("a"), {"anyOf": [DIGEST]})
    ] == [
        {**COUNT, "type": ["integer", "null"]},
        {"type": ["string", "object", "null"]},
        {"anyOf": [{"enum": ["a"]}, {"type": "null"}]},
        {"anyOf": [DIGEST, {"type": "null"}]},
    ]
