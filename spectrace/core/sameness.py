"""When two actions are the same: equal canonical (name, arguments). Exact acceptance and speculation compare by it."""

import json
from typing import NoReturn

from spectrace.core.types import Action, Call


def same_action(one: Action, other: Action) -> bool:
    """Whether both do the same: the same kind, and equal text or equal tool with equal arguments.

    Arguments are equal as JSON: the order of members and spaces mean nothing, `1`, `1.0` and `"1"` are three values.
    Arguments that are no JSON are equal only as text.
    """
    if isinstance(one, Call) and isinstance(other, Call):
        return one.tool == other.tool and _canonical(one.arguments) == _canonical(other.arguments)
    return one == other


def json_value(text: str, *, strict: bool = False) -> object:
    """Return a value of which equal ones are the same JSON: numbers keep their own text, the order of members is none.

    `strict` raises ValueError for what RFC 8259 has no word for (NaN) and for a name that stands twice.
    """
    if not strict:
        return _tagged(json.loads(text, parse_float=_Number, parse_int=_Number, parse_constant=_Number))
    value = json.loads(
        text, parse_float=_Number, parse_int=_Number, parse_constant=_refuse, object_pairs_hook=_each_once
    )
    return _tagged(value)


class _Number(str):
    """A number's own text: no precision is lost."""

    __slots__ = ()


def _canonical(arguments: str) -> object:
    try:
        return json_value(arguments or "{}")
    except (ValueError, RecursionError):
        return arguments


def _refuse(name: str) -> NoReturn:
    msg = f"{name} is no JSON number"
    raise ValueError(msg)


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        msg = "a name stands twice in one object"
        raise ValueError(msg)
    return found


def _tagged(value: object) -> object:
    """Return a value of which equal ones are the same JSON: Python takes 1, 1.0 and True for one another."""
    match value:
        case dict():
            return {name: _tagged(one) for name, one in value.items()}
        case list():
            return [_tagged(one) for one in value]
        case _Number():
            return ("number", str(value))
        case _:
            return (type(value).__name__, value)
