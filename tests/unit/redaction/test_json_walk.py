"""Secrets inside JSON text, as places in its exact bytes."""

import json

import pytest

from spectrace.redaction.fields import by_position
from spectrace.redaction.json_walk import Decoded, literals, walk

NONE = frozenset()


def found(text: str) -> list[tuple[str, str | None]] | None:
    places = walk(text, lambda plain: list(by_position(plain, NONE)), NONE)
    return None if places is None else [(text[one.start : one.end], one.value) for one in places]


def test_the_name_of_a_field_says_what_its_value_is():
    assert found('{"user": "ana", "password": "hunter2", "tokens": "128"}') == [("hunter2", "hunter2")]


def test_an_escape_hides_nothing():
    assert found('{"pass\\u0077ord": "\\u0068unter2"}') == [("\\u0068unter2", "hunter2")]


def test_json_inside_json_is_walked_and_its_places_lie_in_the_outer_text():
    inner = json.dumps({"api_key": 'a"b1'})
    text = json.dumps({"arguments": inner})

    (place,) = found(text)

    assert place == ('a\\\\\\"b1', 'a"b1')
    assert place[0] in text


def test_a_list_of_secrets_goes_by_the_lists_name():
    assert found('{"password": ["one1", "two2"], "names": ["three3"]}') == [("one1", "one1"), ("two2", "two2")]


def test_a_header_in_a_list_of_names_and_values_is_told_by_its_name():
    assert ("FAKE1234", "FAKE1234") in found('[{"name": "X-Api-Key", "value": "FAKE1234"}]')


def test_a_number_under_a_secrets_name_is_found_as_it_stands():
    assert found('{"password": 12345678, "count": 12345678, "secret": 12}') == [("12345678", "12345678")]


def test_a_schema_that_describes_a_password_stays_but_for_its_default():
    schema = '{"properties": {"password": {"type": "string", "description": "The password", "default": "hunter2"}}}'

    assert found(schema) == [("hunter2", "hunter2")]


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


def test_deep_nesting_is_walked_without_recursion():
    text = "[" * 100_000 + '{"password": "hunter2"}' + "]" * 100_000

    assert found(text) == [("hunter2", "hunter2")]


def test_a_character_is_found_where_it_was_written():
    decoded = Decoded('a\\u0041\\n"'[:-1])

    assert (decoded.text, [decoded.back(at) for at in range(4)]) == ("aA\n", [0, 1, 7, 9])
