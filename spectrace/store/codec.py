"""Event bodies as canonical JSON bytes. Counterpart of `decoding`; knows the classes of `core.events` by their fields.

A body's header fields (effect, authority, outcome, tool) travel in the header only. A header has no free text: a
value that is long, or holds NUL or lone surrogates (a model may name a tool anything), appears there as its digest
and stays, exactly, in the body.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from functools import cache
from types import NoneType, UnionType
from typing import NamedTuple, Union, get_args, get_origin

from cattrs import Converter
from cattrs.gen import make_dict_unstructure_fn, override

from spectrace.core.digest import checked_canonical, text_bytes, text_digest
from spectrace.core.events import HEADER_FIELDS, TYPE_NUMBERS, Body, GenerateRequested
from spectrace.core.types import Action, Call, Finish, Message, Reply
from spectrace.errors import StoreError
from spectrace.store.blobs import INLINE_BYTES, TextReferences
from spectrace.store.messages import MessageWriter

ACTIONS: dict[str, type[Call | Reply | Finish]] = {"call": Call, "reply": Reply, "finish": Finish}
_KINDS = {cls: kind for kind, cls in ACTIONS.items()}
_MAX_INTEGER = 2**53


class Lifted(NamedTuple):
    """The body fields that travel in the header."""

    effect: str | None = None
    authority: str | None = None
    outcome: str | None = None
    tool: str | None = None


NOTHING_LIFTED = Lifted()
Encoder = Callable[[Body], dict[str, object]]


class BodyEncoder:
    """Bodies to canonical bytes; long texts go to `texts`, repeated messages to the episode's `MessageWriter`."""

    def __init__(self, texts: TextReferences) -> None:
        """Refer to `texts`. The encoders themselves are compiled once a process: that takes 50 ms."""
        self._texts = texts
        self._encoders, self._message = _compiled()

    def encode(self, body: Body, messages: MessageWriter) -> tuple[Lifted, bytes]:
        """Return the header fields and the canonical body; raise StoreError for a value that no body may hold."""
        lifted, value = self.value(body, messages)
        return lifted, self.written(body, value)

    def value(self, body: Body, messages: MessageWriter) -> tuple[Lifted, dict[str, object]]:
        """Return the header fields and the body as plain JSON."""
        cls = type(body)
        _REFERRING.texts = self._texts
        try:
            value = self._encoders[cls](body)
            if isinstance(body, GenerateRequested):
                value["messages"] = messages.refer(body.messages, self._message)
            return self._lift(body, _LIFTED[cls], value) if _LIFTED[cls] else NOTHING_LIFTED, value
        except (TypeError, AttributeError) as error:
            raise _refusal(body, error) from error

    def written(self, body: Body, value: dict[str, object]) -> bytes:
        """Return the canonical bytes of the body's value."""
        try:
            return checked_canonical(value)
        except TypeError as error:
            raise _refusal(body, error) from error

    def _lift(self, body: Body, names: tuple[str, ...], value: dict[str, object]) -> Lifted:
        """Return the header fields; one that a header may not hold goes, exactly, to the body too."""
        lifted = {}
        for name in names:
            given: str | None = getattr(body, name)
            lifted[name] = header_text(given)
            if lifted[name] != given:
                value[name] = None if given is None else _refer(given)
        return Lifted(**lifted)


def header_text(text: str | None) -> str | None:
    """Return the text where a header may hold it, else its digest."""
    if text is None:
        return None
    if text.isascii():
        clean = len(text) < INLINE_BYTES and "\0" not in text
    else:
        data, codec = text_bytes(text)
        clean = len(data) < INLINE_BYTES and codec == "utf-8" and b"\0" not in data
    return str(text) if clean else text_digest(text)


def is_action(annotation: object) -> bool:
    """Whether a field's type is Action, or Action or nothing."""
    if get_origin(annotation) not in {Union, UnionType}:
        return False
    return set(get_args(annotation)) - {NoneType} == set(_KINDS)


_REFERRING = threading.local()
"""`texts`: the TextReferences of the encoder that this thread is in, for the functions that all encoders share."""


def _refer(text: str) -> str | dict[str, str]:
    if len(text) < INLINE_BYTES and text.isascii():
        return text
    texts: TextReferences = _REFERRING.texts
    return texts.refer(text)


@cache
def _compiled() -> tuple[Mapping[type[Body], Encoder], Callable[[Message], object]]:
    """Return the encoder of each event class, and that of messages."""
    converter = Converter()
    converter.register_unstructure_hook(str, _refer)
    for exact in (int, bool):  # a float that is a whole number would pass every later check but not be canonical
        converter.register_unstructure_hook(exact, _exactly(exact))

    fields_of = {cls: make_dict_unstructure_fn(cls, converter) for cls in _KINDS}

    def action(value: Action | None) -> object:
        if value is None:
            return None
        return {"kind": _KINDS[type(value)], **fields_of[type(value)](value)}

    converter.register_unstructure_hook_func(is_action, action)
    for cls in TYPE_NUMBERS:
        omitted = {name: override(omit=True) for name in _LIFTED[cls]}
        if cls is GenerateRequested:
            omitted["messages"] = override(omit=True)
        converter.register_unstructure_hook(cls, make_dict_unstructure_fn(cls, converter, **omitted))  # type: ignore[arg-type]
    return {cls: converter.get_unstructure_hook(cls) for cls in TYPE_NUMBERS}, converter.get_unstructure_hook(Message)


def _exactly(cls: type) -> Callable[[object], object]:
    def check(value: object) -> object:
        if value.__class__ is not cls:
            msg = f"expected {cls.__name__}, found {value!r:.80}"
            raise TypeError(msg)
        return value

    return check


def _refusal(body: Body, error: Exception) -> StoreError:
    return StoreError(f"{body.TYPE}: {_offence(asdict(body), '') or error}")


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
