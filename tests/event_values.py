"""Hypothesis strategies of event bodies: fitting values of a JSON Schema, fitting bodies of a class, broken ones."""

import copy
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from spectrace.core.types import Effect, Role
from spectrace.store.schemas import _closed_set

TEXTS = st.one_of(st.text(max_size=8), st.just("long " * 100), st.just("\ud800"), st.just("nul \0"))
INTEGERS = st.integers(-(2**53) + 1, 2**53 - 1)
DIGESTS = st.binary(min_size=32, max_size=32).map(lambda data: "sha256:" + data.hex())
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text("ab\n:"),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["kind", "text", "$blob"]), inner),
    max_leaves=4,
)
_PATTERNS = {
    "^sha256:[0-9a-f]{64}$": DIGESTS,
    "^(?:verdict|repair):(?:0|[1-9][0-9]{0,6})$": st.builds(
        "{}:{}".format, st.sampled_from(["verdict", "repair"]), st.integers(0, 2**20)
    ),
    "^person:[\\s\\S]": st.text("añ\n ", min_size=1, max_size=5).map("person:".__add__),
}


def fitting(schema: dict, definitions: dict) -> st.SearchStrategy:
    """Draw JSON values that fit a schema as `store.schemas` writes it."""
    match schema:
        case {"$ref": str(name)}:
            return st.deferred(lambda: fitting(definitions[name.removeprefix("#/$defs/")], definitions))
        case {"const": value}:
            return st.just(value)
        case {"enum": list(words)}:
            return st.sampled_from(words)
        case {"anyOf": list(branches)}:
            return st.one_of(*(fitting(branch, definitions) for branch in branches))
        case {"pattern": str(pattern)}:
            return _PATTERNS[pattern]
        case {"type": list(kinds)}:
            return st.one_of(*(fitting({**schema, "type": kind}, definitions) for kind in kinds))
    match schema["type"]:
        case "null":
            return st.none()
        case "boolean":
            return st.booleans()
        case "integer":
            return st.integers(schema["minimum"], schema["maximum"])
        case "string":
            banned = schema.get("not") == {"pattern": "[^0-9.]"}
            return st.text("01." if banned else "aé\n\0", min_size=schema.get("minLength", 0), max_size=6)
        case "array" if "prefixItems" in schema:
            return st.tuples(*(fitting(item, definitions) for item in schema["prefixItems"])).map(list)
        case "array":
            return st.lists(fitting(schema["items"], definitions), max_size=2)
        case "object":
            known = {name: fitting(inner, definitions) for name, inner in schema["properties"].items()}
            return st.fixed_dictionaries(
                {name: known[name] for name in schema["required"]},
                optional={name: known[name] for name in known if name not in schema["required"]},
            )
    raise AssertionError(schema)


def fields_of(schema: dict) -> st.SearchStrategy:
    """Draw {header, body} that fit."""
    return fitting(schema, schema["$defs"])


@st.composite
def broken(draw: st.DrawFn, values: st.SearchStrategy) -> object:
    """Draw a value with one place changed: replaced, dropped or added to; by chance it may still fit."""
    value = copy.deepcopy(draw(values))
    places = list(_places(value))
    holder, key = draw(st.sampled_from(places))
    match draw(st.sampled_from(["replace", "drop", "add"])), holder:
        case "drop", _:
            del holder[key]
        case "add", dict():
            holder[draw(st.sampled_from(["later", "codec", "kind"]))] = draw(JSON)
        case "add", list():
            holder.append(draw(JSON))
        case _:
            holder[key] = draw(JSON)
    return value


def _places(value: object):
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(items):
        yield value, key
        yield from _places(item)


def bodies(cls: type) -> st.SearchStrategy:
    """Draw values of an event class, or of a class inside one, whose closed fields hold their words."""
    hints = get_type_hints(cls)
    return st.builds(cls, **{field.name: _field(cls, field.name, hints[field.name]) for field in fields(cls)})


def _field(cls: type, name: str, hint: object) -> st.SearchStrategy:
    closed = _closed_set(cls, name)
    return _of(hint) if closed is None else fitting(closed, {})


def _of(hint: object) -> st.SearchStrategy:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        return st.one_of(*map(_of, arguments))
    if origin is tuple and arguments[1:] == (Ellipsis,):
        return st.lists(_of(arguments[0]), max_size=2).map(tuple)
    if origin is tuple:
        return st.tuples(*map(_of, arguments))
    if is_dataclass(hint):
        return bodies(hint)
    if hint in {Effect, Role}:
        return st.sampled_from(hint)
    return {str: TEXTS, int: INTEGERS, bool: st.booleans(), type(None): st.none()}[hint]
