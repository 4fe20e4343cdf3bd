"""Episodes for the tests of whatever takes them from one place to another, and what must be equal afterwards."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import orjson
import sqlalchemy as sa

from spectrace.core.digest import canonical, first_link, header_bytes, link_over
from spectrace.core.events import GenerateRequested
from spectrace.core.types import Message
from spectrace.store import tables
from spectrace.store.codec import Lifted
from spectrace.store.event_store import EventStore, StoredEvent
from spectrace.store.lines import Line, line_from, proof_of
from spectrace.store.rows import Row
from spectrace.store.samples import EPOCH_US, pending, sample_episode
from spectrace.store.sql import SqlEventStore

AWKWARD = (
    "",
    "\0",
    "a\0b",
    "\ud800",
    "\udfff\ud800",
    "a\udcffb",
    "é" * 128,
    "x" * 255,
    "x" * 256,
    "🙂" * 5000,
    "\u2028",
)


def write_episode(store: EventStore, episode: str, *, seed: int = 1, upto: int | None = None) -> None:
    """Write a sample episode of every event type, with texts that databases like to lose; `upto`: so many events."""
    bodies = sample_episode(seed, segments=1)
    asked = next(body for body in bodies if isinstance(body, GenerateRequested))
    odd = [replace(asked, messages=(Message("tool", text, (), text),), position=text) for text in AWKWARD]
    events = pending([bodies[0], *odd, *renumbered(bodies[1:], len(odd))])
    writer = store.create(episode, bodies[0], EPOCH_US)
    writer.append(events[1:upto], durable=True)
    writer.close()


def renumbered(bodies: Iterable[object], by: int) -> list[object]:
    """Return the bodies with their questions' numbers moved."""
    return [replace(body, request=body.request + by) if hasattr(body, "request") else body for body in bodies]


def lines_of(store: EventStore, episode: str) -> list[Line]:
    """Return an episode's lines."""
    return [line_from(event) for event in store.stored(episode)]


def events_of(store: SqlEventStore) -> dict[str, list[StoredEvent]]:
    """Return every event of every episode, administrative logs included."""
    with store.database.reading() as connection:
        names = list(connection.scalars(sa.select(tables.episodes.c.episode)))
    return {name: list(store.stored(name)) for name in names}


def blobs_of(store: SqlEventStore) -> dict[str, bytes | None]:
    """Return every text by its digest."""
    with store.database.reading() as connection:
        names = [f"sha256:{bytes(found).hex()}" for found in connection.scalars(sa.select(tables.blobs.c.digest))]
    return {name: store.blob(name) for name in sorted(names)}


NOTHING = Lifted()


@dataclass(frozen=True)
class Told:
    """An event as somebody else may have written it."""

    type: str
    body: bytes
    version: int = 1
    lifted: Lifted = NOTHING


def chained(episode: str, events: Sequence[Told | Line]) -> list[Line]:
    """Return the events as one episode's lines, numbered and linked anew."""
    link, made = first_link(episode), []
    for seq, event in enumerate(events):
        match event:
            case Told(type_, body, version, lifted):
                row = Row(seq, "", type_, version, EPOCH_US + seq, lifted, body, bytes([seq % 256]) * 16, b"")
            case Line(row=old):
                row = Row(seq, old.lane, old.type, old.version, old.at, old.lifted, old.body, old.salt, b"")
        header = header_bytes(episode, seq, row.lane, row.type, row.version, row.at, *row.lifted)
        link = link_over(link, header, proof_of(Line(episode, row)))
        whole = Row(seq, row.lane, row.type, row.version, row.at, row.lifted, row.body, row.salt, link)
        made.append(Line(episode, whole))
    return made


def with_field(line: Line, **fields: object) -> Told:
    """Return the event with more fields in its body than its version has."""
    row = line.row
    return Told(row.type, canonical({**orjson.loads(row.body), **fields}), row.version, row.lifted)
