"""Finding a text in whatever form it was recorded."""

import html
import json
from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote

import pytest

from spectrace.core.digest import canonical
from spectrace.errors import UsageError
from spectrace.store import bounded_regex
from spectrace.store.matching import Needle, forms, leaves, referred, resolved

ADDRESS = "ana@example.com"
BLOB = "sha256:" + "ab" * 32


def found(needle: Needle, value: object, hit: set[str] | None = None, texts: dict[str, str] | None = None) -> bool:
    return needle.in_body(canonical(value), hit or set(), lambda names: {name: (texts or {})[name] for name in names})


@pytest.mark.parametrize(
    "said",
    [
        ADDRESS,
        f"mail {ADDRESS}, please",
        json.dumps({"to": ADDRESS}),
        json.dumps({"inner": json.dumps({"to": json.dumps(ADDRESS)})}),
        "".join(f"\\u{ord(char):04x}" for char in ADDRESS),
        quote(f"https://example.net/?to={ADDRESS}", safe=":/?="),
        json.dumps({"url": quote(ADDRESS, safe="")}),
        html.escape("<ana@example.com>").replace("@", "&#64;"),
        json.dumps({"mail": "".join(f"&#x{ord(char):x};" for char in ADDRESS)}),
        ADDRESS.replace("@", "=40").replace("com", "c=\r\nom"),
    ],
)
def test_it_is_found_in_every_form(said):
    assert found(Needle(ADDRESS), {"content": [said]})


@pytest.mark.parametrize("before", ["", "x", "xy", "xyz", "Basic: "])
@pytest.mark.parametrize("text", [ADDRESS, "Zoë?>~ÿÿ"])
@pytest.mark.parametrize("encode", [b64encode, urlsafe_b64encode])
def test_it_is_found_in_base64_wherever_it_begins_when_asked(encode, text, before):
    said = {"content": "token " + encode(f"{before}{text}:more".encode()).decode()}

    assert found(Needle(text, encoded=True), said)
    assert not found(Needle(text), said)
    assert not found(Needle("Zoë?>~ÿÿ ana", encoded=True), said)


def test_what_is_not_looked_for_is_said_as_it_is_asked_for():
    assert "--ignore-case" in Needle(ADDRESS).not_found
    assert "--ignore-case" not in Needle(ADDRESS, ignore_case=True).not_found
    assert "in base64, with" in Needle("ana", regex=True).not_found


@pytest.mark.parametrize("text", ['say "hello" \\ there', "line\nbreak", "Zoë 🙂", "tab\tand / slash"])
def test_odd_characters_are_found_in_json_within_json(text):
    ascii_only = json.dumps({"a": json.dumps({"b": text})})

    assert found(Needle(text), {"arguments": ascii_only})
    assert found(Needle(text), {"arguments": ascii_only.replace("/", "\\/")})


def test_something_else_is_not_found():
    assert not found(Needle(ADDRESS), {"content": "ana@example.org", "more": ["ana", "example.com", "\\u0061na"]})


def test_names_of_fields_are_not_looked_at():
    assert not found(Needle("content"), {"content": "nothing"})


def test_a_body_is_found_by_a_text_that_it_refers_to():
    body = {"content": {"$blob": BLOB}}

    assert found(Needle(ADDRESS), body, {BLOB})
    assert not found(Needle(ADDRESS), body)


def test_what_begins_in_the_body_and_ends_in_a_text_beside_it_is_found():
    body = {"a": "one", "b": {"$blob": BLOB}}

    assert found(Needle('"one","b":"two'), body, set(), {BLOB: "two and more"})
    assert not found(Needle('"one","b":"three'), body, set(), {BLOB: "two and more"})


def test_upper_and_lower_case_are_alike_when_asked():
    assert found(Needle("STRASSE", ignore_case=True), {"content": "Straße 1"})
    assert not found(Needle("STRASSE"), {"content": "Straße 1"})


def test_a_regular_expression_is_searched_for():
    assert found(Needle(r"ana@\w+\.com", regex=True), {"content": json.dumps(ADDRESS)})
    assert not found(Needle(r"^ana$", regex=True), {"content": ADDRESS})


def test_an_expression_that_would_never_end_is_stopped(monkeypatch):
    monkeypatch.setattr(bounded_regex, "LIMIT_S", 0.3)

    with pytest.raises(UsageError, match=r"was stopped after 0\.3 s on one text of 41 characters"):
        found(Needle("(a+)+$", regex=True), {"content": "a" * 40 + "b"})


@pytest.mark.parametrize(("text", "regex"), [("", False), ("", True), ("a*", True), ("(", True)])
def test_what_matches_everything_or_is_no_expression_is_refused(text, regex):
    with pytest.raises(UsageError, match="--matching"):
        Needle(text, regex=regex)


def test_it_is_found_in_a_blob_whatever_its_bytes_are():
    assert Needle(ADDRESS).in_blob(b"\xff\xfe " + ADDRESS.encode() + b" \xed\xa0\x80")
    assert not Needle(ADDRESS).in_blob(b"\xff\xfe ana")


def test_a_damaged_body_is_searched_as_text():
    assert Needle(ADDRESS).in_body(b"{not json " + ADDRESS.encode() + b'\\"', set(), lambda _: {})


def test_forms_end_with_one_that_has_no_escapes():
    assert list(forms('a\\\\\\"b')) == ['a\\\\\\"b', 'a\\"b', 'a"b']


def test_leaves_references_and_texts_of_a_body():
    body = {"a": ["x", {"b": "y"}], "c": {"$blob": BLOB}, "d": 1}

    assert list(leaves(body)) == ["x", "y"]
    assert referred(body) == [BLOB]
    assert resolved(body, lambda _: {}) == {"a": ["x", {"b": "y"}], "c": "", "d": 1}
