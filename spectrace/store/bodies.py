"""Every stored body of a log, as bytes, in the order of keys: for what has to look at all of them.

A page at a time, no connection held in between. What is erased is passed over; what cannot be unpacked comes as the
bytes that lie there.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from spectrace.errors import StoreError
from spectrace.store import tables
from spectrace.store.blobs import digest_bytes, references
from spectrace.store.compression import unpack
from spectrace.store.database import Database
from spectrace.store.decoding import parse
from spectrace.store.statements import SEQ_MASK
from spectrace.store.texts import MARK

_BATCH = 2_000
_REFERENCE = re.compile(rb'\{"\$blob":"sha256:([0-9a-f]{64})"')


class Stored(NamedTuple):
    """A body where it lies."""

    number: int
    seq: int
    body: bytes


def all_bodies(database: Database, first: int = -(1 << 62), beyond: int = 1 << 62) -> Iterator[Stored]:
    """Yield the bodies of events whose keys are from `first` on and before `beyond`."""
    while True:
        with database.reading() as connection:
            found = rows(connection, first, beyond, _BATCH)
        for place, codec, payload, _ in found:
            yield Stored(place >> tables.SEQ_BITS, place & SEQ_MASK, unpacked(codec, payload))
        if len(found) < _BATCH:
            return
        first = found[-1][0] + 1


def rows(connection: sa.Connection, first: int, beyond: int, most: int | None = None) -> Sequence[Sequence[Any]]:
    """Return key, codec, payload and salt of the events in a range of keys that have a body."""
    column = tables.events.c
    query = sa.select(column.key, column.codec, column.payload, column.salt).where(
        column.key >= first, column.key < beyond, column.payload.is_not(None)
    )
    return connection.execute(query.order_by(column.key).limit(most)).all()


def unpacked(codec: object, payload: object) -> bytes:
    """Return what was packed; of what cannot be unpacked the bytes as they lie."""
    raw = payload if isinstance(payload, bytes) else str(payload).encode("utf-8", "surrogatepass")
    try:
        return unpack(codec, raw) if type(codec) is int else raw
    except StoreError:
        return raw


def names_in(body: bytes) -> set[bytes]:
    """Return the digests of the blobs that a stored body refers to."""
    said = _REFERENCE.findall(body)
    found = {bytes.fromhex(name.decode()) for name in said}
    if len(said) == body.count(MARK):
        return found
    try:  # not as canonical JSON writes it: parse it, pass none by
        return found | set(map(digest_bytes, references(parse(body))))
    except StoreError:
        return found


def still_named(found: Iterable[Stored], candidates: set[bytes]) -> set[bytes]:
    """Return those blobs that some of these bodies refer to."""
    named: set[bytes] = set()
    for one in found:
        if MARK in one.body:
            named |= names_in(one.body) & candidates
    return named
