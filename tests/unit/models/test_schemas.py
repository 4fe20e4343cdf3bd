import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from playbook import setup

from spectrace.models.schemas import enforced, unwrapped, wrapped

TEXT = {"type": "string"}


def an_object(required=(), **properties):
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def test_a_schema_in_the_common_form_stays_as_it_is():
    schema = {
        "anyOf": [an_object(["a"], a={"type": "array", "items": TEXT}), {"$ref": "#/$defs/x"}],
        "$defs": {"x": TEXT},
    }

    assert enforced(schema, all_required=True) == schema


def test_a_constant_gets_its_type():
    assert enforced(an_object(["v"], v={"const": "accept"}), all_required=True)["properties"] == {
        "v": {"type": "string", "const": "accept"}
    }


def test_bounds_go_into_the_description():
    schema = {"type": "string", "minLength": 1, "description": "A name."}

    assert enforced(schema, all_required=True) == {"type": "string", "description": 'A name. {"minLength": 1}'}


def test_an_object_with_names_is_closed():
    assert enforced({"type": "object", "properties": {}}, all_required=True) == {
        "type": "object", "properties": {}, "additionalProperties": False
    }  # fmt: skip


def test_an_optional_property_can_be_enforced_only_where_the_provider_takes_one():
    schema = an_object([], a=TEXT)

    assert enforced(schema, all_required=True) is None
    assert enforced(schema, all_required=False) == schema


@pytest.mark.parametrize(
    "inner",
    [
        {"type": "object"},
        {"type": "object", "properties": {"a": TEXT}, "additionalProperties": True},
        {"type": "object", "properties": {}, "patternProperties": {"^x": TEXT}},
        {"allOf": [TEXT]},
        {"not": TEXT},
        {},
        True,
        {"enum": [1, "a"]},
        {"enum": [[1]]},
    ],
)
def test_what_would_change_its_meaning_is_not_forced_into_the_form(inner):
    assert enforced(an_object(["x"], x=inner), all_required=False) is None


def test_definitions_stay_at_the_root_of_the_wrapper():
    assert wrapped({"$ref": "#/$defs/x", "$defs": {"x": TEXT}}) == {
        **an_object(["reply"], reply={"$ref": "#/$defs/x"}),
        "$defs": {"x": TEXT},
    }


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ('{"reply": {"finish":  "x"}}', '{"finish":  "x"}'),
        (' {"reply":1.50 }\n', "1.50"),
        ('{"reply": {"finish": "x"', None),
        ('{"reply": 1, "more": 2}', None),
        ('{"finish": "x"}', None),
        ('{"reply": 1} {"reply": 2}', None),
        ("", None),
        ('{"reply": ' + "[" * 100_000, None),
    ],
)
def test_the_exact_text_is_taken_out_of_the_wrapper(text, inside):
    assert unwrapped(text) == inside


VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3))


@given(VALUES, st.sampled_from([None, 2]))
def test_unwrapping_undoes_wrapping(value, indent):
    inner = json.dumps(value)

    assert json.loads(unwrapped(json.dumps({"reply": value}, indent=indent))) == json.loads(inner)


@pytest.mark.parametrize("all_required", [True, False])
def test_the_protocols_own_schemas_have_the_form(all_required):
    desk = setup(replies=True)
    for schema in (desk.action_schema(), desk.verdict_schema(2)):
        form = enforced(schema, all_required=all_required)

        Draft202012Validator.check_schema(form)
        assert form["anyOf"]
