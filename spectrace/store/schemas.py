"""JSON Schemas of events as they are stored, made from the classes of `core.events` and the words of `vocabulary`.

`schemas/events/` holds one file for each (type, version): whoever reads a log or a bundle without spectrace needs
them. A schema describes {"header": the ten values, "body": the object}. It is open, for a reader lets pass (and keeps)
fields that it does not know; `closed` is the same schema for writing. A file appears with its version and is never
changed once published: a test compares its digest with the one that was published. Counterpart of `codec`.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import Union, get_args, get_origin, get_type_hints

import orjson

from spectrace.core.events import HEADER_FIELDS, TYPE_NUMBERS, Body, GenerateRequested
from spectrace.core.types import Call, Finish, Message, Reply
from spectrace.errors import UsageError
from spectrace.store import vocabulary
from spectrace.store.vocabulary import Schema, or_null

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_MAX = 2**53 - 1
_PACKAGE = Path(__file__).resolve().parents[1]
_PLACES = (_PACKAGE / "_schemas" / "events", _PACKAGE.parent / "schemas" / "events")

_PLAIN: Mapping[object, Schema] = {
    NoneType: {"type": "null"},
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": -_MAX, "maximum": _MAX},
}
_ADMIN = "admin."
_ACTIONS: Mapping[type, str] = {Call: "call", Reply: "reply", Finish: "finish"}
_TEXT: Schema = {
    "description": "Text, or a reference to the blob that holds it (256 bytes or more, or not valid UTF-8).",
    "type": ["string", "object"],
    "properties": {"$blob": vocabulary.DIGEST, "codec": {"enum": ["bytes", "wtf-8"]}},
    "required": ["$blob"],
    "additionalProperties": False,
}
_HEADER_TOOL: Schema = {"type": "string", "maxLength": 255, "description": "A name, or the digest of the body's."}


def file_name(type_: str, version: int) -> str:
    """Return the name of a schema file, e.g. `verdict.given.v1.json`."""
    return f"{type_}.v{version}.json"


def published(type_: str, version: int) -> bytes:
    """Return the shipped schema file of a type and version; raise UsageError where there is none."""
    for directory in _PLACES:
        path = directory / file_name(type_, version)
        if path.is_file():
            return path.read_bytes()
    known = ", ".join(str(number) for name, number in versions() if name == type_) or "no such type"
    raise UsageError(
        f"no schema of {type_!r} version {version}: this spectrace has {known}. `spectrace schema` lists all."
    )


def versions() -> list[tuple[str, int]]:
    """Return every (type, version) that this spectrace reads, in the order of the vocabulary."""
    return [(cls.TYPE, version) for cls in TYPE_NUMBERS for version in range(1, cls.VERSION + 1)]


def schema_of(cls: type[Body]) -> Schema:
    """Return the JSON Schema of this event as stored: its header and its body."""
    shapes = _Shapes()
    special = {"messages": shapes.message_ranges()} if cls is GenerateRequested else {}
    body = shapes.object_of(cls, **special)
    return {
        "$schema": _DIALECT,
        "$id": f"urn:spectrace:event:{cls.TYPE}:v{cls.VERSION}",
        "title": f"{cls.TYPE}, version {cls.VERSION}",
        "description": (cls.__doc__ or "").partition("\n")[0],
        "type": "object",
        "properties": {"header": _header(cls), "body": body},
        "required": ["header", "body"],
        "$defs": dict(sorted(shapes.definitions.items())),
    }


def closed(schema: Schema) -> Schema:
    """Return the schema for writing: no object may have a field that this version does not have."""
    return {key: _closed(value) for key, value in schema.items()}


def text_of(cls: type[Body]) -> bytes:
    """Return the content of a class's schema file."""
    return orjson.dumps(schema_of(cls), option=orjson.OPT_INDENT_2) + b"\n"


def write(directory: Path) -> list[Path]:
    """Write the schemas of the newest versions; return the files that changed. Older versions' files stay."""
    directory.mkdir(parents=True, exist_ok=True)
    changed = []
    for cls in TYPE_NUMBERS:
        path = directory / file_name(cls.TYPE, cls.VERSION)
        if not path.exists() or path.read_bytes() != text_of(cls):
            path.write_bytes(text_of(cls))
            changed.append(path)
    return changed


def _closed(schema: object) -> object:
    match schema:
        case dict():
            inner = {key: _closed(value) for key, value in schema.items()}
            return inner | {"additionalProperties": False} if inner.get("type") == "object" else inner
        case list():
            return [_closed(item) for item in schema]
        case _:
            return schema


def _header(cls: type[Body]) -> Schema:
    """Return the schema of the ten header values (see `core.digest.header_bytes`)."""
    own = get_type_hints(cls)
    lifted: list[Schema] = [_lifted(cls, name) if name in own else {"type": "null"} for name in HEADER_FIELDS]
    return {
        "description": "episode, seq, lane, type, version, at (UTC microseconds), effect, authority, outcome, tool",
        **_row(
            {"type": "string", "minLength": 1, "maxLength": 128},
            vocabulary.SEQ,
            {"type": "string", "not": {"pattern": "[^0-9.]"}},
            {"const": cls.TYPE},
            {"const": cls.VERSION},
            _PLAIN[int],
            *lifted,
        ),
    }


def _lifted(cls: type[Body], name: str) -> Schema:
    if name == "tool":
        return or_null(_HEADER_TOOL)
    closed_set = _closed_set(cls, name)
    if closed_set is None:
        msg = f"{cls.TYPE}: the header field {name} has no closed set in `vocabulary`"
        raise TypeError(msg)
    return closed_set


def _closed_set(cls: type, name: str) -> Schema | None:
    """Return what `vocabulary` says of a field, if it says anything."""
    if cls in TYPE_NUMBERS:
        common = {} if cls.TYPE.startswith(_ADMIN) else vocabulary.EVERYWHERE
        return vocabulary.BY_TYPE.get((cls.TYPE, name)) or common.get(name)
    return vocabulary.BY_CLASS.get((cls.__name__, name))


class _Shapes:
    """Schemas of the types that one body uses, each defined once."""

    def __init__(self) -> None:
        self.definitions: dict[str, object] = {}

    def object_of(self, cls: type, **special: Schema) -> Schema:
        """Return a dataclass's schema: every field is always written, header fields apart.

        Of these a body holds a tool or an authority where the header has only its digest.
        """
        hints = get_type_hints(cls)
        lifted = HEADER_FIELDS if cls in TYPE_NUMBERS else ()
        kinds: dict[str, Schema] = {"kind": {"const": _ACTIONS[cls]}} if cls in _ACTIONS else {}
        for field in fields(cls):
            name = field.name
            if name not in lifted:
                kinds[name] = special.get(name) or _closed_set(cls, name) or self.of(hints[name])
            elif name in {"tool", "authority"}:
                kinds[name] = self.of(str)
        return {
            "description": (cls.__doc__ or "").partition("\n")[0],
            "type": "object",
            "properties": kinds,
            "required": [name for name in kinds if name not in lifted],
        }

    def of(self, annotation: object) -> Schema:
        """Return the schema of a field's type; a type that no body may hold is a mistake in this package."""
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin in {Union, UnionType}:
            return self._union(
                [member for member in arguments if member is not NoneType], nullable=NoneType in arguments
            )
        if origin is tuple and arguments[1:] == (Ellipsis,):
            return {"type": "array", "items": self.of(arguments[0])}
        if origin is tuple:
            return _row(*(self.of(item) for item in arguments))
        if annotation in _PLAIN:
            return _PLAIN[annotation]
        if annotation is str:
            return self._defined("text", lambda: _TEXT)
        if isinstance(annotation, type) and issubclass(annotation, StrEnum):
            return vocabulary.one_of(*annotation)
        if isinstance(annotation, type) and is_dataclass(annotation):
            return self._defined(annotation.__name__, lambda: self.object_of(annotation))
        msg = f"no JSON Schema for {annotation!r}: a body holds text, integers, booleans, tuples and dataclasses"
        raise TypeError(msg)

    def _union(self, members: list[object], *, nullable: bool) -> Schema:
        if members == [str]:
            return self._defined("text_or_null", lambda: or_null(_TEXT))
        one: Schema = self.of(members[0]) if len(members) == 1 else {"anyOf": [self.of(member) for member in members]}
        return or_null(one) if nullable else one

    def message_ranges(self) -> Schema:
        """Return the schema of a message list by reference (see `messages`)."""
        return {
            "description": "`new` get the ordinals base, base + 1, ...; `ranges` (first, count) spell the whole list.",
            "type": "object",
            "properties": {
                "ranges": {"type": "array", "items": _row(vocabulary.COUNT, vocabulary.COUNT)},
                "base": vocabulary.COUNT,
                "new": {"type": "array", "items": self.of(Message)},
            },
            "required": ["ranges", "base", "new"],
        }

    def _defined(self, name: str, shape: Callable[[], Schema]) -> Schema:
        if name not in self.definitions:
            self.definitions[name] = shape()
        return {"$ref": f"#/$defs/{name}"}


def _row(*items: Schema) -> Schema:
    return {"type": "array", "prefixItems": list(items), "items": False, "minItems": len(items)}


if __name__ == "__main__":
    for written in write(Path(sys.argv[1])):
        print(written)  # noqa: T201 - `make schemas`
