"""JSON Schemas of event bodies as they are stored, made from the classes of `core.events`. Counterpart of `codec`.

`schemas/events/` holds one file for each (type, version): whoever reads a log or a bundle without spectrace needs
them. A file appears with its version; later only its words may change, never what it allows; a test says when one is
missing or stale. A body is open: a reader keeps fields that it does not know. Header fields are in the header, and in
the body only where the header holds their digest, so they are optional here.
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

Schema = dict[str, object]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_MAX = 2**53 - 1
_PLAIN: Mapping[object, Schema] = {
    NoneType: {"type": "null"},
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": -_MAX, "maximum": _MAX},
}
_ACTIONS: Mapping[type, str] = {Call: "call", Reply: "reply", Finish: "finish"}
_TEXT: Schema = {
    "description": "Text, or a reference to the blob that holds it (256 bytes or more, or not valid UTF-8).",
    "anyOf": [
        {"type": "string"},
        {
            "type": "object",
            "properties": {
                "$blob": {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"},
                "codec": {"const": "wtf-8"},
            },
            "required": ["$blob"],
            "additionalProperties": False,
        },
    ],
}


def file_name(cls: type[Body]) -> str:
    """Return the name of a class's schema file, e.g. `verdict.given.v1.json`."""
    return f"{cls.TYPE}.v{cls.VERSION}.json"


def schema_of(cls: type[Body]) -> Schema:
    """Return the JSON Schema of this event's stored body."""
    shapes = _Shapes()
    special = {"messages": shapes.message_ranges()} if cls is GenerateRequested else {}
    body = shapes.object_of(cls, **special)
    return {
        "$schema": _DIALECT,
        "$id": f"urn:spectrace:event:{cls.TYPE}:v{cls.VERSION}",
        "title": f"{cls.TYPE}, version {cls.VERSION}",
        **body,
        "$defs": dict(sorted(shapes.definitions.items())),
    }


def text_of(cls: type[Body]) -> bytes:
    """Return the content of a class's schema file."""
    return orjson.dumps(schema_of(cls), option=orjson.OPT_INDENT_2) + b"\n"


def write(directory: Path) -> list[Path]:
    """Write the schemas of the newest versions; return the files that changed. Older versions' files stay."""
    directory.mkdir(parents=True, exist_ok=True)
    changed = []
    for cls in TYPE_NUMBERS:
        path = directory / file_name(cls)
        if not path.exists() or path.read_bytes() != text_of(cls):
            path.write_bytes(text_of(cls))
            changed.append(path)
    return changed


class _Shapes:
    """Schemas of the types that one body uses, each defined once."""

    def __init__(self) -> None:
        self.definitions: dict[str, object] = {}

    def object_of(self, cls: type, **special: Schema) -> Schema:
        """Return a dataclass's schema: every field is always written, header fields apart."""
        hints = get_type_hints(cls)
        lifted = HEADER_FIELDS if cls in TYPE_NUMBERS else ()
        names = [field.name for field in fields(cls)]
        kinds = {"kind": {"const": _ACTIONS[cls]}} if cls in _ACTIONS else {}
        return {
            "description": (cls.__doc__ or "").partition("\n")[0],
            "type": "object",
            "properties": {**kinds, **{name: special.get(name) or self.of(hints[name]) for name in names}},
            "required": [*kinds, *(name for name in names if name not in lifted)],
        }

    def of(self, annotation: object) -> Schema:
        """Return the schema of a field's type; a type that no body may hold is a mistake in this package."""
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin in {Union, UnionType}:
            return {"anyOf": [self.of(member) for member in arguments]}
        if origin is tuple and arguments[1:] == (Ellipsis,):
            return {"type": "array", "items": self.of(arguments[0])}
        if origin is tuple:
            return _row(*(self.of(item) for item in arguments))
        if annotation in _PLAIN:
            return _PLAIN[annotation]
        if annotation is str:
            return self._defined("text", lambda: _TEXT)
        if isinstance(annotation, type) and issubclass(annotation, StrEnum):
            return {"enum": [member.value for member in annotation]}
        if isinstance(annotation, type) and is_dataclass(annotation):
            return self._defined(annotation.__name__, lambda: self.object_of(annotation))
        msg = f"no JSON Schema for {annotation!r}: a body holds text, integers, booleans, tuples and dataclasses"
        raise TypeError(msg)

    def message_ranges(self) -> Schema:
        """Return the schema of a message list by reference (see `messages`)."""
        count: Schema = {"type": "integer", "minimum": 0, "maximum": _MAX}
        return {
            "description": "`new` get the ordinals base, base + 1, ...; `ranges` (first, count) spell the whole list.",
            "type": "object",
            "properties": {
                "ranges": {"type": "array", "items": _row(count, count)},
                "base": count,
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
