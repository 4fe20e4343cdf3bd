import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict, Union

import pytest
from jsonschema import Draft202012Validator

from spectrace.environments.arguments import InvalidArguments
from spectrace.environments.signatures import Signature, schema_of
from spectrace.errors import UsageError

NONE = frozenset()


class Size(Enum):
    S = "small"
    L = "large"


@dataclass
class Line:
    product: str
    count: int = 1
    sizes: set[Size] = field(default_factory=set)


class Place(TypedDict):
    city: str
    zip: NotRequired[int]


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (None, {"type": "null"}),
        (Any, {}),
        (list, {"type": "array", "items": {}}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (Sequence[str], {"type": "array", "items": {"type": "string"}}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (
            tuple[int, str],
            {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False, "minItems": 2},
        ),
        (set[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
        (dict, {"type": "object", "additionalProperties": {}}),
        (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (Mapping[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (Literal["a", 1], {"enum": ["a", 1]}),
        (Size, {"enum": ["small", "large"]}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (Optional[str], {"anyOf": [{"type": "string"}, {"type": "null"}]}),  # noqa: UP045 - users still write it
        (Union[int, str], {"anyOf": [{"type": "integer"}, {"type": "string"}]}),  # noqa: UP007 - users still write it
        (Annotated[str, "An order id"], {"type": "string", "description": "An order id"}),
        (dt.date, {"type": "string", "format": "date"}),
        (
            Place,
            {
                "type": "object",
                "properties": {"city": {"type": "string"}, "zip": {"type": "integer"}},
                "additionalProperties": False,
                "required": ["city"],
            },
        ),
        (
            Line,
            {
                "type": "object",
                "properties": {
                    "product": {"type": "string"},
                    "count": {"type": "integer"},
                    "sizes": {"type": "array", "items": {"enum": ["small", "large"]}, "uniqueItems": True},
                },
                "additionalProperties": False,
                "required": ["product"],
            },
        ),
    ],
)
def test_a_hint_has_exactly_this_schema(hint, schema):
    Draft202012Validator.check_schema(schema)

    assert schema_of(hint, "here") == schema


@pytest.mark.parametrize("hint", [bytes, dict[int, str], complex, list[bytes], object()])
def test_a_hint_that_json_cannot_carry_is_refused_with_its_place(hint):
    with pytest.raises(UsageError, match=r"tool f, parameter x: expected a type that JSON can carry"):
        schema_of(hint, "tool f, parameter x")


def test_the_schema_of_a_function_has_descriptions_and_what_is_required():
    def find(name: str, limit: int = 5, *, exact: bool = False) -> str:
        """Find things.

        Slow, but sure.

        Args:
            name (str): What to look for,
                in full: every word.
            limit: At most so many.

        Returns:
            Nothing of interest.
        """

    signature = Signature(find, NONE)

    assert (signature.description, signature.schema) == (
        "Find things.\n\nSlow, but sure.",
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "What to look for, in full: every word."},
                "limit": {"type": "integer", "description": "At most so many."},
                "exact": {"type": "boolean"},
            },
            "additionalProperties": False,
            "required": ["name"],
        },
    )


def test_injected_parameters_are_not_the_models_to_give():
    def act(state, order_id: str): ...

    signature = Signature(act, frozenset({"state"}))

    assert list(signature.schema["properties"]) == ["order_id"]
    with pytest.raises(InvalidArguments, match="'state' was unexpected"):
        signature.parse('{"order_id": "W1", "state": {}}')


def test_arguments_become_what_the_hints_say():
    def act(  # noqa: PLR0913 - one of each
        line: Line,
        place: Place,
        pair: tuple[int, Size],
        many: tuple[float, ...],
        when: dt.datetime,
        either: int | list[Size] | None,
        table: dict[str, set[int]],
        note: Annotated[str | None, "optional"] = None,
    ): ...

    parsed = Signature(act, NONE).parse(
        '{"line": {"product": "P1", "sizes": ["small"]}, "place": {"city": "Ely", "zip": 9.0}, "pair": [1, "large"],'
        '"many": [1, 2.5], "when": "2026-01-02T03:04:05+00:00", "either": ["large"], "table": {"a": [1, 2]}}'
    )

    assert parsed == {
        "line": Line("P1", 1, {Size.S}),
        "place": {"city": "Ely", "zip": 9},
        "pair": (1, Size.L),
        "many": (1.0, 2.5),
        "when": dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC),
        "either": [Size.L],
        "table": {"a": {1, 2}},
    }
    assert type(parsed["many"][0]) is float
    assert type(parsed["place"]["zip"]) is int


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ("{}", "'count' is a required property"),
        ('{"count": "3"}', "count: '3' is not of type 'integer'"),
        ('{"count": true}', "count: True is not of type 'integer'"),
        ('{"count": 1, "colour": 2}', "'colour' was unexpected"),
        ('{"count": 1, "size": "huge"}', "size: 'huge' is not one of"),
        ('{"count": 1, "ratio": 1' + "0" * 400 + "}", "too large for a float"),
        ('{"count": 1, "day": "tomorrow"}', "Invalid isoformat string: 'tomorrow'"),
        ('{"count": 1, "count": 2}', "'count' twice"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_by_name(arguments, why):
    def act(count: int, size: Size = Size.S, ratio: float = 1.0, day: dt.date | None = None): ...

    with pytest.raises(InvalidArguments, match=why):
        Signature(act, NONE).parse(arguments)


def test_a_big_integer_reaches_the_function_with_every_digit():
    def act(id: int): ...  # noqa: A002

    assert Signature(act, NONE).parse('{"id": 2512292042121000001}') == {"id": 2512292042121000001}


def test_a_parameter_without_a_hint_is_refused_when_the_tool_is_defined():
    def act(order): ...

    with pytest.raises(UsageError, match="tool act: expected a type hint on parameter order"):
        Signature(act, NONE)


def test_parameters_that_have_no_name_to_give_are_refused():
    def act(*orders: str): ...

    with pytest.raises(UsageError, match=r"tool act: expected parameters that can be given by name, found \*orders"):
        Signature(act, NONE)


def test_a_hint_that_names_nothing_is_refused_when_the_tool_is_defined():
    def act(order: "Missing"): ...  # noqa: F821

    with pytest.raises(UsageError, match="tool act: its type hints cannot be resolved"):
        Signature(act, NONE)
