"""Differences between two recorded values, field by field. Pure; used by replay to name the first one.

What may differ without meaning anything (UNCOMPARED_FIELDS: latency, provider ids, idempotency keys, source) is left
out. A place is named as in a JSON pointer, `/messages/0/content`; where both sides of a text are JSON, it goes on
inside: `/parameters/temperature`. Texts are compared to the letter all the same, but for a call's parameters: there
the order of members and how a number is written mean nothing.
"""

import json
from dataclasses import fields, is_dataclass
from functools import lru_cache

from spectrace.core.events import UNCOMPARED_FIELDS

Difference = tuple[str, str, str]
"""(path, recorded, found); long texts are shown around their first different character."""

_AROUND = 30
_BY_VALUE = "/parameters"
_ABSENT = "(nothing)"
_NOTHING = object()
"""In place of a member that one side has not."""


def differences(
    recorded: object, found: object, path: str = "", skip: frozenset[str] = frozenset()
) -> list[Difference]:
    """Return every difference between two values of the vocabulary, in field order; `skip` leaves out more fields."""
    if isinstance(recorded, str) and isinstance(found, str):  # a str and a StrEnum of the same text are the same
        return [] if str(recorded) == str(found) else _text_differences(recorded, found, path)
    if recorded == found and type(recorded) is type(found):
        return []
    if type(recorded) is not type(found):
        return [(path, _short(recorded), _short(found))]
    if is_dataclass(recorded) and not isinstance(recorded, type):
        return [
            difference
            for name in _compared(type(recorded), skip)
            if (one := getattr(recorded, name)) is not (other := getattr(found, name))
            for difference in differences(one, other, f"{path}/{name}", skip)
        ]
    if isinstance(recorded, tuple) and isinstance(found, tuple):
        return _tuple_differences(recorded, found, path, skip)
    return [(path, _short(recorded), _short(found))]


@lru_cache(maxsize=256)
def _compared(kind: type[object], skip: frozenset[str]) -> tuple[str, ...]:
    """Return the names of a class's fields that are compared; a replay asks at every event."""
    names = (item.name for item in fields(kind))  # type: ignore[arg-type]  # only dataclasses come here
    return tuple(name for name in names if name not in UNCOMPARED_FIELDS and name not in skip)


def _tuple_differences(
    recorded: tuple[object, ...], found: tuple[object, ...], path: str, skip: frozenset[str]
) -> list[Difference]:
    result = [
        difference
        for number, (one, other) in enumerate(zip(recorded, found, strict=False))
        for difference in differences(one, other, f"{path}/{number}", skip)
    ]
    if len(recorded) != len(found):
        result.append((path, f"{len(recorded)} items", f"{len(found)} items"))
    return result


def _text_differences(recorded: str, found: str, path: str) -> list[Difference]:
    """Return where two different texts differ: inside, where both are JSON of different values."""
    if recorded[:1] == found[:1] and recorded[:1] in {"{", "["}:
        try:
            inside = _json_differences(json.loads(recorded), json.loads(found), path)
        except (ValueError, RecursionError):  # not JSON after all, or nested deeper than can be followed
            inside = None
        if inside or (inside is not None and path == _BY_VALUE):
            return inside
    return [(path, *_around(recorded, found))]


def _json_differences(recorded: object, found: object, path: str) -> list[Difference]:
    match recorded, found:
        case dict(), dict():
            names = [*recorded, *(name for name in found if name not in recorded)]
            pairs = [(name, recorded.get(name, _NOTHING), found.get(name, _NOTHING)) for name in names]
            return [one for name, was, now in pairs for one in _json_differences(was, now, f"{path}/{_token(name)}")]
        case list(), list() if len(recorded) == len(found):
            pairs = [(str(number), *both) for number, both in enumerate(zip(recorded, found, strict=True))]
            return [one for number, was, now in pairs for one in _json_differences(was, now, f"{path}/{number}")]
        case list(), list():
            return [(path, f"{len(recorded)} items", f"{len(found)} items")]
        case str(), str():
            return [] if recorded == found else [(path, *_around(recorded, found))]
    same = recorded == found and isinstance(recorded, bool) == isinstance(found, bool)
    return [] if same else [(path, _json_short(recorded), _json_short(found))]


def _token(name: str) -> str:
    """Return a member's name inside a pointer (RFC 6901), a long one cut."""
    cut = name if len(name) <= 2 * _AROUND else f"{name[: 2 * _AROUND]}…"
    return cut.replace("~", "~0").replace("/", "~1")


def _json_short(value: object) -> str:
    return _ABSENT if value is _NOTHING else _short(value)


def _around(recorded: str, found: str) -> tuple[str, str]:
    """Return both texts from shortly before their first different character."""
    same = 0
    for one, other in zip(recorded, found, strict=False):
        if one != other:
            break
        same += 1
    start = max(0, same - _AROUND)
    return _window(recorded, start), _window(found, start)


def _window(text: str, start: int) -> str:
    end = start + 3 * _AROUND
    return repr(f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 3 * _AROUND else f"{text[: 3 * _AROUND]}…"
