import json

import pytest

from spectrace.core.types import Call, Effect, ToolSpec
from spectrace.environments.shop import open_shop
from spectrace.testing.conformance.samples import HOSTILE, fitting, misfits, reads


def tool(*required, effect=Effect.READ, external=False, **properties):
    schema = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
    return ToolSpec("t", "T.", json.dumps(schema), effect, external=external)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, "x"),
        ({"type": "integer", "minimum": 7}, 7),
        ({"type": "number"}, 1),
        ({"type": "boolean"}, False),
        ({"type": "array", "items": {"type": "string"}}, []),
        ({"enum": ["b", "a"]}, "b"),
        ({"const": 3}, 3),
        ({"type": "string", "default": "d"}, "d"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, 1),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, {"a": "x"}),
        ({"type": "null"}, None),
    ],
)
def test_the_smallest_arguments_fit(schema, value):
    assert fitting(tool("a", a=schema)) == Call("t", json.dumps({"a": value}))


def test_what_is_not_required_is_left_out():
    assert fitting(tool(a={"type": "string"})) == Call("t", "{}")


@pytest.mark.parametrize("schema", [{"type": "string", "pattern": "^[0-9]+$"}, {"$ref": "#/$defs/x"}])
def test_where_none_was_found_none_is_made_up(schema):
    assert fitting(tool("a", a=schema)) is None


@pytest.mark.parametrize("parameters", ["no JSON", '{"required": 3, "properties": 4, "type": "object"}', "[]", "7"])
def test_a_schema_that_is_none_breaks_nothing(parameters):
    assert fitting(ToolSpec("t", "T.", parameters)) in {None, Call("t", "{}")}


def test_any_text_may_be_put_in():
    assert json.loads(fitting(tool("a", a={"type": "string"}), HOSTILE).arguments) == {"a": HOSTILE}


def test_writes_and_outside_parties_are_never_made_up():
    assert reads([tool(), tool(effect=Effect.WRITE), tool(external=True)]) == (Call("t", "{}"),)


def test_every_read_of_the_shop_is_made_up():
    tools = open_shop().tools()

    assert [call.tool for call in reads(tools)] == [one.name for one in tools if one.effect is Effect.READ]


def test_misfits_are_those_that_break_the_schema():
    loose = ToolSpec("t", "T.", '{"type": "object"}')

    assert [call.arguments for call in misfits(tool("a", a={"type": "string"}))] == [
        "not JSON",
        "[]",
        "{}",
        '{"no_such_argument": 1}',
        '{"a": 1, "a": 2}',
        '{"a": NaN}',
    ]
    assert "{}" not in [call.arguments for call in misfits(loose)]
