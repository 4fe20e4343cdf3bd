"""The administrative log of a database: its epochs, and a record of what is done to it as a whole.

A record is an event like any other, salted and linked, in an episode of its own (see `core.admin_events`). It may be
written by any process, so each append reads the end of the chain inside its transaction; on Postgres one advisory
lock, which migrations take too, makes appends wait for each other, on SQLite the lock beside the file does. A record
is flushed. Written here and not through the store, so that it can share a migration's transaction.
"""

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from spectrace import __version__
from spectrace.core.admin_events import ADMIN_PREFIX, AdminBody, AdminOpened, EpochHead
from spectrace.core.digest import first_link
from spectrace.core.events import TYPE_NUMBERS
from spectrace.errors import StoreError
from spectrace.store import tables
from spectrace.store.blobs import TextReferences
from spectrace.store.codec import BodyEncoder
from spectrace.store.compression import pack_blob, pack_body
from spectrace.store.database import Database
from spectrace.store.event_store import Pending
from spectrace.store.messages import MessageWriter
from spectrace.store.process import operator, this_process
from spectrace.store.rows import EpisodeChain, random_salts
from spectrace.store.statements import SEQ_MASK, key

if TYPE_CHECKING:
    from spectrace.store.sql import SqlEventStore

VERSION = __version__
"""What writes the records, for those that say it."""

_POSTGRES_LOCK = "SELECT pg_advisory_xact_lock(7307218)"


@dataclass(frozen=True, slots=True)
class Epoch:
    """A database's administrative log as it stands."""

    number: int
    """Of the episode in this database: 0 or below."""
    episode: str
    events: int
    head: bytes

    @property
    def told(self) -> EpochHead:
        """As an event says it."""
        return EpochHead(self.episode, self.events, self.head.hex())


def record(store: "SqlEventStore", body: AdminBody) -> str:
    """Add a record to the database's administrative log; return it as `EP:SEQ`."""
    with store.database.writing(durable=True) as connection:
        return append(connection, body)


def append(connection: sa.Connection, body: AdminBody) -> str:
    """Add a record inside the caller's transaction; a database without an epoch gets its first."""
    lock(connection)
    epoch = current(connection) or open_epoch(connection, "upgraded")
    _require_in_step(connection, epoch)
    _write(connection, epoch, body)
    return f"{epoch.episode}:{epoch.events}"


def _require_in_step(connection: sa.Connection, epoch: Epoch) -> None:
    """Raise StoreError where the row says another end than the events: a record would hang on nothing."""
    column = tables.events.c
    mine = column.key.between(key(epoch.number, 0), key(epoch.number + 1, 0) - 1)
    last = connection.execute(
        sa.select(column.key, column.link).where(mine).order_by(column.key.desc()).limit(1)
    ).first()
    events, link = (0, first_link(epoch.episode)) if last is None else ((last.key & SEQ_MASK) + 1, bytes(last.link))
    if (events, link) == (epoch.events, bytes(epoch.head)):
        return
    raise StoreError(
        f"the administrative log {epoch.episode} has {events} events, the last with link {link.hex()}; its row in "
        f"`episodes` says {epoch.events} and {bytes(epoch.head).hex()}. Somebody altered the row, so no record can be "
        "added and nothing was changed. Find out who did that; `spectrace verify --all` tells what is whole. If the "
        "events are, the owner of the database sets the row's `events` and `head` to what they say."
    )


def open_epoch(connection: sa.Connection, reason: str, *, previous: EpochHead | None = None) -> Epoch:
    """Begin the database's next epoch; `previous` is the one before, unless another one is meant."""
    lock(connection)
    before = current(connection)
    opened = AdminOpened(
        reason=reason,
        by=operator(),
        spectrace=VERSION,
        revision=str(connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar_one()),
        episodes=connection.scalar(sa.select(sa.func.count()).where(tables.episodes.c.number > 0)) or 0,
        previous=previous or (before.told if before is not None else None),
    )
    episode, number = ADMIN_PREFIX + secrets.token_hex(6), free_number(connection)
    empty = Epoch(number, episode, 0, first_link(episode))
    _begin(connection, empty)
    place = connection.scalar(sa.select(sa.func.max(tables.epochs.c.place))) or 0
    connection.execute(tables.epochs.insert().values(number=number, place=place + 1))
    _write(connection, empty, opened)
    return _held(connection, number)


def current(connection: sa.Connection) -> Epoch | None:
    """Return the epoch that the database is in; None where none was begun."""
    query = sa.select(tables.epochs.c.number).where(tables.epochs.c.place.is_not(None))
    number = connection.scalar(query.order_by(tables.epochs.c.place.desc()).limit(1))
    return None if number is None else _held(connection, number)


def episodes(database: Database) -> list[str]:
    """Return the ids of all administrative logs in the database, the newest epoch first."""
    with database.reading() as connection:
        query = sa.select(tables.episodes.c.episode).where(tables.episodes.c.number <= 0)
        return list(connection.scalars(query.order_by(tables.episodes.c.number)))


def adopt(connection: sa.Connection, number: int) -> None:
    """Note that the episode of that number (0 or below) is another database's log, brought along by a copy."""
    connection.execute(tables.epochs.insert().values(number=number, place=None))


def free_number(connection: sa.Connection) -> int:
    """Return the number for one more administrative log."""
    lowest = connection.scalar(sa.select(sa.func.min(tables.episodes.c.number)))
    return min(lowest if lowest is not None else 1, 1) - 1


def lock(connection: sa.Connection) -> None:
    """Keep other processes' migrations and records out until the transaction ends; SQLite's are already."""
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql(_POSTGRES_LOCK)


def _held(connection: sa.Connection, number: int) -> Epoch:
    row = connection.execute(tables.episodes.select().where(tables.episodes.c.number == number)).one()
    return Epoch(number, row.episode, row.events, row.head)


def _begin(connection: sa.Connection, epoch: Epoch) -> None:
    """Write the row of an episode that no process holds: any may add to it."""
    process = this_process()
    values = {
        "number": epoch.number,
        "episode": epoch.episode,
        "project": "",
        "started_at": time.time_ns() // 1000,
        "events": epoch.events,
        "head": epoch.head,
        "writer_host": process.host,
        "writer_pid": process.pid,
        "writer_started": process.started,
        "lease_until": 0,
    }
    connection.execute(tables.episodes.insert().values(values))


def _write(connection: sa.Connection, epoch: Epoch, body: AdminBody) -> None:
    texts = TextReferences()
    chain = EpisodeChain(epoch.episode, texts, BodyEncoder(texts), random_salts(), MessageWriter())
    chain.seq, chain.link = epoch.events, epoch.head
    (row,) = chain.stage([Pending(epoch.events, "", time.time_ns() // 1000, body)])
    _keep_blobs(connection, chain.fresh)
    codec, payload = pack_body(row.body or b"")
    values = {
        "key": key(epoch.number, row.seq),
        "type": TYPE_NUMBERS[type(body)],
        "lane": row.lane,
        "version": row.version,
        "at": row.at,
        "codec": codec,
        "payload": payload,
        "salt": row.salt,
        "link": row.link,
    }
    connection.execute(tables.events.insert().values(values))
    grown = tables.episodes.update().where(tables.episodes.c.number == epoch.number)
    connection.execute(grown.values(events=chain.seq, head=chain.link))


def _keep_blobs(connection: sa.Connection, blobs: Mapping[bytes, bytes]) -> None:
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    for digest, data in blobs.items():
        codec, packed = pack_blob(data)
        values = {"digest": digest, "length": len(data), "codec": codec, "bytes": packed}
        connection.execute(insert(tables.blobs).values(values).on_conflict_do_nothing())
