"""Whether an action is one that was recorded: equal, or equal once named rules are applied to both. Pure.

Equal is `same_action`: the same tool with arguments that are the same JSON, whatever the order of their members. What
models write otherwise for the same thing is equal under one or more of RULES, and is then said to be a *normalised
match* by the names of the fewest that suffice: whoever matches that way has to ask for it.
"""

import unicodedata
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from itertools import combinations

from spectrace.core.sameness import json_value, same_action
from spectrace.core.types import Action, Call

EXACT: tuple[str, ...] = ()
"""The rules of an exact match."""


def _outer_space(value: object) -> object:
    return value.strip() if isinstance(value, str) else value


def _number_form(value: object) -> object:
    match value:
        case ("number", str(text)):
            try:
                number = Decimal(text)
            except InvalidOperation:  # more digits than there is memory for
                return value
            return ("number", number) if number.is_finite() else value
        case _:
            return value


def _unicode_form(value: object) -> object:
    return unicodedata.normalize("NFC", value) if isinstance(value, str) else value


def _null_for_absent(value: object) -> object:
    if not isinstance(value, dict):
        return value
    return {name: one for name, one in value.items() if one != ("NoneType", None)}


RULES: Mapping[str, Callable[[object], object]] = {
    "outer space": _outer_space,
    "number form": _number_form,
    "unicode form": _unicode_form,
    "null for absent": _null_for_absent,
}
"""` A-1` and `A-1`; `2`, `2.0` and `2e0`; NFC and NFD; a member that is null and none."""
_SUBSETS = [chosen for size in range(1, len(RULES) + 1) for chosen in combinations(RULES, size)]


def match(recorded: Action, asked: Action) -> tuple[str, ...] | None:
    """Return the rules that the two are equal under, EXACT where they are equal; None where they are not."""
    if same_action(recorded, asked):
        return EXACT
    if type(recorded) is not type(asked):
        return None
    if isinstance(recorded, Call) and isinstance(asked, Call) and recorded.tool != asked.tool:
        return None
    try:
        one, other = _value(recorded), _value(asked)
        if one is None or other is None or _applied(one, tuple(RULES)) != _applied(other, tuple(RULES)):
            return None
        return next((names for names in _SUBSETS if _applied(one, names) == _applied(other, names)), None)
    except RecursionError:  # nested deeper than can be followed
        return None


def _value(action: Action) -> object:
    """Return what an action says, as JSON; None where its arguments are none, which are equal only as text."""
    if not isinstance(action, Call):
        return ("str", action.text)
    try:
        return json_value(action.arguments or "{}", strict=True)
    except (ValueError, RecursionError):
        return None


def _applied(value: object, names: tuple[str, ...]) -> object:
    match value:
        case dict():
            inside: object = {name: _applied(one, names) for name, one in value.items()}
        case list():
            inside = [_applied(one, names) for one in value]
        case ("str", str(text)):
            for name in names:
                text = RULES[name](text)  # type: ignore[assignment]  # each returns a text for a text
            return ("str", text)
        case _:
            inside = value
    for name in names:
        inside = RULES[name](inside)
    return inside
