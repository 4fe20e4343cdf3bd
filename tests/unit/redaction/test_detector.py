"""What is a secret in a text, by rules alone."""

import base64
import json
import re

from spectrace.redaction.detector import Detector
from spectrace.redaction.rules import Rules


def found(text: str, **rules: object) -> list[tuple[str, str]]:
    return [(one.kind, text[one.start : one.end]) for one in Detector(Rules(**rules)).find(text)]


def test_json_goes_by_fields_and_prose_by_position():
    assert found('{"password": "one1"}') == [("secret", "one1")]
    assert found("password=one1") == [("secret", "one1")]


def test_json_that_is_cut_off_falls_back_to_positions():
    assert found('{"password": "one1", "a": "b') == [("secret", "one1")]


def test_a_line_break_that_is_escaped_does_not_hide_a_token():
    token = "ghp_" + "a1" * 18

    assert found(json.dumps({"log": f"x\n{token}"})) == [("secret", token)]


def test_base64_of_a_field_is_a_secret():
    token = base64.b64encode(b'{"password": "one1"}').decode()

    assert found(f"blob {token}") == [("secret", token)]


def test_personal_data_is_found_when_the_rules_say_so():
    assert (found("to ana@example.com"), found("to ana@example.com", personal=("email",))) == (
        [],
        [("email", "ana@example.com")],
    )


def test_a_users_pattern_names_its_kind_and_its_group_is_the_secret():
    rules = (("employee", re.compile("E-([0-9]{4})")),)

    assert found("by E-1234", patterns=rules) == [("employee", "1234")]


def test_a_users_field_is_a_secrets_name_in_any_spelling():
    assert found('{"customerPin": "zz"}', fields=("customer_pin",)) == [("secret", "zz")]


def test_what_is_allowed_is_never_found():
    assert found("password=example1", allow=frozenset({"example1"})) == []


def test_a_text_without_any_trace_is_passed():
    assert found("W200 is cancelled. " * 50) == []
