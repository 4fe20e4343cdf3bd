"""Secrets inside base64."""

import base64

import pytest

from spectrace.redaction.coded import by_code
from spectrace.redaction.findings import Found


def holds(text: str) -> list[Found]:
    return [Found(0, 1, "secret", "")] if "planted" in text else []


def found(text: str) -> list[str]:
    return [text[one.start : one.end] for one in by_code(text, holds)]


SAID = "the planted one?>~"


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@pytest.mark.parametrize("padded", [True, False])
def test_a_token_that_holds_a_secret_is_found_whole(encode, padded):
    token = encode(f"x{SAID}".encode()).decode()
    token = token if padded else token.rstrip("=")

    assert found(f"see {token} there") == [token]


def test_lines_as_mail_has_them_are_one_token():
    token = base64.encodebytes(("x" * 53 + " planted " + "y" * 60).encode()).decode().strip()

    assert found(f"body:\n{token}\n") == [token]


def test_base64_inside_base64_is_found():
    token = base64.b64encode(base64.b64encode(SAID.encode())).decode()

    assert found(token) == [token]


@pytest.mark.parametrize(
    "text", ["find_customer_by_email_address", "A" * 40, base64.b64encode(bytes(range(200, 256))).decode()]
)
def test_words_and_bytes_that_are_no_text_stay(text):
    assert found(text) == []
