"""The strings and numbers of a JSON text, each with its place and the name that it goes by.

The text is cut into tokens, never parsed into values. A name is that of the field, or of what a value lies inside
(`passwords`), stands beside (`"name": "DB_PASSWORD", "value": ...`), follows (`["--password", ...]`) or lies under (the
columns of a table).
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from spectrace.redaction.findings import words
from spectrace.redaction.names import Named, holds_secrets, is_beside, is_header, named

_TOKEN = re.compile(
    r"[ \t\r\n]*+(?:(?P<mark>[{}\[\],:])|\"(?P<text>[^\"\\]*+(?:\\.[^\"\\]*+)*+)\"|(?P<scalar>[A-Za-z0-9.+\-]++))",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u(?P<code>[0-9a-fA-F]{4})|(?P<letter>.))", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_SPACE = re.compile(r"[ \t\r\n]*+")
BEGINS = re.compile(r"[ \t\r\n\ufeff]*+[{\[]")
_INNER = frozenset({"value", "default", "example", "const"})
"""What holds the value of a field that is described: `"password": {"type": "string", "default": ...}`."""
NAMING = words(
    "name key header field label id selector param parameter attribute attr setting property variable env option"
)
_VALUES = words("value val stringValue")
_TEXTS = words("text content data")
"""Values that are often prose: beside a name they must look like secrets."""
VALUES = _VALUES | _TEXTS
_COLUMNS, _ROWS = words("columns fields header headers cols"), words("rows data values records")
_JWK = words("d k p q dp dq qi")
_LONGEST_NAMING = 96
_PAIR = 2


class Literal(NamedTuple):
    """A string of a JSON text, or a number where `text` is None: its place without quotes, and the name it goes by."""

    start: int
    end: int
    text: str | None
    name: str
    is_name: bool
    held: bool = False
    """Whether the name is that of something around it or beside it, so that the value must look like a secret too."""


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


def literals(text: str, extra: frozenset[str] = frozenset()) -> list[Literal] | None:
    """Return the strings and numbers of a JSON text, or of several after each other; None where it is not JSON.

    What goes by two names, its own and that beside it, is told twice.
    """
    if BEGINS.match(text) is None:
        return None
    try:
        return list(_Reading(text, extra).read())
    except ValueError:
        return None


class _Frame:
    """An object or a list that is open."""

    __slots__ = (
        "after",
        "before",
        "columns",
        "held",
        "is_jwk",
        "is_object",
        "items",
        "key",
        "name",
        "naming",
        "private",
        "values",
    )

    def __init__(self, *, is_object: bool, name: str, held: bool) -> None:
        self.is_object, self.name, self.held = is_object, name, held
        self.key: str | None = None
        self.after = "open"
        self.naming = ""
        self.values: list[Literal] = []
        self.is_jwk = False
        self.private: list[Literal] = []
        self.columns: list[str] = []
        """The names that a list in an object gives to columns; in a list of rows, and a row, what it lies under."""
        self.items: int = 0
        self.before: Literal | None = None
        """In a list the item before this one, where it is a text."""


class _Reading:
    """One text being read."""

    def __init__(self, text: str, extra: frozenset[str]) -> None:
        self._text, self._extra = text, extra
        self._stack: list[_Frame] = []

    def read(self) -> Iterator[Literal]:
        text, stack = self._text, self._stack
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
                    self._open(frame, is_object=mark == "{")
                case "}" | "]" as mark:
                    if (
                        frame is None
                        or frame.is_object is not (mark == "}")
                        or frame.after in {"comma", "key", "colon"}
                    ):
                        raise ValueError
                    stack.pop()
                    yield from self._beside(frame)
                case ",":
                    if frame is None or frame.after != "value":
                        raise ValueError
                    frame.after = "comma"
                case ":":
                    if frame is None or frame.after != "key":
                        raise ValueError
                    frame.after = "colon"
                case _:
                    yield self._literal(token, frame)
        if stack:
            raise ValueError

    def _open(self, frame: _Frame | None, *, is_object: bool) -> None:
        name, held = self._take(frame)
        made = _Frame(is_object=is_object, name=name, held=held)
        if frame is not None and not is_object and (not frame.is_object or frame.key in _ROWS):
            made.columns = frame.columns
        if frame is not None:
            frame.before = None
        self._stack.append(made)

    def _take(self, frame: _Frame | None) -> tuple[str, bool]:
        """Note that a value stands here; return the name that it goes by, and whether it is another's."""
        if frame is None:
            return "", False
        if frame.is_object:
            if frame.after != "colon":
                raise ValueError
            frame.after = "value"
            key = frame.key or ""
            if not frame.name:
                return key, False
            if key in _INNER:
                return frame.name, frame.held
            if not holds_secrets(frame.name, self._extra) or is_beside(key):
                return key, False
            return (key, False) if named(key, self._extra) is Named.STRONG else (frame.name, True)
        if frame.after == "value":
            raise ValueError
        frame.after = "value"
        frame.items += 1
        if frame.items <= len(frame.columns):
            return frame.columns[frame.items - 1], False
        return frame.name, frame.held

    def _literal(self, token: "re.Match[str]", frame: _Frame | None) -> Literal:
        if frame is None:
            raise ValueError  # a word by itself is prose
        if token["text"] is None:
            frame.before = None
            name, held = self._take(frame)
            return Literal(*token.span("scalar"), None, name, is_name=False, held=held)
        start, end = token.span("text")
        raw = token["text"]
        if frame.is_object and frame.after in {"open", "comma"}:
            frame.key, frame.after = Decoded(raw).text if "\\" in raw else raw, "key"
            return Literal(start, end, raw, "", is_name=True)
        name, held = self._take(frame)
        found = Literal(start, end, raw, name, is_name=False, held=held)
        if frame.is_object:
            self._note(frame, found)
        else:
            found = self._behind(frame, found)
            frame.before = found
            above = self._stack[-2] if len(self._stack) > 1 else None
            if above is not None and above.is_object and above.key in _COLUMNS:
                above.columns.append(raw)
        return found

    def _note(self, frame: _Frame, found: Literal) -> None:
        """Keep what says something of its neighbours."""
        key, raw = frame.key or "", found.text or ""
        is_told = frame.naming and named(frame.naming, self._extra) is Named.STRONG
        if (key in NAMING and len(raw) <= _LONGEST_NAMING and not is_told) or (key == "type" and raw == "password"):
            frame.naming = raw
        elif key in VALUES:
            frame.values.append(found._replace(held=key in _TEXTS))
        elif key == "kty":
            frame.is_jwk = True
        if key in _JWK:
            frame.private.append(found)

    def _behind(self, frame: _Frame, found: Literal) -> Literal:
        """Name what stands behind a name in a list by it: `["--password", "..."]`, `[["X-Api-Key", "..."]]`."""
        before = frame.before.text if frame.before is not None else None
        if not before or len(before) > _LONGEST_NAMING or (found.text or "").startswith("-"):
            return found
        name = before.lstrip("-")
        if not is_header(name) and named(name, self._extra) is not Named.STRONG:
            return found
        if name != before:
            return found._replace(name=name, held=False)
        is_pair = frame.items == _PAIR and len(self._stack) > 1 and not self._stack[-2].is_object
        return found._replace(name=name, held=not is_header(name)) if is_pair else found

    def _beside(self, frame: _Frame) -> Iterator[Literal]:
        """Yield what goes by the name beside it once more: values, pairs in a list, the private parts of a JWK."""
        if frame.naming:
            for value in frame.values:
                yield value._replace(name=frame.naming)
        if frame.is_jwk:
            for value in frame.private:
                yield value._replace(name="private_key", held=False)
