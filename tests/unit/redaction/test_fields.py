"""Secrets by name and position in plain text."""

import pytest

from spectrace.redaction.fields import by_position, looks_random, prose, says_nothing
from spectrace.redaction.findings import merged

NONE = frozenset()


def found(text: str) -> list[str]:
    return [text[one.start : one.end] for one in merged(text, by_position(text, NONE))]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("export API_TOKEN=FAKE-2222", "FAKE-2222"),
        ("password=FAKEpw user=app", "FAKEpw"),
        ("password: hunter2", "hunter2"),
        ("  password: swordfish\nnext: line", "swordfish"),
        ("password = 'two words'", "two words"),
        ("{'secret': 'x1y2'}", "x1y2"),
        ('{\\"secret\\": \\"x1y2\\"}', "x1y2"),
        ("client_secret := `abc`", "abc"),
        ("mysql --password hunter2 -u root", "hunter2"),
        ("cli --api-key=FAKE1", "FAKE1"),
        ("Authorization: Bearer FAKE-aaaa-bbbb", "FAKE-aaaa-bbbb"),
        ("curl -H 'Authorization: Basic YTpi' http://h", "YTpi"),
        ("Cookie: sid=FAKE; theme=dark", "sid=FAKE; theme=dark"),
        ("sent with Bearer abcdefgh12345678 today", "abcdefgh12345678"),
        ("https://h/x?key=FAKEKEY&lang=en", "FAKEKEY"),
        ("postgresql://app:FAKEpw@db/prod", "FAKEpw"),
        ("postgresql://app:FAKE/pw@db/prod", "FAKE/pw"),
        ("https://FAKE-token-without-name@host/x", "FAKE-token-without-name"),
    ],
)
def test_a_secret_is_found_by_its_position(text, secret):
    assert found(text) == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "tokens: 128",
        "the password field is required",
        "plain text with the word secret",
        "Password: ask Ana for it",
        "your password: it must have a digit",
        "password=None",
        "password=${DB_PASSWORD}",
        "api_key=config.api_key",
        "token = get_token()",
        "Basic authentication is on",
        "Authorization: required",
        "http://host:8080/users/me@example.com",
        "https://user@host/x",
        "https://h/x?page=2&lang=en",
        "password=REDACTED-secret-0123456789ab",
        "cache_key=orders",
    ],
)
def test_what_only_looks_like_a_secrets_place_stays(text):
    assert found(text) == []


def test_several_secrets_of_a_text_are_all_found():
    assert found("user=a password=one1 token=two2; url=redis://:three3@h") == ["one1", "two2", "three3"]


def test_what_stands_in_a_secrets_place_and_is_none_says_nothing():
    assert [says_nothing(value) for value in ("", "null", "****", "<your key>", "$TOKEN", "hunter2")] == [
        True,
        True,
        True,
        True,
        True,
        False,
    ]


def test_a_sentence_is_no_password():
    assert (prose("this field is required"), prose("correct horse battery staple 9")) == (True, False)


def test_a_token_looks_random_and_an_identifier_does_not():
    assert [looks_random(value) for value in ("abcdefgh12345678", "orders", "a" * 20)] == [True, False, False]


def test_a_uuid_is_an_identifier():
    assert not looks_random("0b9b0f9c-6f0e-4c0a-9f43-8d4b8d1f0a11")
