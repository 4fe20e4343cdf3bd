import sys
from enum import IntEnum, StrEnum
from fractions import Fraction

import pytest

from spectrace.environments.scalars import PLAIN, repr_of, scalar, without_addresses


class Shout(str):
    """Says something else than it is."""

    __slots__ = ()

    def __str__(self):
        return "LOUD"


class Colour(StrEnum):
    RED = "red"


class Size(IntEnum):
    L = 3


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Shout("soft"), '"soft"'),
        (Colour.RED, '{"$enum":"Colour.RED"}'),
        (Size.L, '{"$enum":"Size.L"}'),
        (1e22, "1e+22"),
        (0.1 + 0.2, "0.30000000000000004"),
        (2**64 + 1, '{"$int":"18446744073709551617"}'),
        ([], None),
        (object(), None),
    ],
)
def test_a_value_without_members_has_this_text(value, text):
    assert scalar(value) == text


@pytest.mark.parametrize("limit", [0, 640, 4300])
def test_the_text_of_a_long_integer_hangs_on_no_setting_of_python(limit):
    huge, before = 10**5000, sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(limit)
    try:
        found = scalar(huge), scalar(Fraction(huge, 3))
    finally:
        sys.set_int_max_str_digits(before)

    assert found == (f'{{"$int":"{hex(huge)}"}}', f'{{"$fraction":"{hex(huge)}/3"}}')


def test_the_plain_kinds_are_written_as_by_the_long_way():
    for value in ("a\0", 7, 2**60, -0.0, 1.5):
        assert PLAIN[type(value)](value) == scalar(value)


def test_addresses_are_removed_and_short_hexadecimal_kept():
    assert without_addresses("<A at 0x7f00deadbeef> 0xff") == "<A> 0xff"
    assert "0x" not in repr_of(object())
