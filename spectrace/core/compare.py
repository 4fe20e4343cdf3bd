"""Differences between two recorded values, field by field. Pure; used by replay to name the first one.

What may differ without meaning anything (UNCOMPARED_FIELDS: latency, provider ids, idempotency keys, source) is left
out.
"""

from dataclasses import fields, is_dataclass

from spectrace.core.events import UNCOMPARED_FIELDS

Difference = tuple[str, str, str]
"""(field path, recorded, found); long texts are shown around their first different character."""

_AROUND = 30


def differences(
    recorded: object, found: object, path: str = "", skip: frozenset[str] = frozenset()
) -> list[Difference]:
    """Return every difference between two values of the vocabulary, in field order; `skip` leaves out more fields."""
    if isinstance(recorded, str) and isinstance(found, str):  # a str and a StrEnum of the same text are the same
        return [] if str(recorded) == str(found) else [(path, *_around(recorded, found))]
    if recorded == found and type(recorded) is type(found):
        return []
    if type(recorded) is not type(found):
        return [(path, _short(recorded), _short(found))]
    if is_dataclass(recorded) and not isinstance(recorded, type):
        return [
            difference
            for item in fields(recorded)
            if item.name not in UNCOMPARED_FIELDS and item.name not in skip
            for difference in differences(
                getattr(recorded, item.name), getattr(found, item.name), f"{path}.{item.name}".lstrip("."), skip
            )
        ]
    if isinstance(recorded, tuple) and isinstance(found, tuple):
        return _tuple_differences(recorded, found, path, skip)
    return [(path, _short(recorded), _short(found))]


def _tuple_differences(
    recorded: tuple[object, ...], found: tuple[object, ...], path: str, skip: frozenset[str]
) -> list[Difference]:
    result = [
        difference
        for number, (one, other) in enumerate(zip(recorded, found, strict=False))
        for difference in differences(one, other, f"{path}[{number}]", skip)
    ]
    if len(recorded) != len(found):
        result.append((path, f"{len(recorded)} items", f"{len(found)} items"))
    return result


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
