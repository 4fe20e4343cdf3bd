"""Secrets by name and position in plain text."""

import pytest

from spectrace.redaction.fields import by_position
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


SECRET = "Tr0ub4dor3x"  # noqa: S105 - nobody's


@pytest.mark.parametrize("inside", [*"&,;}>(#|~^", "'", '"', "){", "\\"])
def test_a_value_that_a_line_sets_is_found_whole_whatever_stands_inside(inside):
    assert found(f"DB_PASSWORD=ab12{inside}cdEf9\nuser=x") == [f"ab12{inside}cdEf9"]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("PASSWORD=(cdEf9gh", "(cdEf9gh"),
        ("password=correct horse battery staple\nuser=x", "correct horse battery staple"),
        ("password=my_secret_pw", "my_secret_pw"),
        ("DB_PASSWORD=hunter.two", "hunter.two"),
        ("password=$ecret_pw", "$ecret_pw"),
        ("password: 'it''s9x'", "it''s9x"),
        ('password: "correct horse battery staple"', "correct horse battery staple"),
        (f"PGPASSWORD={SECRET} psql", SECRET),
        (f"**Password:** {SECRET}", SECRET),
        (f"**Password**: `{SECRET}`", SECRET),
        (f"password        : {SECRET}", SECRET),
        (f"password:        {SECRET}", SECRET),
        (f"db:\n  password: |\n    {SECRET}\n", SECRET),
        (f"password:\n  {SECRET}", SECRET),
        (f"user=a&password={SECRET}&lang=en", SECRET),
        (f"Server=s;Pwd={SECRET};Timeout=3", SECRET),
        (f"Client(user='a', api_key={SECRET})", SECRET),
        (f"<a>password={SECRET}</a>", SECRET),
    ],
)
def test_everyday_spellings_of_an_assignment_are_found(text, secret):
    assert found(text) == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "PWD=/home/ana",
        "password = config.password",
        "connect(password=db_password)",
        "password=$db_password",
        "has_password=yes",
        "password:\n  type: string",
        "password:\n  must be set",
        "The password: a word of your own choice",
    ],
)
def test_code_and_prose_about_secrets_stay(text):
    assert found(text) == []
