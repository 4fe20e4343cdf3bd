"""The strings and numbers of a JSON text, and their names."""

import json

import pytest

from spectrace.redaction.json_reading import Decoded, literals


@pytest.mark.parametrize(
    "text",
    [
        *("", "plain", '{"a": 1', '{"a": 1}}', '{"a" 1}', "[1,]", '{"a":1,}'),
        *("[1 2]", '{"a": "b', "{} prose", '"only a string"', "{1: 2}"),
    ],
)
def test_what_is_no_json_is_none_here(text):
    assert literals(text) is None


@pytest.mark.parametrize(
    "text", ["{}", "[]", ' {"a": [1, {"b": null}]} ', '{"a":1}\n{"b":2}', "[NaN]", '\ufeff{"a":1}']
)
def test_json_lines_and_what_python_calls_json_are_walked(text):
    assert literals(text) is not None


def test_a_character_is_found_where_it_was_written():
    decoded = Decoded('a\\u0041\\n"'[:-1])

    assert (decoded.text, [decoded.back(at) for at in range(4)]) == ("aA\n", [0, 1, 7, 9])


def test_a_value_goes_by_what_it_lies_in_and_by_what_stands_beside_it():
    text = json.dumps({"passwords": {"bob": "x"}, "item": {"name": "token", "value": "y"}})

    told = [(one.text, one.name, one.held) for one in literals(text) if not one.is_name]

    assert told == [("x", "passwords", True), ("token", "name", False), ("y", "item", False), ("y", "token", False)]
