"""A Python function's signature as a JSON Schema, and a call's arguments as its Python values.

Hints understood: str, int, float, bool, None, Any, list, tuple, set, dict with str keys, Literal, Enum, Optional and
unions, dataclasses, TypedDict, date, datetime, and Annotated[T, "what it is"]. Any other hint is refused when the
tool is defined, not when a model first calls it. Parameter descriptions come from the docstring's `Args:` section.
"""

import dataclasses
import datetime as dt
import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Annotated, Any, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from spectrace.environments.arguments import InvalidArguments, exact_object
from spectrace.errors import UsageError

Schema = dict[str, Any]

_SECTION = re.compile(r"^(Args|Arguments|Returns|Raises|Yields|Examples?|Notes?):\s*$", re.MULTILINE)
_ARGUMENT = re.compile(r"^(\s+)\*{0,2}(\w+)(?:\s*\([^)]*\))?:\s*(.*)$")
_SCALARS: dict[object, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    None: {"type": "null"},
    types.NoneType: {"type": "null"},
    dt.date: {"type": "string", "format": "date"},
    dt.datetime: {"type": "string", "format": "date-time"},
    Any: {},
    object: {},
}


class Signature:
    """What a function takes: its JSON Schema, and how JSON text becomes keyword arguments."""

    def __init__(self, function: Callable[..., object], injected: frozenset[str]) -> None:
        """Read the signature; parameters named in `injected` are not the model's to give."""
        self.description, described = _docstring(function)
        self._hints = _hints(function, injected)
        where = f"tool {function.__name__}"
        properties: Schema = {}
        required = []
        for name, parameter in inspect.signature(function).parameters.items():
            if name in injected:
                continue
            if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY}:
                msg = f"{where}: expected parameters that can be given by name, found {parameter}"
                raise UsageError(msg)
            properties[name] = {**schema_of(self._hints[name], f"{where}, parameter {name}"), **described.get(name, {})}
            if parameter.default is parameter.empty:
                required.append(name)
        self.schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
        if required:
            self.schema["required"] = required
        self._validator = Draft202012Validator(self.schema)

    def parse(self, arguments: str) -> dict[str, object]:
        """Return keyword arguments from the call's exact JSON text, or raise InvalidArguments."""
        given = exact_object(arguments)
        error = best_match(self._validator.iter_errors(given))
        if error is not None:
            place = "".join(f"{part}: " for part in error.absolute_path)
            raise InvalidArguments(place + error.message)
        return {name: _converted(self._hints[name], value) for name, value in given.items()}


def schema_of(hint: object, where: str) -> Schema:
    """Return the JSON Schema of a type hint; raise UsageError naming `where` for one that has none."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is None and hint in _SCALARS:
        return dict(_SCALARS[hint])
    if origin is Annotated:
        texts = [note for note in args[1:] if isinstance(note, str)]
        return {**schema_of(args[0], where), **({"description": texts[0]} if texts else {})}
    if origin is Literal:
        return {"enum": list(args)}
    if origin in {Union, types.UnionType}:
        return {"anyOf": [schema_of(arg, where) for arg in args]}
    if _is_mapping(hint):
        return {"type": "object", "additionalProperties": schema_of(_value_hint(hint, where), where)}
    if _collection(hint) is not None:
        return _array_schema(hint, where)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"enum": [member.value for member in hint]}
    if fields := _fields(hint):
        required = [name for name, (_, needed) in fields.items() if needed]
        return {
            "type": "object",
            "properties": {name: schema_of(inner, f"{where}.{name}") for name, (inner, _) in fields.items()},
            "additionalProperties": False,
            **({"required": required} if required else {}),
        }
    return _refuse(hint, where)


def _array_schema(hint: object, where: str) -> Schema:
    args = get_args(hint)
    if _collection(hint) is tuple and args and args[-1] is not Ellipsis:
        items = [schema_of(arg, where) for arg in args]
        return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}
    schema: Schema = {"type": "array", "items": schema_of(args[0], where) if args else {}}
    return {**schema, "uniqueItems": True} if _collection(hint) in {set, frozenset} else schema


def _converted(hint: object, value: Any) -> object:
    """Return a value that passed the hint's schema as what the hint says."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _converted(args[0], value)
    if origin in {Union, types.UnionType}:
        return _converted(next(arg for arg in args if Draft202012Validator(schema_of(arg, "")).is_valid(value)), value)
    if hint in {int, float}:
        return _number(hint is int, value)
    if hint in {dt.date, dt.datetime}:
        return _moment(hint, value)
    if _is_mapping(hint):
        return {key: _converted(_value_hint(hint, ""), item) for key, item in value.items()}
    if (collection := _collection(hint)) is not None:
        fixed = collection is tuple and bool(args) and args[-1] is not Ellipsis
        hints = args if fixed else (args[0] if args else Any,) * len(value)
        return collection(_converted(inner, item) for inner, item in zip(hints, value, strict=True))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(value)
    if fields := _fields(hint):
        made = {name: _converted(fields[name][0], item) for name, item in value.items()}
        return made if typing.is_typeddict(hint) else typing.cast("type", hint)(**made)
    return value


def _number(whole: bool, value: float) -> float:  # noqa: FBT001 - which of the two hints
    try:
        return int(value) if whole else float(value)
    except OverflowError:
        raise InvalidArguments(f"{str(value)[:20]}... is too large for a float") from None


def _moment(hint: object, value: str) -> dt.date:
    try:
        return dt.datetime.fromisoformat(value) if hint is dt.datetime else dt.date.fromisoformat(value)
    except ValueError as error:
        raise InvalidArguments(str(error)) from None


def _collection(hint: object) -> type[list[Any] | tuple[Any, ...] | set[Any] | frozenset[Any]] | None:
    """Return what a hint for an array is built as, or None for any other hint."""
    origin = get_origin(hint) or hint
    if origin is Sequence:
        return list
    known: dict[object, type[list[Any] | tuple[Any, ...] | set[Any] | frozenset[Any]]] = {
        list: list,
        tuple: tuple,
        set: set,
        frozenset: frozenset,
    }
    return known.get(origin) if isinstance(origin, type) else None


def _is_mapping(hint: object) -> bool:
    return (get_origin(hint) or hint) in {dict, Mapping}


def _value_hint(hint: object, where: str) -> object:
    args = get_args(hint)
    if args and args[0] is not str:
        _refuse(hint, where)
    return args[1] if args else Any


def _fields(hint: object) -> dict[str, tuple[object, bool]]:
    """Return name -> (hint, required) of a dataclass or TypedDict, and nothing for any other hint."""
    if typing.is_typeddict(hint):
        keys = typing.cast("Any", hint).__required_keys__
        return {name: (inner, name in keys) for name, inner in get_type_hints(hint).items()}
    if not (isinstance(hint, type) and dataclasses.is_dataclass(hint)):
        return {}
    hints = get_type_hints(hint, include_extras=True)
    return {
        field.name: (hints[field.name], field.default is field.default_factory is dataclasses.MISSING)
        for field in dataclasses.fields(hint)
        if field.init
    }


def _hints(function: Callable[..., object], injected: frozenset[str]) -> dict[str, object]:
    """Return each parameter's hint; a missing one is an error here, where its author is looking."""
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        msg = f"tool {function.__name__}: its type hints cannot be resolved: {error}"
        raise UsageError(msg) from error
    for name in inspect.signature(function).parameters:
        if name not in hints and name not in injected:
            msg = f"tool {function.__name__}: expected a type hint on parameter {name}, found none; write {name}: str"
            raise UsageError(msg)
    return hints


def _docstring(function: Callable[..., object]) -> tuple[str, dict[str, Schema]]:
    """Return the docstring's text before its sections, and the description of each parameter."""
    text = inspect.getdoc(function) or ""
    parts = _SECTION.split(text)
    described: dict[str, list[str]] = {}
    for heading, section in zip(parts[1::2], parts[2::2], strict=True):
        if heading.startswith("Arg"):
            described = _arguments(section)
    return parts[0].strip(), {name: {"description": " ".join(lines)} for name, lines in described.items()}


def _arguments(section: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    indent, name = "", ""
    for line in section.splitlines():
        match = _ARGUMENT.match(line)
        if match and (not name or len(match[1]) <= len(indent)):
            indent, name = match[1], match[2]
            found[name] = [match[3].strip()]
        elif name and line.strip():
            found[name].append(line.strip())
    return found


def _refuse(hint: object, where: str) -> NoReturn:
    msg = (
        f"{where}: expected a type that JSON can carry (str, int, float, bool, list, tuple, set, dict with str keys, "
        f"Literal, Enum, a union, a dataclass, a TypedDict, date, datetime), found {hint}"
    )
    raise UsageError(msg)
