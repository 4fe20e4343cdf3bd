"""JSON taken apart without being rewritten: the members of an object and the items of an array as their exact text.

Arguments, tasks and numbers of a foreign file are recorded as it wrote them (`1.0` stays `1.0`, key order stays), so a
parsed value is never serialised again. `compact` takes away what is layout only; `joined` puts texts back together.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import TypeVar

_SKIP = json.JSONDecoder(parse_int=len, parse_float=len, parse_constant=len)
"""Finds where a value ends. Numbers are not converted: one of 5000 digits is text like any other."""
_SPACE = " \t\n\r"
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[ \t\n\r]+')
_SURROGATE = re.compile("[\ud800-\udfff]")
_Found = TypeVar("_Found")


def members(text: str) -> dict[str, str]:
    """Return each member's exact text by its name; the last of several equal names counts, as for every JSON reader."""
    at, found = _after(text, 0, "{"), dict[str, str]()
    if text[at : at + 1] == "}":
        return _whole(text, at, found)
    while True:
        name, end = _SKIP.raw_decode(text, at)
        if not isinstance(name, str):
            raise json.JSONDecodeError("expected a name", text, at)
        at = _after(text, end, ":")
        _, end = _SKIP.raw_decode(text, at)
        found[name] = text[at:end]
        at = _spaced(text, end)
        if text[at : at + 1] == "}":
            return _whole(text, at, found)
        at = _after(text, at, ",")


def items(text: str) -> list[str]:
    """Return each item's exact text."""
    at, found = _after(text, 0, "["), list[str]()
    if text[at : at + 1] == "]":
        return _whole(text, at, found)
    while True:
        _, end = _SKIP.raw_decode(text, at)
        found.append(text[at:end])
        at = _spaced(text, end)
        if text[at : at + 1] == "]":
            return _whole(text, at, found)
        at = _after(text, at, ",")


def compact(text: str) -> str:
    """Return a JSON text without white space around its tokens and without escapes that it does not need.

    A file's indentation says nothing, and the same task in two files must have one digest. Numbers keep their digits,
    members their order; the escape of a lone surrogate stays.
    """
    return _TOKENS.sub(_respelled, text)


def _respelled(match: re.Match[str]) -> str:
    token: str = match[0]
    if token[0] != '"':
        return ""
    if "\\" not in token:
        return token
    return quoted(json.loads(token))


def quoted(value: str) -> str:
    """Return a string's JSON text, without escapes that it does not need."""
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", json.dumps(value, ensure_ascii=False))


def joined(parts: Mapping[str, str]) -> str:
    """Return an object of exact texts."""
    return "{" + ",".join(f"{json.dumps(name)}:{text}" for name, text in parts.items()) + "}"


def joined_items(parts: Sequence[str]) -> str:
    """Return an array of exact texts."""
    return "[" + ",".join(parts) + "]"


def is_object(text: str | None) -> bool:
    """Whether the text of a JSON value is an object's."""
    return text is not None and text.startswith("{")


def is_array(text: str | None) -> bool:
    """Whether the text of a JSON value is an array's."""
    return text is not None and text.startswith("[")


def string(text: str | None) -> str | None:
    """Return the string that a JSON text holds; None for null, for another type and for no text."""
    if text is None or not text.startswith('"'):
        return None
    value = json.loads(text)
    return value if isinstance(value, str) else None


def integer(text: str | None) -> int | None:
    """Return the integer that a JSON text holds, or None."""
    digits = (text or "").removeprefix("-")
    return int(text or "") if digits.isdecimal() and digits.isascii() and len(digits) < len(str(2**53)) else None


def _whole(text: str, last: int, found: _Found) -> _Found:
    """Return what was found, if nothing follows the closing bracket."""
    if text[last + 1 :].strip(_SPACE):
        raise json.JSONDecodeError("more text after the value", text, last + 1)
    return found


def _spaced(text: str, at: int) -> int:
    while text[at : at + 1] and text[at] in _SPACE:
        at += 1
    return at


def _after(text: str, at: int, sign: str) -> int:
    """Return where the next token begins after the sign that must stand here."""
    at = _spaced(text, at)
    if text[at : at + 1] != sign:
        raise json.JSONDecodeError(f"expected {sign!r}", text, at)
    return _spaced(text, at + 1)
