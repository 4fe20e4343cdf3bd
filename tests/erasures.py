"""What the tests of erasure share: a log that says an address in many places, and a search for what is left of it."""

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import sqlalchemy as sa

from spectrace.core.events import EpisodeStarted, Parent
from spectrace.core.types import Finish
from spectrace.store import tables
from spectrace.store.compression import unpack
from spectrace.store.sql import SqlEventStore
from spectrace.store.statements import key
from tests.episodes import FIND, READ, call, record_shop
from tests.playbook import accept, reject

ADDRESS = "ana.silva+orders@example.com"
LONG = "The customer wrote again, at length, and signed: " + "please do answer me. " * 20 + ADDRESS
"""A text that is a blob."""


def planted(store: SqlEventStore, *, episodes: int = 3) -> list[str]:
    """Record episodes that say the address in arguments, answers, reasons and long texts; return their ids."""
    ask = call("find_customer", name_or_email=ADDRESS)
    write = call("cancel_order", order_id=f"W200 of {ADDRESS}")
    found = []
    for number in range(episodes):
        weak = [write, ask, READ, Finish(f"{LONG} {number}")]
        strong = [reject(1, ask, reason=f"{ADDRESS} first"), accept(), accept(), accept()]
        found.append(asyncio.run(record_shop(store, weak=weak, strong=strong)).episode)
    return found


def child_of(store: SqlEventStore, parent: str, kind: str = "fork") -> str:
    """Record an episode whose start names a parent."""
    first = next(iter(store.read(parent, 0, 1))).body
    assert isinstance(first, EpisodeStarted)
    episode = f"child{len(parent)}of{parent[:8]}"
    started = replace(first, parent=Parent(kind, parent))
    store.create(episode, started, store.now()).close()
    return episode


@dataclass(frozen=True)
class Traces:
    """What lay in the database of the events and texts that say something: it must be nowhere afterwards."""

    bodies: int
    blobs: int
    needles: tuple[bytes, ...]


def traces(store: SqlEventStore, text: str, *more: bytes) -> Traces:
    """Return the packed bytes and salts of what says the text, and the text itself."""
    said, kept, bodies = [], [], 0
    with store.database.reading() as connection:
        blobs = connection.execute(tables.blobs.select()).all()
        events = connection.execute(tables.events.select().where(tables.events.c.key >= key(1, 0))).all()
    hit = {bytes(row.digest).hex() for row in blobs if text.encode() in unpack(row.codec, row.bytes)}
    for row in events:
        body = unpack(row.codec, row.payload) if row.payload is not None else b""
        holds = text.encode() in body or any(name.encode() in body for name in hit)
        bodies += holds
        (said if holds else kept).extend([row.payload or b"", row.salt or b""])
    for row in blobs:
        (said if bytes(row.digest).hex() in hit else kept).append(row.bytes)
    rest = b"\n".join(map(bytes, kept))
    needles = {part for data in said for part in windows(bytes(data)) if part not in rest}
    return Traces(bodies, len(hit), (text.encode(), *more, *sorted(needles)))


def windows(data: bytes, size: int = 16) -> Iterator[bytes]:
    """Yield parts of some bytes: pages cut them anywhere."""
    for first in range(0, len(data) - size + 1, size):
        yield data[first : first + size]


def residue(files: Iterable[Path], needles: Iterable[bytes]) -> dict[str, list[bytes]]:
    """Return what is found where."""
    wanted, found = list(needles), {}
    for path in files:
        data = path.read_bytes()
        left = [one for one in wanted if one in data]
        if left:
            found[path.name] = left
    return found


def beside(store: SqlEventStore) -> list[Path]:
    """Return every file of a SQLite database."""
    path = store.database.path
    return sorted(one for one in path.parent.iterdir() if one.name.startswith(path.name) and one.is_file())


def table_files(store: SqlEventStore) -> list[Path]:
    """Return the files of a Postgres database's tables, their indexes and long values, after a checkpoint."""
    with store.database.reading() as connection:
        connection.exec_driver_sql("CHECKPOINT")
        folder = Path(connection.exec_driver_sql("SHOW data_directory").scalar_one())
        named = connection.execute(
            sa.text(
                "WITH ours AS (SELECT oid, reltoastrelid FROM pg_class "
                "WHERE relnamespace = current_schema()::regnamespace) "
                "SELECT pg_relation_filepath(oid) FROM pg_class WHERE relfilenode <> 0 "
                "AND (oid IN (SELECT oid FROM ours) OR oid IN (SELECT reltoastrelid FROM ours))"
            )
        ).scalars()
        return [
            path for name in named if name is not None for path in (folder / name).parent.glob(f"{Path(name).name}*")
        ]


__all__ = ["ADDRESS", "FIND", "LONG", "beside", "child_of", "planted", "residue", "table_files", "traces"]
