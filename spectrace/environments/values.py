"""Python values to text: the one tagged encoder for what tools return, and its rules.

A `str` is itself, untouched; bytes are the text they spell, and a byte that is no UTF-8 is half a pair (PEP 383), so
that both come back exactly. Everything else is compact JSON with sorted keys, in which whatever JSON has no word for
is an object with one `$` tag: `{"$float": "NaN"}`, `{"$bytes": "<base64>"}`, `{"$set": [...]}`. Equal values give
equal text in every process: sets are sorted by their members' text, memory addresses are removed. Below the top level
different values give different text; a dict whose own keys could be taken for a tag is a `$dict`.

Nothing is refused: a tool has done its work by the time its value is written. What has no exact text (an open file, a
value that contains itself) gets a placeholder, and the whole says where: `{"$lossy": ["$.lock"], "value": ...}`.
"""

import json
import re
from collections import deque
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from dataclasses import dataclass, field, fields, is_dataclass
from decimal import Decimal
from enum import Enum
from types import SimpleNamespace
from typing import Any

from spectrace.core.digest import text_digest
from spectrace.environments.scalars import PLAIN, quoted, repr_of, scalar, tagged

MAX_DEPTH = 20_000
"""Nesting beyond this is a value that makes more of itself while it is read."""
MAX_PATHS = 50
"""So many places of loss are named, the others counted."""

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LOSSY = '{"$lossy":'

Step = str | int | None
"""One step of a path: a name, a position, or None for a set's members and a dict's odd keys."""


def encode(value: object) -> str:
    """Return the value as text. Never raises: what cannot be written exactly is marked, see `lossy_paths`."""
    if isinstance(value, str) and not isinstance(value, Enum):
        return str.__str__(value)
    if isinstance(value, bytes | bytearray):
        return value.decode("utf-8", "surrogateescape")
    writer = _Writer()
    text = writer.write(value)
    if not writer.lost:
        return text
    more = len(writer.lost) - MAX_PATHS
    named = writer.lost[:MAX_PATHS] + ([f"and {more} more"] if more > 0 else [])
    return f'{_LOSSY}{_array(map(quoted, named))},"value":{text}}}'


def lossy_paths(text: str) -> tuple[str, ...]:
    """Return where an encoded value was not written exactly; nothing for one that was.

    A tool's own string that looks like that is believed: too little is claimed then, never too much.
    """
    if not text.startswith(_LOSSY):
        return ()
    try:
        paths, _ = json.JSONDecoder().raw_decode(text, len(_LOSSY))
    except (ValueError, RecursionError):
        return ()
    return tuple(map(str, paths)) if isinstance(paths, list) else ()


def encoded_digest(value: object) -> str:
    """Return the digest of a value's text."""
    return text_digest(encode(value))


def decimal_text(value: float | Decimal) -> str:
    """Return a reward as a plain decimal string: 1.0, 0.0, 0.5; raise ValueError for NaN and infinity."""
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if not number.is_finite():
        msg = f"expected a finite reward, found {number}"
        raise ValueError(msg)
    whole, _, fraction = f"{abs(number):f}".partition(".")
    sign = "-" if number < 0 else ""
    return f"{sign}{whole}.{fraction.rstrip('0') or '0'}"


@dataclass(slots=True)
class _Container:
    """A value with members, while it is written."""

    value: object
    members: Iterator[tuple[Step, object]]
    join: Callable[[list[str]], str]
    texts: list[str] = field(default_factory=list)


class _Writer:
    """Writes one value on a stack of its own: Python's ends at a thousand levels, a tool's answer need not."""

    def __init__(self) -> None:
        self.lost: list[str] = []
        self._path: list[Step] = []
        self._around: dict[int, int] = {}
        """The containers around: id -> length of the path to it."""

    def write(self, value: object) -> str:
        """Return the text of a value."""
        stack = [_Container(None, iter([("$", value)]), "".join)]
        while True:
            top = stack[-1]
            for step, member in top.members:
                self._path.append(step)
                opened = self._open(member)
                if isinstance(opened, _Container):
                    stack.append(opened)
                    break
                self._path.pop()
                top.texts.append(opened)
            else:
                stack.pop()
                text = top.join(top.texts)
                if not stack:
                    return text
                del self._around[id(top.value)]
                self._path.pop()
                stack[-1].texts.append(text)

    def _open(self, value: object) -> str | _Container:
        """Return a value's text, or what is to be written member by member."""
        if (write := PLAIN.get(type(value))) is not None:
            return write(value)
        if id(value) in self._around:
            return self._lose("$cycle", _path(self._path[: self._around[id(value)]]))
        try:
            opened = scalar(value) or _container(value)
        except Exception:  # noqa: BLE001 - somebody else's class may do anything when it is looked into
            opened = None
        match opened:
            case None:
                return self._lose("$repr", repr_of(value))
            case _Container() if len(self._around) >= MAX_DEPTH:
                return self._lose("$deep", type(value).__name__)
            case _Container():
                self._around[id(value)] = len(self._path)
        return opened

    def _lose(self, tag: str, text: str) -> str:
        self.lost.append(_path(self._path))
        return tagged(tag, quoted(text))


def _container(value: object) -> _Container | None:
    """Return a value with its members; None for what has no exact text."""
    match value:
        case Mapping():
            return _mapping(value)
        case list():
            return _Container(value, enumerate(list(value)), _array)
        case tuple() if not hasattr(value, "_fields"):
            return _Container(value, enumerate(value), lambda texts: tagged("$tuple", _array(texts)))
        case set() | frozenset():
            members = iter([(None, member) for member in value])
            return _Container(value, members, lambda texts: tagged("$set", _array(sorted(texts))))
        case deque() | KeysView() | ValuesView() | ItemsView():
            tag = f"${type(value).__name__}"
            return _Container(value, enumerate(list(value)), lambda texts: tagged(tag, _array(texts)))
    if type(value).__module__.partition(".")[0] == "numpy":
        return _numpy(value)
    named = _fields(value)
    if named is None:
        return None
    start, join = f'{{"$type":{quoted(type(value).__name__)},"fields":', _object_of(named)
    return _Container(value, iter(named.items()), lambda texts: f"{start}{join(texts)}}}")


def _mapping(value: Mapping[object, object]) -> _Container:
    pairs = list(value.items())
    if all(type(key) is str and not key.startswith("$") for key, _ in pairs):
        named = {key: member for key, member in sorted(pairs, key=lambda pair: str(pair[0])) if isinstance(key, str)}
        return _Container(value, iter(named.items()), _object_of(named))

    def join(texts: list[str]) -> str:
        return tagged(
            "$dict", _array(sorted(f"[{one},{two}]" for one, two in zip(texts[::2], texts[1::2], strict=True)))
        )

    members: list[tuple[Step, object]] = []
    for key, member in pairs:
        members += [(None, key), (key if type(key) in {str, int} else None, member)]  # type: ignore[list-item]  # asked
    return _Container(value, iter(members), join)


def _fields(value: object) -> dict[str, object] | None:
    """Return a record's fields, in the order of their names: a dataclass, a named tuple, an attrs or pydantic class."""
    kind: Any = type(value)
    if is_dataclass(kind):
        names = [item.name for item in fields(kind)]
    elif isinstance(value, tuple):
        names = list(kind._fields)
    elif isinstance(value, SimpleNamespace):
        return dict(sorted(vars(value).items()))
    elif hasattr(kind, "__attrs_attrs__"):
        names = [item.name for item in kind.__attrs_attrs__]
    elif hasattr(kind, "model_fields") and isinstance(value, Iterable):
        return dict(sorted(dict(value).items()))
    else:
        return None
    return {name: getattr(value, name) for name in sorted(names)}


def _numpy(value: Any) -> _Container | None:
    """Return a number or an array of numpy: its type, its shape, and its exact values as Python has them."""
    values = value.tolist()
    if type(values) is type(value):  # longdouble: Python has no number so long
        return None
    start = f'{{"$numpy":{quoted(str(value.dtype))},"shape":{_array(map(str, value.shape))},"value":'
    return _Container(value, iter([("value", values)]), lambda texts: f"{start}{texts[0]}}}")


def _array(texts: Iterable[str]) -> str:
    return f"[{','.join(texts)}]"


def _object_of(names: Iterable[str]) -> Callable[[list[str]], str]:
    """Return what joins the texts of members, which come in the order of `names`, to an object."""
    starts = [f"{quoted(name)}:" for name in names]
    return lambda texts: "{" + ",".join(map("".join, zip(starts, texts, strict=True))) + "}"


def _path(steps: Iterable[Step]) -> str:
    """Return `$.items[2].lock`; what has no step is `[*]`."""
    first, *rest = steps
    return f"{first}{''.join(map(_step, rest))}"


def _step(step: Step) -> str:
    match step:
        case None:
            return "[*]"
        case int():
            return f"[{step}]"
        case str():
            return f".{step}" if _PLAIN_NAME.fullmatch(step) else f"[{quoted(step)}]"
