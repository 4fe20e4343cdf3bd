"""Whether what stands in a secret's place is one."""

import pytest

from spectrace.redaction.judging import credential, is_secret_value, looks_chosen, looks_random, prose, says_nothing
from spectrace.redaction.names import Named

PLANTED = "REDACTED-secret-0123456789ab"


def test_what_stands_in_a_secrets_place_and_is_none_says_nothing():
    nothing = ("", "null", "****", "<your key>", "$TOKEN", "${token}", "$db_password", PLANTED, f"{PLANTED}, {PLANTED}")

    assert [says_nothing(value) for value in nothing] == [True] * len(nothing)


@pytest.mark.parametrize("value", ["hunter2", "$ecret", "$ecret_pw", f"a {PLANTED} hunter2real", f"{PLANTED}hunter"])
def test_what_stands_around_a_placeholder_or_only_begins_like_a_blank_is_a_secret(value):
    assert not says_nothing(value)


def test_a_sentence_is_no_password():
    assert (prose("this field is required"), prose("correct horse battery staple 9")) == (True, False)


def test_under_a_secrets_own_name_a_passphrase_is_a_secret_and_further_inside_a_sentence_is_none():
    phrase = "correct horse battery staple"

    assert [is_secret_value(strength, phrase) for strength in Named] == [False, False, False, True]


def test_a_list_of_names_of_secrets_holds_none():
    assert [is_secret_value(Named.HELD, value) for value in ("DB_PASSWORD", "sunshine")] == [False, True]


def test_a_token_looks_random_and_an_identifier_does_not():
    assert [looks_random(value) for value in ("abcdefgh12345678", "orders", "a" * 20)] == [True, False, False]


def test_a_uuid_is_an_identifier():
    assert not looks_random("0b9b0f9c-6f0e-4c0a-9f43-8d4b8d1f0a11")


def test_what_somebody_chose_has_a_digit_or_a_sign_inside_and_a_word_has_none():
    chosen = ("hunter22", "Tr0ub4dor&3x", "pa$sword", "forgotten?", "12345678", "two words 2", PLANTED)

    assert [looks_chosen(value) for value in chosen] == [True, True, True, False, False, False, False]


def test_a_credential_begins_behind_its_scheme():
    assert [value[credential(value) :] for value in ("Bearer abc", "abc", "Basic ")] == ["abc", "abc", "Basic "]
