"""JSON Schemas as providers' structured outputs take them: the part that both enforce, or word for what they do not.

Pure. OpenAI's own host wants an object at the root, and in strict mode every property required and every object closed;
Anthropic's wants every object closed. Bounds (lengths, ranges, patterns) go into descriptions: the core checks each
reply against the whole schema anyway. A schema that would change its meaning is not forced into the form (None).
"""

import json
import re
from collections.abc import Mapping

WRAPPER = "reply"
"""The property that holds the whole reply where the root must be an object."""

_KEPT = frozenset({"$ref", "$defs", "additionalProperties", "anyOf", "const", "description", "enum", "items"})
_ALSO_KEPT = frozenset({"properties", "required", "title", "type"})
_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
_WRAPPED = re.compile(rf'\s*\{{\s*"{WRAPPER}"\s*:\s*')
_END = re.compile(r"\s*\}\s*")


class _Inexpressible(Exception):
    """The schema means something that the provider's form cannot say."""


def enforced(schema: Mapping[str, object], *, all_required: bool) -> dict[str, object] | None:
    """Return the schema in the form that a provider enforces, or None where it has none.

    `all_required`: the provider takes no optional property.
    """
    try:
        return _object_of(_form(schema, all_required=all_required))
    except _Inexpressible:
        return None


def wrapped(schema: Mapping[str, object]) -> dict[str, object]:
    """Return the schema of an object whose only property is what the schema describes; definitions stay at the root."""
    inner = {name: value for name, value in schema.items() if name != "$defs"}
    whole: dict[str, object] = {
        "type": "object",
        "properties": {WRAPPER: inner},
        "required": [WRAPPER],
        "additionalProperties": False,
    }
    return {**whole, "$defs": schema["$defs"]} if "$defs" in schema else whole


def unwrapped(text: str) -> str | None:
    """Return the exact text inside the wrapper, or None where the text is not wrapped, or not whole."""
    begun = _WRAPPED.match(text)
    if begun is None:
        return None
    try:
        _, end = json.JSONDecoder().raw_decode(text, begun.end())
    except (ValueError, RecursionError):
        return None
    return text[begun.end() : end] if _END.fullmatch(text, end) else None


def _form(schema: object, *, all_required: bool) -> object:
    if not isinstance(schema, Mapping) or not schema:
        raise _Inexpressible
    kept = {name: value for name, value in schema.items() if name in _KEPT | _ALSO_KEPT}
    if "oneOf" in schema and "anyOf" not in schema:
        kept["anyOf"] = schema["oneOf"]
    for name in ("properties", "$defs"):
        if name in kept:
            members = _object_of(kept[name])
            kept[name] = {key: _form(value, all_required=all_required) for key, value in members.items()}
    if "anyOf" in kept:
        kept["anyOf"] = [_form(branch, all_required=all_required) for branch in _list_of(kept["anyOf"])]
    if "items" in kept:
        kept["items"] = _form(kept["items"], all_required=all_required)
    if kept.get("type") == "object":
        _close(kept, all_required=all_required)
    elif not kept.keys() & {"anyOf", "$ref"}:
        _type(kept)
    left = {name: value for name, value in schema.items() if name not in {*kept, "oneOf", "$schema", "$id", "default"}}
    if left.keys() & {"allOf", "not", "if", "patternProperties", "prefixItems", "dependentRequired"}:
        raise _Inexpressible
    if left:
        said = json.dumps(left, ensure_ascii=False, sort_keys=True)
        kept["description"] = f"{kept.get('description', '')} {said}".strip()
    return kept


def _close(kept: dict[str, object], *, all_required: bool) -> None:
    named = "properties" in kept
    properties = _object_of(kept.setdefault("properties", {}))
    if kept.setdefault("additionalProperties", not named) is not False:
        raise _Inexpressible  # a map with free names
    required = _list_of(kept.get("required", []))
    if all_required and set(properties) - set(required):
        raise _Inexpressible  # null in place of an absent value is not the same to a tool


def _type(kept: dict[str, object]) -> None:
    """Give a constant or an enumeration its type, which one provider wants beside it."""
    values = _list_of(kept["enum"]) if "enum" in kept else [kept["const"]] if "const" in kept else []
    types = {_TYPES.get(type(value)) for value in values}
    if "type" not in kept:
        if len(types) != 1 or None in types:
            raise _Inexpressible
        kept["type"] = types.pop()


def _object_of(value: object) -> dict[str, object]:
    if not isinstance(value, Mapping):
        raise _Inexpressible
    return dict(value)


def _list_of(value: object) -> list[object]:
    if not isinstance(value, list):
        raise _Inexpressible
    return value
