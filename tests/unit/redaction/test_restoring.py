"""Where placeholders stand, and what is written in their place."""

import json

from spectrace.redaction.restoring import escaped, put_back, standing

NAME = "REDACTED-secret-0123456789ab"
NUMBER = "REDACTED-number-0123456789ab"


def test_each_level_of_strings_is_counted():
    inner = json.dumps({"b": NAME})
    text = json.dumps({"a": inner, "c": NAME})

    assert [(text[one.start : one.end], one.depth) for one in standing(text)] == [(NAME, 2), (NAME, 1)]


def test_in_plain_text_a_placeholder_lies_in_no_string():
    assert [one.depth for one in standing(f"x {NAME} y {NAME}")] == [0, 0]


def test_a_value_is_escaped_as_often_as_it_lies_deep():
    assert [escaped('a"', depth) for depth in range(3)] == ['a"', 'a\\"', 'a\\\\\\"']


def test_a_number_takes_its_quotes_away():
    text = json.dumps({"a": json.dumps({"pin": NUMBER})})
    (place,) = standing(text)

    start, end, value = put_back(text, place, "1234")

    assert json.loads(json.loads(text[:start] + value + text[end:])["a"]) == {"pin": 1234}
