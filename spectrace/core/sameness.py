"""When two actions are the same: equal canonical (name, arguments). Exact acceptance and speculation compare by it."""

import json

from spectrace.core.types import Action, Call


def same_action(one: Action, other: Action) -> bool:
    """Whether both do the same: the same kind, and equal text or equal tool with equal arguments.

    Arguments are equal as JSON: the order of members and spaces mean nothing, `1`, `1.0` and `"1"` are three values.
    Arguments that are no JSON are equal only as text.
    """
    if isinstance(one, Call) and isinstance(other, Call):
        return one.tool == other.tool and _canonical(one.arguments) == _canonical(other.arguments)
    return one == other


class _Number(str):
    """A number's own text: no precision is lost."""

    __slots__ = ()


def _canonical(arguments: str) -> object:
    try:
        value = json.loads(arguments or "{}", parse_float=_Number, parse_int=_Number, parse_constant=_Number)
        return _tagged(value)
    except (ValueError, RecursionError):
        return arguments


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
