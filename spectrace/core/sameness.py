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


def _canonical(arguments: str) -> str:
    try:
        value = json.loads(arguments or "{}", parse_float=_number, parse_int=_number, parse_constant=_number)
        return json.dumps(value, sort_keys=True, ensure_ascii=True)
    except (ValueError, RecursionError):
        return arguments


def _number(text: str) -> dict[str, str]:
    """Keep a number's own text: no precision is lost, and it equals no string."""
    return {"\0number": text}
