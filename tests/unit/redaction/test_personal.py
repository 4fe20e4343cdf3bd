"""Personal data, on request."""

import pytest

from spectrace.redaction.personal import KINDS, luhn, mod97, personal


def found(text: str, *kinds: str) -> list[str]:
    return [text[one.start : one.end] for one in personal(text, kinds or KINDS)]


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("write to ana.silva+x@example.co.uk.", "ana.silva+x@example.co.uk"),
        ("card 4111 1111 1111 1111, thanks", "4111 1111 1111 1111"),
        ("card 5555555555554444", "5555555555554444"),
        ("to DE89 3704 0044 0532 0130 00 please", "DE89 3704 0044 0532 0130 00"),
        ("call +351 912 345 678 now", "+351 912 345 678"),
    ],
)
def test_personal_data_is_found_whole(text, data):
    assert found(text) == [data]


@pytest.mark.parametrize(
    "text",
    ["a@b", "card 4111 1111 1111 1112", "DE00 3704 0044 0532 0130 00", "order 123456789", "1796038935000000", "+12"],
)
def test_numbers_with_wrong_check_digits_and_others_numbers_stay(text):
    assert found(text) == []


def test_only_the_kinds_that_are_asked_for_are_found():
    assert found("a1@example.com +351 912 345 678", "phone") == ["+351 912 345 678"]


def test_check_digits_are_those_of_the_standards():
    assert (
        luhn("79927398713"),
        luhn("79927398710"),
        mod97("GB82WEST12345698765432"),
        mod97("GB83WEST12345698765432"),
    ) == (
        True,
        False,
        True,
        False,
    )
