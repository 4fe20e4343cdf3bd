"""Events checked against the schema of their type and version: on write, and on import. Counterpart of `schemas`.

`jsonschema_rs` says yes or no (about 1 us an event); only a no is asked again of `jsonschema`, the oracle, for words.
Measured: the Python value is checked faster than canonical bytes, which would have to be parsed first (1 us alone).
No schema is ever fetched: there are no references but those inside a file.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import jsonschema_rs
import orjson
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match
from referencing import Registry

from spectrace.core.events import TYPE_NUMBERS
from spectrace.errors import SchemaViolation
from spectrace.store.schemas import closed, published, schema_of
from spectrace.store.vocabulary import Schema

_NO_RETRIEVAL: Registry[bool | Mapping[str, Any]] = Registry()
_NEWEST = {cls.TYPE: cls for cls in TYPE_NUMBERS}
_SHOWN = 80
_NAMES = ("episode", "seq", "lane", "type", "version", "at", "effect", "authority", "outcome", "tool")

IsValid = Callable[[object], bool]


def check(type_: str, version: int, header: Sequence[object], value: object) -> None:
    """Refuse an event about to be written that does not fit its schema, fields of no version included.

    `header` is the ten values in the order of `header_bytes`; `value` the body as plain JSON, references as such.
    """
    valid = _WRITE.get((type_, version)) or _compiled(_WRITE, type_, version)
    if not valid({"header": header, "body": value}):
        raise violation(closed(_schema(type_, version)), header, value)


def check_foreign(type_: str, version: int, header: Sequence[object], value: object) -> bool:
    """Refuse somebody else's event that does not fit; return False where no schema is known to compare with.

    Fields that this spectrace does not know are let pass: they are kept as they are (see `upcasts`).
    """
    if not is_known(type_, version):
        return False
    valid = _READ.get((type_, version)) or _compiled(_READ, type_, version)
    if not valid({"header": header, "body": value}):
        raise violation(_schema(type_, version), header, value)
    return True


def unknown_fields(type_: str, version: int, header: Sequence[object], value: object) -> dict[str, object]:
    """Return the fields of a stored event that its version does not have: where each stands -> its value."""
    if not is_known(type_, version):
        return {}
    valid = _WRITE.get((type_, version)) or _compiled(_WRITE, type_, version)
    event = {"header": list(header), "body": value}
    found: dict[str, object] = {}
    if not valid(event):
        for error in oracle(closed(_schema(type_, version))).iter_errors(event):
            found |= _extra(error)
    return found


def is_known(type_: str, version: int) -> bool:
    """Whether this spectrace has a schema of this type and version."""
    return type_ in _NEWEST and 1 <= version <= _NEWEST[type_].VERSION


def fast(schema: Schema) -> IsValid:
    """Return the fast validator of a schema: yes or no."""
    valid: IsValid = jsonschema_rs.Draft202012Validator(schema, offline=True).is_valid
    return valid


def oracle(schema: Schema) -> Draft202012Validator:
    """Return the slow validator of the same schema, whose words people can read."""
    return Draft202012Validator(schema, registry=_NO_RETRIEVAL)


def violation(schema: Schema, header: Sequence[object], value: object) -> SchemaViolation:
    """Return the error that says what was expected, what was found, and where."""
    error = best_match(oracle(schema).iter_errors({"header": list(header), "body": _lists(value)}))
    episode, seq, _, type_, version = (*header, *[None] * 5)[:5]
    where = f"event {seq} of {episode} ({type_} version {version}) does not fit its schema"
    if error is None:
        # The two implementations differ: refuse, for what is written now must be readable by either.
        return SchemaViolation(f"{where}, and the second validator finds no fault: report this as a bug of spectrace.")
    return SchemaViolation(
        f"{where}: {_path(error)}: expected {_expected(error)}, found {_found(error)}. "
        f"`spectrace schema {type_}` prints what is expected; an event that was written otherwise needs a version of "
        "its own."
    )


def _schema(type_: str, version: int) -> Schema:
    cls = _NEWEST.get(type_)
    if cls is not None and version == cls.VERSION:
        return schema_of(cls)
    return cast("Schema", orjson.loads(published(type_, version)))


def _compiled(cache: dict[tuple[str, int], IsValid], type_: str, version: int) -> IsValid:
    """Compile once a process; two threads at once compile the same thing twice, which does no harm."""
    schema = _schema(type_, version)
    valid = cache[type_, version] = fast(closed(schema) if cache is _WRITE else schema)
    return valid


def _extra(error: ValidationError) -> dict[str, object]:
    """Return the fields that are too many, if that is the fault; of several shapes, of that without another."""
    instance: Any = error.instance
    schema: Any = error.schema
    if error.validator == "additionalProperties":
        return {f"{_path(error)}.{name}": instance[name] for name in sorted(set(instance) - set(schema["properties"]))}
    branches: dict[object, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.relative_schema_path[0], []).append(inner)
    for faults in branches.values():
        found = [_extra(inner) for inner in faults]
        if all(found):
            return {path: item for one in found for path, item in one.items()}
    return {}


def _path(error: ValidationError) -> str:
    """Return where in the event, e.g. `body.message.calls[0].id`."""
    path = list(error.absolute_path)
    if path[:1] == ["header"] and len(path) > 1 and isinstance(path[1], int):
        path = [f"header.{_NAMES[path[1]]}" if path[1] < len(_NAMES) else "header", *path[2:]]
    named = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return named.removeprefix(".") or "event"


def _expected(error: ValidationError) -> str:
    wanted: Any = error.validator_value
    schema: Any = error.schema
    instance: Any = error.instance
    match error.validator:
        case "type":
            return wanted if isinstance(wanted, str) else " or ".join(wanted)
        case "enum":
            return "one of " + ", ".join(map(_short, wanted))
        case "const":
            return _short(wanted)
        case "required":
            return "a field " + " and a field ".join(repr(name) for name in wanted if name not in instance)
        case "additionalProperties":
            return "only " + ", ".join(schema["properties"])
        case "minItems":
            return f"{wanted} values"
        case "items":
            return f"{len(schema['prefixItems'])} values"
        case "anyOf":
            return " or ".join(_kind(branch) for branch in wanted)
        case keyword:
            return f"{keyword} {_short(wanted)}"


def _kind(branch: Mapping[str, object]) -> str:
    """Name one of several shapes: its definition, its type, or its words."""
    if "$ref" in branch:
        return str(branch["$ref"]).rpartition("/")[2]
    match branch:
        case {"enum": list(words)}:
            return ", ".join(map(str, words))
        case {"pattern": str(pattern)}:
            return pattern
        case _:
            return str(branch.get("type") or branch.get("const") or "another shape")


def _found(error: ValidationError) -> str:
    schema: Any = error.schema
    instance: Any = error.instance
    match error.validator:
        case "required":
            return "only " + (", ".join(sorted(instance)) or "{}")
        case "additionalProperties":
            extra = sorted(set(instance) - set(schema["properties"]))
            return "also " + ", ".join(map(_short, extra))
        case "minItems" | "items":
            return f"{len(instance)}"
        case _:
            return _short(instance)


def _lists(value: object) -> object:
    """Return the value with lists for its tuples, which the oracle would not take for arrays."""
    match value:
        case dict():
            return {key: _lists(item) for key, item in value.items()}
        case list() | tuple():
            return [_lists(item) for item in value]
        case _:
            return value


def _short(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    shown = repr(text) if isinstance(value, str) else text
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}... ({len(shown):,} characters)"


_WRITE: dict[tuple[str, int], IsValid] = {}
_READ: dict[tuple[str, int], IsValid] = {}
