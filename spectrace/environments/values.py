"""Python values to text: the one tagged encoder for what tools return, and its rules.

A `str` is itself, untouched. Everything else is compact JSON with sorted keys, in which whatever JSON has no word
for is an object with one `$` tag: `{"$float": "NaN"}`, `{"$bytes": "<base64>"}`, `{"$set": [...]}`. Equal values
give equal text in every process: sets are sorted by their members' text, memory addresses are removed. Below the
top level different values give different text; a dict whose own keys could be taken for a tag is a `$dict`.
"""

import base64
import dataclasses
import datetime as dt
import json
import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import PurePath
from typing import Any
from uuid import UUID

from spectrace.core.digest import text_digest

MAX_DEPTH = 200
"""Nesting beyond this is refused: Python's own recursion limit is not far."""

_EXACT = 2**53
_ADDRESS = re.compile(r"(?: at)? 0x[0-9a-fA-F]{6,}")

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Container = list[object] | tuple[object, ...] | set[object] | frozenset[object] | Mapping[object, object]


def encode(value: object) -> str:
    """Return the value as text; raise ValueError for one that contains itself or is nested too deep."""
    if isinstance(value, str) and not isinstance(value, Enum):
        return str(value)
    return _text(_tagged(value, ()))


def encoded_digest(value: object) -> str:
    """Return the digest of a value's text."""
    return text_digest(encode(value))


def without_addresses(text: str) -> str:
    """Remove memory addresses, which differ between two runs of the same program."""
    return _ADDRESS.sub("", text)


def decimal_text(value: float | Decimal) -> str:
    """Return a reward as a plain decimal string: 1.0, 0.0, 0.5; raise ValueError for NaN and infinity."""
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if not number.is_finite():
        msg = f"expected a finite reward, found {number}"
        raise ValueError(msg)
    whole, _, fraction = f"{abs(number):f}".partition(".")
    sign = "-" if number < 0 else ""
    return f"{sign}{whole}.{fraction.rstrip('0') or '0'}"


def _text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _tagged(value: object, above: tuple[int, ...]) -> Json:
    """Return the value as JSON data; `above` holds the ids of the containers around it."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, list | tuple | set | frozenset | Mapping):
        return _container(value, _inside(value, above))
    for kind, write in _LEAVES:
        if isinstance(value, kind):
            return write(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return _record(value, fields, _inside(value, above))
    return {"$repr": _repr(value)}


def _integer(value: int) -> Json:
    if abs(value) <= _EXACT:
        return int(value)
    try:
        return {"$int": str(int(value))}
    except ValueError:  # beyond Python's limit of 4300 decimal digits; hexadecimal has none
        return {"$int": hex(value)}


def _float(value: float) -> Json:
    if math.isnan(value):
        return {"$float": "NaN"}
    if math.isinf(value):
        return {"$float": "Infinity" if value > 0 else "-Infinity"}
    minus_zero = value == 0 and math.copysign(1, value) < 0
    return {"$float": "-0.0"} if minus_zero else float(value)


def _inside(value: object, above: tuple[int, ...]) -> tuple[int, ...]:
    """Return the ids of the containers around the value's members, the value's own included."""
    if id(value) in above:
        msg = f"expected a tree of values, found a {type(value).__name__} that contains itself"
        raise ValueError(msg)
    if len(above) >= MAX_DEPTH:
        msg = f"expected at most {MAX_DEPTH} levels of nesting, found more"
        raise ValueError(msg)
    return (*above, id(value))


def _container(value: Container, inside: tuple[int, ...]) -> Json:
    match value:
        case Mapping():
            return _mapping(value, inside)
        case tuple() if hasattr(value, "_fields"):
            return _record(value, dict(zip(value._fields, value, strict=True)), inside)
    members = [_tagged(item, inside) for item in value]
    match value:
        case list():
            return members
        case tuple():
            return {"$tuple": members}
        case _:
            return {"$set": sorted(members, key=_text)}


def _mapping(value: Mapping[object, object], inside: tuple[int, ...]) -> Json:
    if all(type(key) is str and not key.startswith("$") for key in value):
        return {str(key): _tagged(item, inside) for key, item in value.items()}
    pairs: list[Json] = [[_tagged(key, inside), _tagged(item, inside)] for key, item in value.items()]
    return {"$dict": sorted(pairs, key=_text)}


def _record(value: object, fields: dict[str, object], inside: tuple[int, ...]) -> Json:
    return {"$type": type(value).__name__, "fields": {name: _tagged(item, inside) for name, item in fields.items()}}


def _repr(value: object) -> str:
    try:
        return without_addresses(repr(value))
    except Exception as error:  # noqa: BLE001 - somebody else's __repr__ may do anything; say what it did
        return f"<{type(value).__name__} whose repr raised {type(error).__name__}>"


_LEAVES: tuple[tuple[type, Callable[[Any], Json]], ...] = (
    (Enum, lambda value: {"$enum": f"{type(value).__name__}.{value.name}"}),  # before str and int: a StrEnum is both
    (str, str),
    (int, _integer),
    (float, _float),
    (bytes, lambda value: {"$bytes": base64.b64encode(value).decode()}),
    (bytearray, lambda value: {"$bytes": base64.b64encode(value).decode()}),
    (memoryview, lambda value: {"$bytes": base64.b64encode(value).decode()}),
    (dt.datetime, lambda value: {"$datetime": value.isoformat()}),  # before date: a datetime is one
    (dt.date, lambda value: {"$date": value.isoformat()}),
    (dt.time, lambda value: {"$time": value.isoformat()}),
    (dt.timedelta, lambda value: {"$timedelta_us": value // dt.timedelta(microseconds=1)}),
    (Decimal, lambda value: {"$decimal": str(value)}),
    (Fraction, lambda value: {"$fraction": str(value)}),
    (UUID, lambda value: {"$uuid": str(value)}),
    (PurePath, lambda value: {"$path": value.as_posix()}),
    (complex, lambda value: {"$complex": repr(value)}),
)
