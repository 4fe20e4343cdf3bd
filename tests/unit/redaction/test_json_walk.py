"""Secrets inside JSON text, as places in its exact bytes."""

import json

import pytest

from spectrace.redaction.fields import by_position
from spectrace.redaction.json_walk import walk

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


def test_deep_nesting_is_walked_without_recursion():
    text = "[" * 100_000 + '{"password": "hunter2"}' + "]" * 100_000

    assert found(text) == [("hunter2", "hunter2")]


S = "Tr0ub4dor&3x"
TOKEN = "9fK2mQ7xLp4Zr8Vt1Wb6"  # noqa: S105 - nobody's


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        ({"password": "correct horse battery staple"}, "correct horse battery staple"),
        ({"password": "$ecret"}, "$ecret"),
        ({"passwords": {"bob": S}}, S),
        ({"passwords": {"bob": "sunshine"}}, "sunshine"),
        ({"passwords": [S]}, S),
        ({"api_keys": {"main": TOKEN}}, TOKEN),
        ({"secret": {"data": {"a": S}}}, S),
        ({"credentials": {"user": "bob", "pass": S}}, S),
        ([["X-Api-Key", TOKEN]], TOKEN),
        ([["password", S]], S),
        (["mysql", "--password", S], S),
        ({"field": "password", "value": S}, S),
        ({"value": S, "key": "password"}, S),
        ({"key": "password", "val": S}, S),
        ({"label": "Password", "text": S}, S),
        ({"selector": "#password", "text": S}, S),
        ({"type": "password", "value": S}, S),
        ({"columns": ["user", "password"], "rows": [["bob", S]]}, S),
        ({"kty": "OKP", "crv": "Ed25519", "d": TOKEN, "x": "abc"}, TOKEN),
        ({"k": TOKEN, "kty": "oct"}, TOKEN),
        ({"password": "a REDACTED-secret-0123456789ab"}, None),
        ({"password": "REDACTED-secret-0123456789ab hunter2real"}, "hunter2real"),
    ],
)
def test_a_name_reaches_what_lies_inside_and_beside_it(value, secret):
    assert [one for one, _ in found(json.dumps(value))] == ([] if secret is None else [secret])


@pytest.mark.parametrize(
    "value",
    [
        {"password": {"type": "string", "format": "password", "description": "A password of eight letters"}},
        {"required": ["password", "email"]},
        {"columns": ["user", "password_set"], "rows": [["bob", S]]},
        {"secrets": ["DB_PASSWORD", "API_KEY"]},
        {"secrets": [{"name": "db", "path": "/run/secrets/db"}]},
        {"id": "forgot-password", "text": "Forgotten?"},
        {"name": "reset password", "text": "Reset your password"},
        {"tokens": ["the", "cat"]},
        {"tokens": {"input": "128", "output": "12"}},
        {"cookies": {"theme": "dark"}},
        {"credentials": {"user": "bob", "type": "password"}},
        {"name": "size", "value": S},
        {"d": TOKEN, "k": TOKEN},
    ],
)
def test_what_only_stands_near_a_secrets_name_stays(value):
    assert found(json.dumps(value)) == []
