"""Reading the log's rows and blobs as they lie in a database. Counterpart of the append half in `sql`.

One statement a batch, its text written out: building it with Core costs more than running it. No connection is held
between batches. What is asked decides what is read: `parsed` fetches no text outside the bodies, `whole` puts them all
in their places, both as plain JSON; `batches` are the rows that typed events and the chain are made from.
"""

import sqlite3
from collections import namedtuple
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from typing import Any, NamedTuple

import sqlalchemy as sa

from spectrace.core.events import GenerateRequested
from spectrace.errors import EpisodeNotFound, NewerSchema, StoreError
from spectrace.store import heads, sight, tables
from spectrace.store.blobs import digest_bytes
from spectrace.store.codec import Lifted
from spectrace.store.columns import refuse_odd, whole_number, with_broken_texts
from spectrace.store.compression import unpack, unpack_all
from spectrace.store.database import Database, shown
from spectrace.store.decoding import parse_all
from spectrace.store.event_store import Link
from spectrace.store.links import links_of
from spectrace.store.names import Names
from spectrace.store.reader import EpisodeReader
from spectrace.store.rows import Damage, Row, unreadable
from spectrace.store.statements import SEQ_MASK, key
from spectrace.store.texts import Head

_BATCH = 500
_LINKS = 2_000
"""Rows at once where whole episodes are hashed."""
_BEYOND = SEQ_MASK + 1
_MOST_NUMBER = (1 << 62 - tables.SEQ_BITS) - 1
"""Keys have 64 bits."""
_Episode = namedtuple("_Episode", [column.name for column in tables.episodes.columns])  # type: ignore[misc] # noqa: PYI024 - made of the table
_EPISODES = f"SELECT {', '.join(_Episode._fields)} FROM episodes WHERE "  # noqa: S608 - our own names
_EPISODE = f"{_EPISODES}episode = ?"
_ROW = "key, type, tool, lane, version, at, effect, authority, outcome, codec, payload, salt, link"
_ROWS = f"SELECT {_ROW} FROM events WHERE key >= ? AND key < ? ORDER BY key LIMIT ?"  # noqa: S608 - our own names
_FIRST = f"(SELECT number FROM episodes WHERE episode = ?) * {_BEYOND} + ?"  # noqa: S608 - as above
_OF_EPISODE = f"SELECT {_ROW} FROM events WHERE key >= {_FIRST} AND key < {_FIRST} ORDER BY key LIMIT ?"  # noqa: S608 - as above
_SMALL_BLOB = 1 << 16
"""Longer ones are not read many at a time."""
_CALLS_BEFORE = f"SELECT {_ROW} FROM events WHERE key >= ? AND key < ? AND type = ? ORDER BY key DESC LIMIT ?"  # noqa: S608 - as above
_PARSED = (
    f"SELECT key, type, version, at, codec, payload FROM events WHERE key >= {_FIRST} AND key < {_FIRST} "  # noqa: S608 - as above
    "ORDER BY key LIMIT ?"
)
"""By the episode's id, in one go: asking for its number first would be a tenth of it."""

BlobRange = tuple[Any, Any]
"""Where some blobs lie: from the first place on and before the second, in the database's own terms."""

_Found = Sequence[Sequence[Any]]
"""Rows as the database gives them."""


class Parsed(NamedTuple):
    """An event's body as JSON: long texts and messages by reference. None where it is erased."""

    seq: int
    type: str
    version: int
    at: int
    body: object


class LogReader:
    """Rows of one database, a batch at a time."""

    def __init__(self, database: Database, names: Names) -> None:
        """Read through `database`, spelling numbers with `names`."""
        self._database = database
        self._names = names
        self._mark = "?" if database.sqlite else "%s"

    def episode(self, episode: str) -> Any:
        """Return an episode's row of `episodes`."""
        with self._database.reading() as connection:
            found = self._ask(connection, _EPISODE, (episode,))
        if not found:
            raise self._not_found(episode)
        return _Episode(*found[0])

    def episodes(self, where: str, values: tuple[object, ...]) -> list[Any]:
        """Return rows of `episodes`; `where` has a ? for each value. What SQLite holds in them may be anything."""
        with self._database.reading() as connection:
            return [_Episode(*row) for row in self._ask(connection, _EPISODES + where, values)]

    def sizes(self) -> dict[str, int]:
        """Return how many events each episode has by its own row."""
        with self._database.reading() as connection:
            found = self._ask(connection, "SELECT episode, events FROM episodes", ())
        return {str(episode): whole_number(events, _BEYOND) for episode, events in found}

    def number(self, episode: str) -> int:
        """Return an episode's number in this database."""
        with self._database.reading() as connection:
            return self._number(connection, episode)

    def parsed(self, episode: str, start: int = 0, stop: int = _BEYOND) -> Iterator[Parsed]:
        """Yield an episode's events with their bodies as JSON; no text outside them is read."""
        while True:
            with self._database.reading() as connection:
                found = self._ask(connection, _PARSED, (episode, start, episode, min(stop, _BEYOND), _BATCH))
                types = {type_: self._names.type_name(connection, type_) for type_ in {row[1] for row in found}}
            yield from _parsed(episode, found, types)
            if len(found) < _BATCH:
                break
            start = (found[-1][0] & SEQ_MASK) + 1
        if not found:
            self.number(episode)  # is there such an episode at all?

    def whole(self, episode: str, start: int = 0, stop: int = _BEYOND) -> Iterator[tuple[Row, object]]:
        """Yield an episode's rows with their bodies as JSON, texts and messages in their places; None where erased.

        Messages are shared between the calls that repeat them: change none.
        """
        reader = EpisodeReader(episode, self.blobs, lambda: self.calls_before(self.number(episode), start), typed=False)
        first = start
        while True:
            with self._database.reading() as connection:
                found = self._ask(connection, _OF_EPISODE, (episode, first, episode, min(stop, _BEYOND), _BATCH))
                rows, damage = self._readable(connection, found)
            yield from reader.plain(rows)
            if damage is not None:
                raise damage
            if len(found) < _BATCH:
                break
            first = rows[-1].seq + 1
        if not found:
            self.number(episode)  # is there such an episode at all?

    def batches(
        self, number: int, start: int, *, stop: int = _BEYOND, within: sa.Connection | None = None
    ) -> Iterator[list[Row]]:
        """Yield rows a batch at a time, erased ones included; no connection is held, unless it is that of `within`."""
        first, beyond = self._keys(number, start, stop)
        while True:
            with self._database.reading() if within is None else nullcontext(within) as connection:
                found = self._ask(connection, _ROWS, (first, beyond, _BATCH))
                rows, damage = self._readable(connection, found)
            if rows:
                yield rows
            if damage is not None:
                raise damage
            if len(found) < _BATCH:
                return
            first = found[-1][0] + 1

    def links(self, episode: str) -> Iterator[list[Link]]:
        """Yield an episode's events as the chain covers them, a batch at a time, up to one that cannot be read."""
        start = 0
        while True:
            with self._database.reading() as connection:
                found = self._ask(connection, _OF_EPISODE, (episode, start, episode, _BEYOND, _LINKS))
                links, damage = self._linked(connection, episode, found)
            if links:
                yield links
            if damage is not None:
                raise damage
            if len(found) < _LINKS:
                break
            start = (found[-1][0] & SEQ_MASK) + 1
        if not found:
            self.number(episode)  # is there such an episode at all?

    def blob_ranges(self, most: int) -> list[BlobRange]:
        """Cut the blobs as they lie into ranges for `small_blobs`, up to about so many of them."""
        with self._database.reading() as connection:
            if self._database.sqlite:  # in the order in which they were written, and so in which they lie
                count = self._ask(connection, "SELECT coalesce(max(rowid), 0) FROM blobs", ())[0][0]
                return [(first, first + _BATCH) for first in range(1, min(count, most) + 1, _BATCH)]
            if not sight.lists_texts(connection):
                return []
            count = self._ask(connection, "SELECT count(*) FROM blobs", ())[0][0]
        # Digests are spread evenly, so their first bytes cut them evenly.
        parts = min(-(-count // _BATCH), 1 << 16)
        ends = [(at << 16) // parts for at in range(parts)] if parts else []
        starts = [end.to_bytes(2, "big") for end in ends]
        return list(zip(starts, [*starts[1:], b"\xff" * 33], strict=False))[: -(-most // _BATCH)]

    def small_blobs(self, within: BlobRange) -> list[tuple[bytes, bytes]]:
        """Return digest and bytes of those blobs in a range that are short and can be unpacked; nothing is checked."""
        place = "rowid" if self._database.sqlite else "digest"
        text = (
            f"SELECT digest, codec, bytes FROM blobs WHERE {place} >= ? AND {place} < ? AND length <= ? "  # noqa: S608 - our own names
            f"ORDER BY {place}"
        )
        with self._database.reading() as connection:
            found = self._ask(connection, text, (*within, _SMALL_BLOB))
        try:
            return list(zip([row[0] for row in found], _bodies(found, 1), strict=True))  # type: ignore[arg-type] # never NULL
        except StoreError:  # one of them: whoever asks for it will name it
            return []

    def calls_before(self, number: int, seq: int) -> Iterator[Row]:
        """Yield the model calls before an event, the newest first; no more are read than are taken, in batches."""
        low, beyond = self._keys(number, 0, seq)
        while True:
            with self._database.reading() as connection:
                type_ = self._names.type_number(connection, GenerateRequested.TYPE)
                found = self._ask(connection, _CALLS_BEFORE, (low, beyond, type_, _BATCH))
                rows, damage = self._readable(connection, found)
            yield from rows
            if damage is not None:
                raise damage
            if len(found) < _BATCH:
                return
            beyond = found[-1][0]

    def at(self, keys: Iterable[int]) -> dict[int, Row]:
        """Return the rows that have these keys; those that cannot be read are left out."""
        rows: dict[int, Row] = {}
        wanted = sorted(key_ for key_ in keys if abs(key_) <= key(_MOST_NUMBER, SEQ_MASK))
        with self._database.reading() as connection:
            for first in range(0, len(wanted), _BATCH):
                some = tuple(wanted[first : first + _BATCH])
                marks = ", ".join("?" * len(some))
                for row in self._ask(connection, f"SELECT {_ROW} FROM events WHERE key IN ({marks})", some):  # noqa: S608 - our own names
                    with suppress(StoreError):
                        rows[row[0]] = self._row(connection, row)
        return rows

    def _row(self, connection: sa.Connection, row: Sequence[Any]) -> Row:
        """Return a row of `events`, all its columns in their order, with its names spelled out, its body unpacked."""
        refuse_odd((row,))
        key_, type_, tool, lane, version, at, effect, authority, outcome, codec, payload, salt, link = row
        return Row(
            key_ & SEQ_MASK,
            lane,
            self._names.type_name(connection, type_),
            version,
            at,
            Lifted(effect, authority, outcome, None if tool is None else self._names.tool_name(connection, tool)),
            None if payload is None else unpack(codec, payload),
            salt,
            link,
        )

    def blobs(self, digests: set[str]) -> dict[str, bytes]:
        """Return the bytes of those blobs that are there; they are not checked against their digests."""
        with self._database.reading() as connection:
            rows = self._blobs(connection, digests, "digest, codec, bytes, length")
            return {name: _unpacked(name, *row[1:]) for name, row in rows}

    def heads(self, digests: set[str]) -> dict[str, Head]:
        """Return the beginnings of those blobs that are there."""
        found = {}
        with self._database.reading() as connection:
            for name, row in self._blobs(connection, digests, heads.FOUND):
                found[name] = heads.head(connection, name, row)
        return found

    def _blobs(self, connection: sa.Connection, digests: set[str], columns: str) -> Iterator[tuple[str, Any]]:
        """Yield the names and rows of those blobs that are there."""
        wanted = {digest_bytes(digest): digest for digest in digests}
        keys = list(wanted)
        for first in range(0, len(keys), _BATCH):
            some = _padded(keys[first : first + _BATCH])
            marks = ", ".join("?" * len(some))
            text = f"SELECT {columns} FROM {sight.texts(connection, marks)}"  # noqa: S608 - our own names
            for row in self._ask(connection, text, some):
                yield wanted[row[0]], row

    def _readable(self, connection: sa.Connection, found: _Found) -> tuple[list[Row], StoreError | None]:
        """Return the rows up to the first that cannot be read, and why: `verify` names that one, not its batch."""
        try:
            return self._rows(connection, found), None
        except StoreError:
            rows: list[Row] = []
            for row in found:
                try:
                    rows.append(self._row(connection, row))
                except StoreError as error:
                    return rows, unreadable(self._named(connection, row[0]), row[0] & SEQ_MASK, error)
            return rows, None

    def _rows(self, connection: sa.Connection, found: _Found) -> list[Row]:
        refuse_odd(found)
        types, tools = self._spelled(connection, found)
        bodies, new = _bodies(found, 9), tuple.__new__  # half the time of NamedTuple's own
        return [
            new(
                Row,
                (
                    *(key_ & SEQ_MASK, lane, types[type_], version, at),
                    *(new(Lifted, (effect, authority, outcome, tools[tool])), body, salt, link),
                ),
            )
            for (key_, type_, tool, lane, version, at, effect, authority, outcome, _, _, salt, link), body in zip(
                found, bodies, strict=True
            )
        ]

    def _linked(self, connection: sa.Connection, episode: str, found: _Found) -> tuple[list[Link], StoreError | None]:
        """Return the links up to the first that cannot be read, and why."""
        try:
            bodies = _bodies(found, 9)
            return links_of(episode, found, bodies, *self._spelled(connection, found)), None
        except StoreError as error:
            if len(found) == 1:
                return [], unreadable(episode, found[0][0] & SEQ_MASK, error)
        links: list[Link] = []
        for row in found:
            one, damage = self._linked(connection, episode, [row])
            if damage is not None:
                return links, damage
            links += one
        return links, None

    def _spelled(self, connection: sa.Connection, found: _Found) -> tuple[dict[int, str], dict[int | None, str | None]]:
        """Return the names of the types and tools of some rows."""
        return (
            {type_: self._names.type_name(connection, type_) for type_ in {row[1] for row in found}},
            {tool: self._names.tool_name(connection, tool) for tool in {row[2] for row in found}},
        )

    def _named(self, connection: sa.Connection, key_: int) -> str:
        number = key_ >> tables.SEQ_BITS
        named = self._ask(connection, "SELECT episode FROM episodes WHERE number = ?", (number,))
        return str(named[0][0]) if named else f"episode number {number}"

    def _ask(self, connection: sa.Connection, text: str, values: tuple[object, ...]) -> _Found:
        if not self._database.sqlite:
            return connection.exec_driver_sql(text.replace("?", self._mark), values).all()
        # SQLAlchemy's result costs a third of what 60 events do, and SQLite loses no connection that it would notice.
        cursor = connection.connection.cursor()
        try:
            cursor.execute(text, values)
            return cursor.fetchall()
        except sqlite3.OperationalError as error:
            return with_broken_texts(connection, error, text, values)
        finally:
            cursor.close()

    def _number(self, connection: sa.Connection, episode: str) -> int:
        found = self._ask(connection, "SELECT number FROM episodes WHERE episode = ?", (episode,))
        if not found:
            raise self._not_found(episode)
        number = int(found[0][0])
        if abs(number) > _MOST_NUMBER:
            raise Damage(f"episode {episode} has the number {number}, which none can have: its row was altered.")
        return number

    def _keys(self, number: int, start: int, stop: int) -> tuple[int, int]:
        """Return the first key, and the first beyond."""
        return key(number, 0) + min(start, _BEYOND), key(number, 0) + min(stop, _BEYOND)

    def _not_found(self, episode: str) -> EpisodeNotFound:
        where = shown(self._database.url)
        return EpisodeNotFound(f"no episode {episode[:80]!r} in {where}; `spectrace ls` lists them.")


def _parsed(episode: str, found: _Found, types: dict[int, str]) -> list[Parsed]:
    """Parse the bodies of a batch at once; where one is damaged, one by one to name it."""
    try:
        bodies = parse_all(_bodies(found, 4))
    except StoreError:
        bodies = [_parsed_alone(episode, row) for row in found]
    new = tuple.__new__
    return [
        new(Parsed, (key_ & SEQ_MASK, types[type_], version, at, body))
        for (key_, type_, version, at, _, _), body in zip(found, bodies, strict=True)
    ]


def _parsed_alone(episode: str, row: Sequence[Any]) -> object:
    try:
        return parse_all(_bodies([row], 4))[0]
    except StoreError as error:
        raise unreadable(episode, row[0] & SEQ_MASK, error) from error


def _bodies(found: _Found, codec: int) -> Sequence[bytes | None]:
    """Return the unpacked bodies, None for erased ones; the columns `codec` and the next one hold them."""
    payloads, codecs = [row[codec + 1] for row in found], {row[codec] for row in found}
    if len(codecs) == 1 and None not in payloads:
        return unpack_all(codecs.pop(), payloads)
    packed = zip((row[codec] for row in found), payloads, strict=True)
    return [None if payload is None else unpack(number, payload) for number, payload in packed]


def _padded(keys: list[bytes]) -> tuple[bytes, ...]:
    """Repeat the last one up to a power of two, so that a database prepares few statements."""
    return (*keys, *keys[-1:] * ((1 << (len(keys) - 1).bit_length()) - len(keys)))


def _unpacked(digest: str, codec: int, data: bytes, length: int) -> bytes:
    try:
        return unpack(codec, data, length)
    except NewerSchema:
        raise
    except StoreError as error:
        raise Damage(f"blob {digest}: {error}") from error
