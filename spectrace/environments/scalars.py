"""Values without members as JSON text, tagged where JSON has no word for them. `values` does those with members."""

import base64
import datetime as dt
import math
import re
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from json.encoder import encode_basestring as quoted  # what json.dumps writes with ensure_ascii=False
from pathlib import PurePath
from typing import Any
from uuid import UUID

__all__ = ["PLAIN", "quoted", "repr_of", "scalar", "tagged", "without_addresses"]

_EXACT = 2**53
_DECIMAL_BITS = 2_000
"""Longer integers are hexadecimal: Python can be told to refuse decimals of 640 digits; no digest may hang on that."""
_ADDRESS = re.compile(r"(?: at)? 0x[0-9a-fA-F]{6,}")


def scalar(value: object) -> str | None:
    """Return the text of a value that has no members, or None for any other."""
    for kind, write in _KINDS:
        if isinstance(value, kind):
            return write(value)
    return None


def tagged(tag: str, text: str) -> str:
    """Return an object of one member."""
    return f'{{"{tag}":{text}}}'


def repr_of(value: object) -> str:
    """Return what a value says of itself, without its address."""
    try:
        return without_addresses(repr(value))
    except Exception as error:  # noqa: BLE001 - somebody else's __repr__ may do anything; say what it did
        return f"<{type(value).__name__} whose repr raised {type(error).__name__}>"


def without_addresses(text: str) -> str:
    """Remove memory addresses, which differ between two runs of the same program."""
    return _ADDRESS.sub("", text)


def _integer(value: int) -> str:
    return int.__repr__(value) if abs(value) <= _EXACT else tagged("$int", quoted(_digits(value)))


def _digits(value: int) -> str:
    return hex(value) if value.bit_length() > _DECIMAL_BITS else int.__repr__(value)


def _float(value: float) -> str:
    if math.isnan(value):
        return '{"$float":"NaN"}'
    if math.isinf(value):
        return tagged("$float", '"Infinity"' if value > 0 else '"-Infinity"')
    minus_zero = value == 0 and math.copysign(1, value) < 0
    return '{"$float":"-0.0"}' if minus_zero else float.__repr__(value)


def _as(tag: str, text: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda value: tagged(tag, quoted(text(value)))


_BYTES = _as("$bytes", lambda value: base64.b64encode(bytes(value)).decode())
_KINDS: tuple[tuple[type, Callable[[Any], str]], ...] = (
    (Enum, _as("$enum", lambda value: f"{type(value).__name__}.{value.name}")),  # before str and int: may be both
    (range, _as("$range", lambda value: f"{value.start}:{value.stop}:{value.step}")),
    (str, lambda value: quoted(str.__str__(value))),
    (int, _integer),
    (float, _float),
    (bytes, _BYTES),
    (bytearray, _BYTES),
    (memoryview, _BYTES),
    (dt.datetime, _as("$datetime", lambda value: value.isoformat())),  # before date: a datetime is one
    (dt.date, _as("$date", lambda value: value.isoformat())),
    (dt.time, _as("$time", lambda value: value.isoformat())),
    (dt.timedelta, lambda value: tagged("$timedelta_us", str(value // dt.timedelta(microseconds=1)))),
    (Decimal, _as("$decimal", str)),
    (Fraction, _as("$fraction", lambda value: f"{_digits(value.numerator)}/{_digits(value.denominator)}")),
    (UUID, _as("$uuid", str)),
    (PurePath, _as("$path", lambda value: value.as_posix())),
    (complex, _as("$complex", repr)),
)
PLAIN: dict[type, Callable[[Any], str]] = {
    str: quoted,
    int: _integer,
    float: _float,
    bool: lambda value: "true" if value else "false",
    type(None): lambda _: "null",
}
"""The writers of the kinds that most values are, found without asking one kind after the other."""
