"""Which names are those of secrets."""

import pytest

from spectrace.redaction.findings import words
from spectrace.redaction.names import Named, in_query, is_header, named


@pytest.mark.parametrize(
    "name",
    sorted(
        words(
            "password PASSWORD db_password dbPassword2 apiKey api-key X-Api-Key SEARCH_KEY access_token githubToken "
            "clientSecret private_key Authorization spring.datasource.password user_pass"
        )
    ),
)
def test_a_credentials_name_is_strong_in_any_spelling(name):
    assert named(name) is Named.STRONG


@pytest.mark.parametrize(
    "name",
    sorted(
        words(
            "tokens max_tokens next_page_token stop_token primary_key order_key password_field monkey keyboard author "
            "passenger compass bypass tokenizer secretary 1"
        )
    ),
)
def test_what_opens_nothing_is_no_secret(name):
    assert named(name) is Named.NOTHING


@pytest.mark.parametrize("name", ["key", "session_id", "vendor_key", "sig", "otp"])
def test_a_name_that_may_be_anything_is_weak(name):
    assert named(name) is Named.WEAK


def test_a_users_own_name_counts_without_case_and_separators():
    assert named("Customer-PIN", frozenset({"customerpin"})) is Named.STRONG


def test_a_name_without_end_is_judged_by_its_end():
    assert named("a" * 10_000 + "_password") is Named.STRONG


def test_in_a_url_key_alone_is_a_secrets_name():
    assert [name for name in ("key", "lang", "api_key", "sig", "page", "my-key") if in_query(name)] == [
        "key",
        "api_key",
        "sig",
        "my-key",
    ]


def test_a_header_that_is_a_credential_is_known_by_its_name():
    assert [name for name in ("Authorization", "set-cookie", "Accept", "X-Api-Key") if is_header(name)] == [
        "Authorization",
        "set-cookie",
    ]
