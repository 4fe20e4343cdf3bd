"""Event bodies as canonical JSON bytes, and back. Counterpart of `core.events`, whose classes it knows by their fields.

A body's header fields (effect, authority, outcome, tool) travel in the header only. A header has no free text: a
value that is long, or holds NUL or lone surrogates (a model may name a tool anything), appears there as its digest
and stays, exactly, in the body. Decoding gives back equal objects; what it does not know it gives back as `Unknown`,
with the bytes as they are.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, cast, get_args, get_origin

import orjson
from cattrs import Converter
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from spectrace.core.digest import canonical, text_bytes, text_digest
from spectrace.core.events import HEADER_FIELDS, TYPE_NUMBERS, Body, Event, GenerateRequested, Unknown
from spectrace.core.types import Action, Call, Effect, Finish, Message, Reply, Role
from spectrace.errors import NewerSchema, StoreError
from spectrace.store.blobs import INLINE_BYTES, TextReferences
from spectrace.store.messages import MessageWriter
from spectrace.store.upcasts import upcast

CLASSES: Mapping[str, type[Body]] = {cls.TYPE: cls for cls in TYPE_NUMBERS}
"""Type name -> the class of its newest version."""

_ACTIONS: dict[str, type[Call | Reply | Finish]] = {"call": Call, "reply": Reply, "finish": Finish}
_KINDS = {cls: kind for kind, cls in _ACTIONS.items()}
_MAX_INTEGER = 2**53


class Lifted(NamedTuple):
    """The body fields that travel in the header."""

    effect: str | None = None
    authority: str | None = None
    outcome: str | None = None
    tool: str | None = None


class BodyEncoder:
    """Bodies to canonical bytes; long texts go to `texts`, repeated messages to the episode's `MessageWriter`."""

    def __init__(self, texts: TextReferences) -> None:
        """Compile one encoder for each event class."""
        self._converter = _encoder(texts.refer)

    def encode(self, body: Body, messages: MessageWriter) -> tuple[Lifted, bytes]:
        """Return the header fields and the canonical body; raise StoreError for a value that no body may hold."""
        value = cast("dict[str, object]", self._converter.unstructure(body))
        if isinstance(body, GenerateRequested):
            value["messages"] = messages.refer(body.messages, self._converter.unstructure)
        lifted = {}
        for name in _LIFTED[type(body)]:
            given: str | None = getattr(body, name)
            lifted[name] = header_text(given)
            if lifted[name] != given:
                value[name] = self._converter.unstructure(given, str)
        try:
            return Lifted(**lifted), canonical(value)
        except TypeError as error:
            raise StoreError(f"{body.TYPE}: {_offence(value, '') or error}") from error


def header_text(text: str | None) -> str | None:
    """Return the text where a header may hold it, else its digest."""
    if text is None:
        return None
    data, codec = text_bytes(text)
    clean = len(data) < INLINE_BYTES and codec == "utf-8" and b"\0" not in data
    return str(text) if clean else text_digest(text)


def parse(body: bytes) -> object:
    """Return a stored body as JSON; references are still references."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise StoreError(f"the stored body is not JSON ({error}): it was altered or damaged.") from error


def known(type_: str, version: int) -> type[Body] | None:
    """Return the class that reads this type and version, if this spectrace has it."""
    cls = CLASSES.get(type_)
    return cls if cls is not None and 1 <= version <= cls.VERSION else None


def decode(cls: type[Body], version: int, lifted: Lifted, value: object) -> Body:
    """Return the typed body of a resolved value: header fields joined, brought up to the newest version."""
    try:
        body = dict(cast("dict[str, object]", value))
        for name in HEADER_FIELDS:
            body.setdefault(name, getattr(lifted, name))
        return _DECODER.structure(upcast(cls.TYPE, version, cls.VERSION, body), cls)
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(
            f"{cls.TYPE} version {version} cannot be read: {error!r}. It was altered or damaged."
        ) from error


def message_of(value: object) -> Message:
    """Return one message of a resolved value."""
    return _DECODER.structure(value, Message)


def typed(event: Event) -> Body:
    """Return the event's body, insisting on a type; raise NewerSchema naming the version that would be needed."""
    if not isinstance(event.body, Unknown):
        return event.body
    body, cls = event.body, CLASSES.get(event.body.type)
    if cls is not None and body.version <= cls.VERSION:
        raise StoreError(f"event {event.seq} ({body.type}) of {event.episode} was erased, or leans on one that was.")
    known_to = f"version {cls.VERSION}" if cls else "no such type"
    raise NewerSchema(
        f"event {event.seq} of {event.episode} is {body.type} version {body.version}; this spectrace knows {known_to}. "
        "Read it with the spectrace that wrote it, or a newer one."
    )


def _is_action(annotation: object) -> bool:
    if get_origin(annotation) not in {Union, UnionType}:
        return False
    return set(get_args(annotation)) - {NoneType} == set(_KINDS)


def _encoder(refer: Callable[[str], object]) -> Converter:
    converter = Converter()
    converter.register_unstructure_hook(str, refer)

    def action(value: Action | None) -> object:
        if value is None:
            return None
        return {"kind": _KINDS[type(value)], **converter.unstructure(value)}

    converter.register_unstructure_hook_func(_is_action, action)
    for cls in TYPE_NUMBERS:
        omitted = {name: override(omit=True) for name in _LIFTED[cls]}
        if cls is GenerateRequested:
            omitted["messages"] = override(omit=True)
        converter.register_unstructure_hook(cls, make_dict_unstructure_fn(cls, converter, **omitted))  # type: ignore[arg-type]
    return converter


def _decoder() -> Converter:
    """Structure strictly: a wrong type is damage, never something to convert."""
    converter = Converter(detailed_validation=False)

    def exactly(expected: type) -> None:
        def check(value: object, _: object) -> object:
            if type(value) is not expected:
                msg = f"expected {expected.__name__}, found {type(value).__name__}"
                raise TypeError(msg)
            return value

        converter.register_structure_hook(expected, check)

    for primitive in (str, int, bool):
        exactly(primitive)
    for enum in (Effect, Role):  # a StrEnum would pass for the text that it also is
        converter.register_structure_hook(enum, lambda value, cls: cls(value))

    def action(value: Any, _: object) -> Action | None:
        if value is None:
            return None
        return converter.structure(value, _ACTIONS[value["kind"]])

    structured = make_dict_structure_fn(Message, converter)

    def message(value: Any, cls: type[Message]) -> Message:
        """Take a message that is one already: a prompt repeats those of the prompts before it."""
        return value if isinstance(value, Message) else structured(value, cls)

    converter.register_structure_hook(Message, message)

    converter.register_structure_hook_func(_is_action, action)
    return converter


def _offence(value: object, path: str) -> str | None:
    """Say where a body holds what no body may hold, and what to do."""
    match value:
        case bool() | None | str():
            return None
        case int():
            if abs(value) < _MAX_INTEGER:
                return None
            return f"field {path} is {value}, beyond 2^53, which JSON readers round: keep it as text."
        case dict():
            items = [(f"{path}.{key}" if path else str(key), item) for key, item in value.items()]
        case list() | tuple():
            items = [(f"{path}[{index}]", item) for index, item in enumerate(value)]
        case float():
            return f"field {path} is the float {value}: use an integer in micro-units or a decimal string."
        case _:
            return f"field {path} is a {type(value).__name__}: a body holds text, integers, booleans, lists and null."
    return next((found for name, item in items if (found := _offence(item, name))), None)


_LIFTED: dict[type[Body], tuple[str, ...]] = {
    cls: tuple(field.name for field in fields(cls) if field.name in HEADER_FIELDS) for cls in TYPE_NUMBERS
}
_DECODER = _decoder()
