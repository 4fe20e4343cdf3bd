"""Reading the log's rows and blobs as they lie in a database. Counterpart of the append half in `sql`."""

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa

from spectrace.core.events import GenerateRequested
from spectrace.errors import EpisodeNotFound, NewerSchema, StoreError
from spectrace.store import tables
from spectrace.store.blobs import digest_bytes
from spectrace.store.codec import Lifted
from spectrace.store.compression import unpack
from spectrace.store.database import Database, shown
from spectrace.store.names import Names
from spectrace.store.rows import Damage, Row, unreadable
from spectrace.store.statements import SEQ_MASK, key

_BATCH = 500


class LogReader:
    """Rows of one database, a batch at a time: no connection is held in between."""

    def __init__(self, database: Database, names: Names) -> None:
        """Read through `database`, spelling numbers with `names`."""
        self._database = database
        self._names = names

    def episode(self, episode: str) -> "sa.Row[Any]":
        """Return an episode's row of `episodes`."""
        query = tables.episodes.select().where(tables.episodes.c.episode == episode)
        with self._database.reading() as connection:
            row = connection.execute(query).one_or_none()
        if row is None:
            where = shown(self._database.url)
            raise EpisodeNotFound(f"no episode {episode[:80]!r} in {where}; `spectrace ls` lists them.")
        return row

    def number(self, episode: str) -> int:
        """Return an episode's number in this database."""
        return int(self.episode(episode).number)

    def batches(
        self, number: int, start: int, *, stop: int = SEQ_MASK + 1, only: type[GenerateRequested] | None = None
    ) -> Iterator[list[Row]]:
        """Yield rows a batch at a time, holding no connection in between; erased ones included."""
        column = tables.events.c.key
        first, beyond = key(number, start), key(number, 0) + stop
        while first < beyond:
            query = tables.events.select().where(column >= first, column < beyond).order_by(column).limit(_BATCH)
            with self._database.reading() as connection:
                if only is not None:
                    query = query.where(tables.events.c.type == self._names.type_number(connection, only.TYPE))
                found = connection.execute(query).all()
                rows, damage = self._readable(connection, found)
            if rows:
                yield rows
            if damage is not None:
                raise damage
            if not rows:
                return
            first = found[-1].key + 1

    def _readable(
        self, connection: sa.Connection, found: "Sequence[sa.Row[Any]]"
    ) -> tuple[list[Row], StoreError | None]:
        """Return the rows up to the first that cannot be read, and why: `verify` names that one, not its batch."""
        rows: list[Row] = []
        for row in found:
            try:
                rows.append(self.row(connection, row))
            except StoreError as error:
                number = row.key >> tables.SEQ_BITS
                named = sa.select(tables.episodes.c.episode).where(tables.episodes.c.number == number)
                episode = str(connection.scalar(named) or f"episode number {number}")
                return rows, unreadable(episode, row.key & SEQ_MASK, error)
        return rows, None

    def row(self, connection: sa.Connection, row: "sa.Row[tuple[object, ...]]") -> Row:
        """Return a row of `events` with its names spelled out and its body unpacked."""
        tool = self._names.tool_name(connection, row.tool)
        return Row(
            seq=row.key & SEQ_MASK,
            lane=row.lane,
            type=self._names.type_name(connection, row.type),
            version=row.version,
            at=row.at,
            lifted=Lifted(row.effect, row.authority, row.outcome, tool),
            body=None if row.payload is None else unpack(row.codec, row.payload),
            salt=row.salt,
            link=row.link,
        )

    def blobs(self, digests: set[str]) -> dict[str, bytes]:
        """Return the bytes of those blobs that are there; they are not checked against their digests."""
        wanted = {digest_bytes(digest): digest for digest in digests}
        column, found = tables.blobs.c.digest, {}
        keys = list(wanted)
        with self._database.reading() as connection:
            for first in range(0, len(keys), _BATCH):
                query = sa.select(column, tables.blobs.c.codec, tables.blobs.c.bytes)
                for digest, codec, data in connection.execute(query.where(column.in_(keys[first : first + _BATCH]))):
                    found[wanted[digest]] = _unpacked(wanted[digest], codec, data)
        return found


def _unpacked(digest: str, codec: int, data: bytes) -> bytes:
    try:
        return unpack(codec, data)
    except NewerSchema:
        raise
    except StoreError as error:
        raise Damage(f"blob {digest}: {error}") from error
