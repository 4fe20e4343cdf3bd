r"""Secrets inside JSON text, as places in its exact bytes: what is not redacted stays as it was written.

The text is cut into tokens, never parsed into values. Each string is looked at decoded (`\u0068` hides nothing) and
with the name of its field in view; a string that holds JSON text itself is walked likewise, a few levels deep, and the
places found are carried back through every level of escapes. Counterpart of `restoring`, which walks the same way.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import NamedTuple

from spectrace.redaction.fields import credential, is_secret_value
from spectrace.redaction.findings import NUMBER, SECRET, Found, merged
from spectrace.redaction.names import Named, is_header, named

MAX_NESTED = 4
"""JSON text inside JSON text: so many levels are walked; what lies deeper is looked at as plain text."""

_TOKEN = re.compile(
    r"[ \t\r\n]*+(?:(?P<mark>[{}\[\],:])|\"(?P<text>[^\"\\]*+(?:\\.[^\"\\]*+)*+)\"|(?P<scalar>[A-Za-z0-9.+\-]++))",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u(?P<code>[0-9a-fA-F]{4})|(?P<letter>.))", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_SPACE = re.compile(r"[ \t\r\n]*+")
BEGINS = re.compile(r"[ \t\r\n\ufeff]*+[{\[]")
HIDDEN = re.compile(r"\\u00[2-7]")
"""A letter that nobody needs to escape."""
_INNER = frozenset({"value", "default", "example", "const"})
"""What holds the value of a field that is described: `"password": {"type": "string", "default": ...}`."""
NAMING = frozenset({"name", "key", "header"})
_SHORT = 6
"""Nothing is a secret by its own form in fewer characters."""
_NAME_SHOWN = 64
_DIGITS = 4
"""A number of fewer digits is nobody's secret."""

Rule = Callable[[str], list[Found]]
"""Looks at a plain text."""


class Literal(NamedTuple):
    """A string of a JSON text, or a number where `text` is None: its place without quotes, and the name it goes by."""

    start: int
    end: int
    text: str | None
    name: str
    is_name: bool


class Decoded:
    """A string's text, and the way back from its characters to the bytes they were written as."""

    def __init__(self, raw: str) -> None:
        """Decode the escapes of a string; a half of a pair stays one character of its own."""
        parts, self._from, self._to, at, length = [], [0], [0], 0, 0
        for match in _ESCAPE.finditer(raw):
            parts.append(raw[at : match.start()])
            length += match.start() - at
            code = match["code"]
            parts.append(chr(int(code, 16)) if code is not None else _LETTERS.get(match["letter"], match["letter"]))
            self._from += [length, length + 1]
            self._to += [match.start(), match.end()]
            at, length = match.end(), length + 1
        parts.append(raw[at:])
        self.text = "".join(parts)

    def back(self, at: int) -> int:
        """Return where a character was written."""
        known = bisect_right(self._from, at) - 1
        return self._to[known] + at - self._from[known]


def literals(text: str) -> list[Literal] | None:
    """Return the strings and numbers of a JSON text, or of several after each other; None where it is not JSON."""
    if BEGINS.match(text) is None:
        return None
    try:
        return list(_read(text))
    except ValueError:
        return None


class _Frame:
    """An object or a list that is open."""

    __slots__ = ("after", "is_object", "key", "name", "named", "value")

    def __init__(self, *, is_object: bool, name: str) -> None:
        self.is_object, self.name = is_object, name
        self.key: str | None = None
        self.after = "open"
        self.named = ""
        self.value: Literal | None = None


def _read(text: str) -> Iterator[Literal]:
    stack: list[_Frame] = []
    at, length = 1 if text.startswith("\ufeff") else 0, len(text)
    while at < length:
        token = _TOKEN.match(text, at)
        if token is None:
            blank = _SPACE.match(text, at)
            if blank is not None and blank.end() == length:
                break
            raise ValueError
        at = token.end()
        frame = stack[-1] if stack else None
        match token["mark"]:
            case "{" | "[" as mark:
                name = _take(frame)
                stack.append(_Frame(is_object=mark == "{", name=name))
            case "}" | "]" as mark:
                if frame is None or frame.is_object is not (mark == "}") or frame.after in {"comma", "key", "colon"}:
                    raise ValueError
                if frame.named and frame.value is not None:
                    yield frame.value._replace(name=frame.named)
                stack.pop()
            case ",":
                if frame is None or frame.after != "value":
                    raise ValueError
                frame.after = "comma"
            case ":":
                if frame is None or frame.after != "key":
                    raise ValueError
                frame.after = "colon"
            case _:
                yield _literal(token, frame)
    if stack:
        raise ValueError


def _take(frame: _Frame | None) -> str:
    """Note that a value stands here; return the name that it goes by."""
    if frame is None:
        return ""
    if frame.is_object:
        if frame.after != "colon":
            raise ValueError
        frame.after = "value"
        key = frame.key or ""
        return frame.name if key in _INNER and frame.name else key
    if frame.after == "value":
        raise ValueError
    frame.after = "value"
    return frame.name


def _literal(token: "re.Match[str]", frame: _Frame | None) -> Literal:
    if token["text"] is None:
        if frame is None:
            raise ValueError  # a word by itself is prose
        return Literal(*token.span("scalar"), None, _take(frame), is_name=False)
    start, end = token.span("text")
    raw = token["text"]
    if frame is not None and frame.is_object and frame.after in {"open", "comma"}:
        frame.key, frame.after = Decoded(raw).text if "\\" in raw else raw, "key"
        return Literal(start, end, raw, "", is_name=True)
    if frame is None:
        raise ValueError
    found = Literal(start, end, raw, _take(frame), is_name=False)
    if frame.is_object and frame.key in NAMING:
        frame.named = raw
    elif frame.is_object and frame.key == "value":
        frame.value = found
    return found


def walk(text: str, rule: Rule, extra: frozenset[str] | None, depth: int = 0) -> list[Found] | None:
    """Return what is found in a JSON text; None where it is none. Without `extra` names say nothing."""
    read = literals(text)
    if read is None:
        return None
    found: list[Found] = []
    for one in read:
        if one.text is None:
            found += _number(text, one, extra)
            continue
        strength = Named.NOTHING if one.is_name or extra is None else _named(one.name, extra)
        if not one.text or (strength is Named.NOTHING and len(one.text) < _SHORT):
            continue
        decoded = Decoded(one.text) if "\\" in one.text else None
        plain = one.text if decoded is None else decoded.text
        inner: list[Found] | None
        if strength is not Named.NOTHING and is_secret_value(strength, plain[credential(plain) :]):
            inner = [Found(credential(plain), len(plain), SECRET, f"field {_shown(one.name)}")]
        else:
            inner = walk(plain, rule, extra, depth + 1) if depth < MAX_NESTED else None
            inner = merged(plain, rule(plain)) if inner is None else inner
        for place in inner:
            start, end = place.start, place.end
            value = plain[start:end] if place.value is None else place.value
            if decoded is not None:
                start, end = decoded.back(start), decoded.back(end)
            found.append(Found(one.start + start, one.start + end, place.kind, place.why, value, place.depth + 1))
    return found


def _named(name: str, extra: frozenset[str]) -> Named:
    return Named.STRONG if is_header(name) else named(name, extra)


def _number(text: str, one: Literal, extra: frozenset[str] | None) -> Iterator[Found]:
    digits = text[one.start : one.end]
    if extra is not None and len(digits) >= _DIGITS and digits.isdigit() and _named(one.name, extra) is Named.STRONG:
        yield Found(one.start, one.end, NUMBER, f"field {_shown(one.name)}", digits)


def _shown(name: str) -> str:
    return name[:_NAME_SHOWN]
