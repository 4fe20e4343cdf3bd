"""JSON that somebody else wrote, as exact texts: `members` cuts an object open without parsing what is inside.

`strict` is the rule since revision 2: RFC 8259 to the letter (no trailing comma, no NaN), no name twice at any depth,
and causes in words of our own: the `json` module words its errors, and places them, differently from one Python to the
next, and a cause is part of the next prompt. Without it, replies are read as revision 1 read them.
"""

import json
from json import JSONDecodeError, JSONDecoder
from typing import NoReturn

MAX_DEPTH = 100
"""Deeper nesting is refused: how deep `json` gets before it gives up differs between Pythons."""

MAX_DIGITS = 640
"""Digits of a whole number that every Python converts, whatever PYTHONINTMAXSTRDIGITS says."""

_LOOSE = JSONDecoder()
_SPACE = " \t\r\n"


class Unreadable(ValueError):
    """The text breaks the form; the message is the cause, in words that a model can act on."""


def members(text: str, *, strict: bool = False) -> dict[str, str]:
    """Return the members of a JSON object as {name: exact text of the value}; refuse duplicates and trailing text."""
    text = text.strip()
    if not text.startswith("{"):
        raise Unreadable(f"expected one JSON object, found {text[:40]!r}")
    if strict:
        _refuse_depth(text)
    found: dict[str, str] = {}
    at = _skip(text, 1)
    while text[at : at + 1] != "}":
        name, at = _decode(text, at, "the name of a member", strict=strict)
        if not isinstance(name, str) or name in found:
            raise Unreadable(f"member {name!r} is not a name, or stands twice")
        at = _skip(text, at)
        if text[at : at + 1] != ":":
            raise Unreadable(f"expected ':' after {name!r}")
        start = _skip(text, at + 1)
        _, at = _decode(text, start, f"the value of {name!r}", strict=strict)
        found[name] = text[start:at]
        at = _skip(text, at)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
            if strict and text[at : at + 1] == "}":
                raise Unreadable("not JSON: a comma before the closing brace")
        elif text[at : at + 1] != "}":
            raise Unreadable("the JSON object is cut off" if at >= len(text) else f"unexpected text at {at}")
    if text[at + 1 :].strip():
        raise Unreadable("text follows the JSON object")
    return found


def text_at(found: dict[str, str], name: str) -> str | None:
    """Return a member that is a text; None where it is missing or something else. Never converts a number."""
    if not found.get(name, "").startswith('"'):
        return None
    value = json.loads(found[name])
    return value if isinstance(value, str) else None


def refuse_long_numbers(text: str) -> None:
    """Refuse JSON with a whole number that some Python cannot convert; which ones can depends on its environment."""
    _SHORT.decode(text)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _decode(text: str, at: int, what: str, *, strict: bool) -> tuple[object, int]:
    try:
        return (_STRICT if strict else _LOOSE).raw_decode(text, at)
    except JSONDecodeError as error:
        if strict:
            where = f"from character {at} on: {text[at : at + 20]!r}"
            raise Unreadable(f"not JSON: {what} is broken or cut off, {where}") from None
        cut = " (is the reply cut off?)" if error.pos >= len(text) - 1 else ""
        raise Unreadable(f"not JSON: {error.msg} at character {error.pos}{cut}") from None


def _refuse_depth(text: str) -> None:
    if text.count("[") + text.count("{") <= MAX_DEPTH:  # nearly always: then no character need be looked at
        return
    depth, quoted, escaped = 0, False, False
    for character in text:
        if quoted:
            quoted = escaped or character != '"'
            escaped = not escaped and character == "\\"
            continue
        quoted = character == '"'
        depth += (character in "[{") - (character in "]}")
        if depth > MAX_DEPTH:
            raise Unreadable(f"the JSON is nested more than {MAX_DEPTH} deep")


def _refuse_constant(name: str) -> NoReturn:
    raise Unreadable(f"not JSON: {name} is not a number there")


def _refuse_long(number: str) -> None:
    if len(number.removeprefix("-")) > MAX_DIGITS:
        raise Unreadable(f"a number has more than {MAX_DIGITS} digits")


def _refuse_twice(pairs: list[tuple[str, object]]) -> None:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise Unreadable(f"member {twice!r} stands twice in one object")


_STRICT = JSONDecoder(parse_constant=_refuse_constant, parse_int=str, parse_float=str, object_pairs_hook=_refuse_twice)
"""Numbers stay text: converting one of 5000 digits is refused by Python, and only the place where it ends is wanted."""
_SHORT = JSONDecoder(parse_int=_refuse_long)
