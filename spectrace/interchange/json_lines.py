"""A file of JSON lines that may be damaged: whole records, and what lies between them, each with its place.

A line is whole if it is one record and nothing else. Of any other line the records that are whole in it are found too
(the next append was glued to half a line), and the rest is a `Torn`. The file is opened for reading only, line by line.
Counterpart of `jsonl`, which says what a record is and what damage means.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Generic, TypeVar

import orjson

from spectrace.store.lines import MAX_LINE_BYTES
from spectrace.store.rows import Damage

Record = TypeVar("Record")
Read = Callable[[dict[str, object]], Record]
"""Makes a record of a JSON object; raises Damage saying why it is none."""

_SHOWN = 200
_CANDIDATES = 1000
"""A damaged line with more beginnings of objects that have no end was made to be slow."""
_JSON_KINDS = {"list": "a list", "str": "a text", "bool": "true or false", "NoneType": "null"}
_SPACE = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Place:
    """Where bytes lie in the file."""

    line: int
    """From 1 on."""
    offset: int
    """Of the first byte, from 0 on."""
    length: int


@dataclass(frozen=True, slots=True)
class Whole(Generic[Record]):
    """A record."""

    place: Place
    record: Record


@dataclass(frozen=True, slots=True)
class Torn:
    """Bytes that are no record."""

    place: Place
    why: str
    head: bytes
    """Their beginning."""


@dataclass(frozen=True, slots=True)
class Lines(Generic[Record]):
    """One line of the file, blank ones left out."""

    pieces: tuple[Whole[Record] | Torn, ...]
    """In order; one `Whole` if the line is as it should be."""
    cut: bool
    """Whether it can be the beginning of a record that was not written to its end, and nothing else."""


def read_lines(file: BinaryIO, read: Read[Record]) -> Iterator[Lines[Record]]:
    """Yield the lines of a file."""
    number, offset = 0, 0
    while data := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        length = len(data)
        if length > MAX_LINE_BYTES and not data.endswith(b"\n"):
            while more := file.readline(MAX_LINE_BYTES):
                length += len(more)
                if more.endswith(b"\n"):
                    break
            why = f"a line of {length:,} bytes; no record has more than {MAX_LINE_BYTES:,}"
            yield Lines((Torn(Place(number, offset, length), why, data[:_SHOWN]),), cut=False)
        else:
            mark = len(_BOM) if number == 1 and data.startswith(_BOM) else 0
            found = _line(data[mark:].rstrip(_SPACE), number, offset + mark, read)
            if found is not None:
                yield found
        offset += length


def _line(data: bytes, number: int, offset: int, read: Read[Record]) -> Lines[Record] | None:
    if not data.strip(_SPACE):
        return None
    place = Place(number, offset, len(data))
    try:
        return Lines((Whole(place, _record(data, read)),), cut=False)
    except Damage as error:
        pieces = _pieces(data, place, str(error), read)
    alone = len(pieces) == 1 and isinstance(pieces[0], Torn)
    return Lines(pieces, cut=alone and _is_beginning(data))


def _record(data: bytes, read: Read[Record]) -> Record:
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise Damage(_why(data, error)) from None
    if not isinstance(value, dict):
        raise Damage(f"JSON that is {_JSON_KINDS.get(type(value).__name__, 'a number')}, not an object")
    return read(value)


def _why(data: bytes, error: orjson.JSONDecodeError) -> str:
    """Say what is wrong with a line that is no JSON; NUL bytes and bad UTF-8 by name, for they tell what happened."""
    nul = data.find(b"\0")
    if nul >= 0:
        return f"{data.count(0)} NUL bytes, the first at its byte {nul}: the system lost what was written there"
    try:
        data.decode()
    except UnicodeDecodeError as bad:
        return f"not UTF-8 text: its byte {bad.start} is {data[bad.start]:#04x}"
    return f"cut off, or no JSON ({error})"


def _pieces(data: bytes, place: Place, why: str, read: Read[Record]) -> tuple[Whole[Record] | Torn, ...]:
    """Take a damaged line apart. In Latin-1 a place in the text is the place in the bytes."""
    text, done, at, tries = data.decode("latin-1"), 0, 0, 0
    found: list[Whole[Record] | Torn] = []

    def torn(end: int) -> None:
        if data[done:end].strip(_SPACE):
            found.append(Torn(Place(place.line, place.offset + done, end - done), why, data[done:end][:_SHOWN]))

    while (at := text.find('{"', at)) >= 0 and tries < _CANDIDATES:
        end = _end(text, at)
        record = _tried(data[at:end], read) if end is not None else None
        if end is None or record is None:
            at, tries = at + 1, tries + 1
            continue
        torn(at)
        found.append(Whole(Place(place.line, place.offset + at, end - at), record))
        done = at = end
    torn(len(data))
    return tuple(found)


def _end(text: str, at: int) -> int | None:
    try:
        return _DECODER.raw_decode(text, at)[1]
    except (ValueError, RecursionError):
        return None


def _tried(data: bytes, read: Read[Record]) -> Record | None:
    try:
        return _record(data, read)
    except Damage:
        return None


def _is_beginning(data: bytes) -> bool:
    """Whether only the end of an object is missing; NUL bytes at the end are what a crash leaves in place of it."""
    kept = data.rstrip(b"\0")
    if not kept.startswith(b"{") or b"\0" in kept:
        return not kept
    try:
        kept.decode()
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data":
            return False
    try:
        orjson.loads(kept)
    except orjson.JSONDecodeError:
        return not any(kept.startswith(start) for start in (b"{}", b"{,"))
    return False
