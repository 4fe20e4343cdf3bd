"""Stored bodies back to typed ones. Counterpart of `codec`, which writes them.

Decoding gives back equal objects, or StoreError: a wrong type is damage, never something to convert. A type or version
that is not known is nobody's to decode: its reader keeps it as `Unknown`, with the bytes as they are.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from types import NoneType, UnionType
from typing import Any, Union, cast, get_args, get_origin

import orjson
from cattrs import Converter
from cattrs.gen import make_dict_structure_fn

from spectrace.core.events import HEADER_FIELDS, TYPE_NUMBERS, Body
from spectrace.core.types import Action, Effect, Message, Role
from spectrace.store.codec import ACTIONS, Lifted, is_action
from spectrace.store.rows import Damage
from spectrace.store.upcasts import UPCASTS, newest, upcast

Hook = Callable[[Any, Any], Any]


def parse(body: bytes) -> object:
    """Return a stored body as JSON; references are still references."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Damage(f"the stored body is not JSON ({error}): it was altered or damaged.") from error


def parse_all(bodies: Sequence[bytes | None]) -> list[object]:
    """Return many stored bodies as JSON, None for None: as one text, which is faster. Whose is damaged is not said."""
    try:
        values: list[object] = orjson.loads(b"[%b]" % b",".join([b"null" if body is None else body for body in bodies]))
    except (orjson.JSONDecodeError, TypeError) as error:
        raise Damage(f"the stored body is not JSON ({error}): it was altered or damaged.") from error
    if len(values) != len(bodies):  # one of them is none, or several
        raise Damage("the stored body is not one JSON value: it was altered or damaged.")
    return values


def known(type_: str, version: int) -> type[Body] | None:
    """Return the class that reads this type and version, if this spectrace has it."""
    return _READABLE.get((type_, version))


def decode(cls: type[Body], version: int, lifted: Lifted, value: object, type_: str | None = None) -> Body:
    """Return the typed body of a resolved value: header fields joined, brought up to the newest version.

    The value is used up: header fields are put into it. `type_` is the recorded name, where the class has another now.
    """
    type_ = cls.TYPE if type_ is None else type_
    old = type_ != cls.TYPE or version != cls.VERSION
    try:
        body = cast("dict[str, object]", value)
        for name in HEADER_FIELDS if old else _LIFTED[cls]:
            body.setdefault(name, getattr(lifted, name))
        return _DECODER.structure(upcast(type_, version, body) if old else body, cls)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Damage(f"{type_} version {version} cannot be read: {error!r}. It was altered or damaged.") from error


def message_of(value: object) -> Message:
    """Return one message of a resolved value."""
    return _DECODER.structure(value, Message)


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

    # cattrs' own look up the inner type anew for every value, which costs as much as all the rest.
    converter.register_structure_hook_factory(_is_many, partial(_many, converter))
    converter.register_structure_hook_factory(_is_optional, partial(_optional, converter))

    def action(value: Any, _: object) -> Action | None:
        if value is None:
            return None
        return converter.structure(value, ACTIONS[value["kind"]])

    structured = make_dict_structure_fn(Message, converter)

    def message(value: Any, cls: type[Message]) -> Message:
        """Take a message that is one already: a prompt repeats those of the prompts before it."""
        return value if isinstance(value, Message) else structured(value, cls)

    converter.register_structure_hook(Message, message)
    converter.register_structure_hook_func(is_action, action)
    return converter


def _is_many(annotation: object) -> bool:
    return get_origin(annotation) is tuple and get_args(annotation)[1:] == (Ellipsis,)


def _many(converter: Converter, annotation: Any) -> Hook:
    inner = get_args(annotation)[0]
    one = converter.get_structure_hook(inner)

    def many(value: Any, _: object) -> tuple[Any, ...]:
        if type(value) is tuple:  # messages, decoded already: JSON has lists
            return value
        if type(value) is not list:
            msg = f"expected a list, found {type(value).__name__}"
            raise TypeError(msg)
        return tuple([one(item, inner) for item in value]) if value else ()

    return many


def _is_optional(annotation: object) -> bool:
    if get_origin(annotation) not in {Union, UnionType}:
        return False
    return NoneType in get_args(annotation) and len(get_args(annotation)) == len(("it", None))


def _optional(converter: Converter, annotation: Any) -> Hook:
    (inner,) = (one for one in get_args(annotation) if one is not NoneType)
    one = converter.get_structure_hook(inner)
    return lambda value, _: None if value is None else one(value, inner)


_LIFTED: Mapping[type[Body], tuple[str, ...]] = {
    cls: tuple(field.name for field in fields(cls) if field.name in HEADER_FIELDS) for cls in TYPE_NUMBERS
}
_READABLE: dict[tuple[str, int], type[Body]] = {(cls.TYPE, cls.VERSION): cls for cls in TYPE_NUMBERS}
"""(type, version) -> the class that reads it, itself or by upcasts."""
_READABLE |= {old: _READABLE[newest(*old)] for old in UPCASTS}
_DECODER = _decoder()
