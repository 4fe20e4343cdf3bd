"""SqlEventStore: the log in SQLite or Postgres, through one code path. Its twin for tests is `memory.MemoryEventStore`.

An append is one transaction: the episode's row moves on (and shows whether somebody else moved it first), then blobs
and events are inserted. Most appends go through `commits`, where those of several episodes share a transaction; the
first and the last of an episode, which write projections too, have one of their own. No ORM: it costs five to eight
times the insert (measured).
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import sqlalchemy as sa

from spectrace.core.digest import first_link
from spectrace.core.events import EpisodeEnded, EpisodeStarted, Event
from spectrace.errors import Conflict, StoreError, UsageError
from spectrace.store import erasures, migrate, projections, tables
from spectrace.store.blobs import TextReferences
from spectrace.store.codec import BodyEncoder
from spectrace.store.columns import whole_number
from spectrace.store.commits import ROWS, Append, CommitQueue, taken
from spectrace.store.compression import pack_blob, pack_body
from spectrace.store.database import CHECKPOINT_BYTES, Database, parse_url
from spectrace.store.event_store import FULL_EPISODE, EpisodeRow, Glance, Link, Pending, Prompt, StoredEvent
from spectrace.store.log import LogReader
from spectrace.store.messages import MessageWriter
from spectrace.store.names import SHOWN_CANDIDATES, Names, check_run_id, not_found
from spectrace.store.process import Process, is_dead, this_process
from spectrace.store.reader import EpisodeReader, advised
from spectrace.store.rows import EpisodeChain, Row, Salts, messages_of, random_salts
from spectrace.store.statements import LEASE_US, SEQ_MASK, Statements, key


def open_store(url: str, *, read_only: bool = False) -> "SqlEventStore":
    """Open `sqlite:///FILE`, `postgresql://...` or a bare path; for writing, a new database is made."""
    database = Database(parse_url(url), read_only=read_only)
    try:
        migrate.prepare(database)
    except BaseException:
        database.close()
        raise
    return SqlEventStore(database)


class SqlWriter:
    """The one writer of an episode."""

    def __init__(self, store: "SqlEventStore", number: int, chain: EpisodeChain) -> None:
        """Made by the store."""
        self._store = store
        self._number = number
        self._chain = chain
        self._open = True
        self._failed = False
        self._lock = threading.Lock()

    def append(self, events: Sequence[Pending], *, durable: bool) -> None:
        """Commit the events, in order, in one transaction; flushed if `durable`."""
        with self._lock:
            self._append(events, durable=durable)

    def append_at_once(self, events: Sequence[Pending]) -> bool:
        """Commit the events, unflushed, if nobody has to be waited for; say whether."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            with self._store.database.turn_at_once() as ours:
                if ours:
                    self._append(events, durable=False)
                return ours
        finally:
            self._lock.release()

    def _append(self, events: Sequence[Pending], *, durable: bool) -> None:
        if not self._open:
            raise StoreError(
                f"the writer of {self._chain.episode} was closed; nothing more can be appended through it."
            )
        if events:
            self._failed = True
            self._store._append(self._number, self._chain, events, durable=durable)  # noqa: SLF001 - two halves of one class
            self._failed = False
        elif durable and not self._chain.ended:  # an end was flushed itself; a flush is that of a commit, so commit
            self._store._lease(self._number, self._store.now() + LEASE_US, durable=True)  # noqa: SLF001 - as above

    def renew(self) -> None:
        """Renew the writer's lease; once it let go, or the episode ended, there is none."""
        if not self._open or self._chain.ended:
            return
        # A lease outlives five missed renewals; a database that is gone for good is told by the next append.
        with suppress(StoreError):
            self._store._lease(self._number, self._store.now() + LEASE_US)  # noqa: SLF001 - as above

    def close(self) -> None:
        """Let the episode go; without an `episode.ended` it is interrupted from now on."""
        letting_go, self._open = self._open and not self._chain.ended, False
        if not letting_go:
            return
        try:
            self._store._lease(self._number, 0)  # noqa: SLF001 - as above
        except StoreError:
            # The last append failed and said why: the database that is gone says nothing new, and the lease runs out.
            if not self._failed:
                raise


class SqlEventStore:
    """A log of episodes in a database."""

    def __init__(
        self, database: Database, *, salts: Salts | None = None, now: Callable[[], int] = lambda: time.time_ns() // 1000
    ) -> None:
        """Use `open_store`; salts and clock are given by tests."""
        self.database = database
        self.now = now
        self._salts = salts or random_salts()
        self._process = this_process()
        self._texts = TextReferences()
        self._encoder = BodyEncoder(self._texts)
        self._names = Names()
        self.log = LogReader(database, self._names)
        """Rows and blobs as they lie, for what reads many episodes at once."""
        self._statements = Statements(database.dialect)
        self._commits = CommitQueue(database, self._statements)

    def create(self, episode: str, started: EpisodeStarted, at: int) -> SqlWriter:
        """Begin an episode; its `episode.started` is event 0, durable on return."""
        check_run_id(episode)
        chain = EpisodeChain(episode, self._texts, self._encoder, self._salts, MessageWriter())
        values = {
            "episode": episode,
            "project": projections.storable(started.project),
            "started_at": at,
            "events": 0,
            "head": first_link(episode),
            **self._writer_columns(),
        }
        try:
            rows = chain.stage([Pending(0, "", at, started)])
            with self.database.turn(), self.database.writing(durable=True) as connection:
                insert = tables.episodes.insert().returning(tables.episodes.c.number)
                number: int = connection.execute(insert, values).scalar_one()
                self._write(connection, number, chain, 0, rows)
                projections.begin(connection, number, started)
        except sa.exc.IntegrityError as error:
            raise Conflict(f"{episode} exists already; an episode id is used once.") from error
        chain.commit()
        return SqlWriter(self, number, chain)

    def reopen(self, episode: str) -> SqlWriter:
        """Go on writing an episode that nobody writes; raise Conflict while somebody does."""
        found = self.log.episode(episode)
        row, number = self.episode_row(found), found.number
        if number <= 0:
            raise UsageError(f"{episode} is an administrative log: only what is done to the database is added to it.")
        if row.state == "running":
            raise Conflict(
                f"{episode} is being written by process {row.writer_pid} on {row.writer_host}: wait or end it."
            )
        told = list(self.read(episode))
        chain = EpisodeChain(episode, self._texts, self._encoder, self._salts, messages_of(told))
        chain.resume(row.head, told)
        names = ("number", "events", "writer_pid", "writer_started", "lease_until")
        as_it_was = [tables.episodes.c[name] == getattr(found, name) for name in names]
        with self.database.writing(durable=True) as connection:
            take = sa.update(tables.episodes).values(**self._writer_columns()).where(*as_it_was)
            if connection.execute(take).rowcount != 1:
                raise Conflict(f"{episode} was taken up by somebody else meanwhile: wait, or end that.")
        return SqlWriter(self, number, chain)

    def resolve(self, prefix: str) -> str:
        """Return the one episode whose id starts so; raise EpisodeNotFound with the candidates otherwise."""
        column = tables.episodes.c.episode
        found: list[str] = []
        if prefix and prefix.isascii() and prefix.isprintable():
            query = sa.select(column).where(column >= prefix, column < prefix + "\x7f").order_by(column)
            with self.database.reading() as connection:
                found = list(connection.scalars(query.limit(SHOWN_CANDIDATES + 1)))
        if len(found) != 1 and prefix not in found:
            raise not_found(prefix, found)
        return found[0]

    def row(self, episode: str) -> EpisodeRow:
        """Return an episode's row."""
        return self.episode_row(self.log.episode(episode))

    def episode_row(self, row: "sa.Row[Any]") -> EpisodeRow:
        """Return what a row of `episodes` says, its state as of now; in place of what cannot be, what fits no chain."""
        return EpisodeRow(
            episode=str(row.episode),
            state=self.state(row),
            started_at=whole_number(row.started_at),
            ended_at=None if row.ended_at is None else whole_number(row.ended_at),
            events=whole_number(row.events, SEQ_MASK + 1),
            head=row.head if type(row.head) is bytes else b"",
            writer_host=str(row.writer_host),
            writer_pid=whole_number(row.writer_pid),
        )

    def state(self, row: "sa.Row[Any]") -> str:
        """Return running, interrupted or ended for a row of `episodes`."""
        if row.ended_at is not None:
            return "ended"
        writer = Process(str(row.writer_host), whole_number(row.writer_pid), str(row.writer_started))
        return (
            "interrupted" if whole_number(row.lease_until) < self.now() or is_dead(writer, self._process) else "running"
        )

    def read(self, episode: str, start: int = 0, stop: int = FULL_EPISODE, *, prompts: bool = True) -> Iterator[Event]:
        """Yield the events from `start` on and before `stop`, decoded and upcast, every text resolved."""
        number = self.log.number(episode)
        calls = partial(self.log.calls_before, number, start)
        reader = EpisodeReader(episode, self.log.blobs, calls, prompts=prompts)
        with advised(episode):
            for rows in self.log.batches(number, start, stop=stop):
                yield from reader.events(rows)

    def prompt(self, episode: str, seq: int, part: slice = slice(None)) -> Prompt | None:
        """Return a part of a model call's messages, reading no others; None where event `seq` is no readable call."""
        number = self.log.number(episode)
        reader = EpisodeReader(episode, self.log.blobs, partial(self.log.calls_before, number, seq), part=part)
        with advised(episode):
            rows = [row for batch in self.log.batches(number, seq, stop=seq + 1) for row in batch]
            return reader.prompt(rows[0]) if rows else None

    def glance(self, episode: str, start: int = 0, stop: int = FULL_EPISODE) -> Iterator[Glance]:
        """Yield the events without prompts, of each long text only the beginning."""
        reader = EpisodeReader(episode, self.log.blobs, prompts=False, heads=self.log.heads)
        with advised(episode):
            for rows in self.log.batches(self.log.number(episode), start, stop=stop):
                yield from reader.glances(rows)

    def stored(self, episode: str, start: int = 0, stop: int = FULL_EPISODE) -> Iterator[StoredEvent]:
        """Yield an episode's events as their bytes."""
        for rows in self.log.batches(self.log.number(episode), start, stop=stop):
            for row in rows:
                yield row.stored(episode)

    def links(self, episode: str) -> Iterator[list[Link]]:
        """Yield an episode's events as the chain covers them, a batch at a time."""
        return self.log.links(episode)

    def blobs(self, digests: set[str]) -> Mapping[str, bytes]:
        """Return those blobs that are there, not checked against their digests."""
        return self.log.blobs(digests)

    def blob(self, digest: str) -> bytes | None:
        """Return the bytes of a blob by its digest, or None where it is missing. They are not checked against it."""
        return self.log.blobs({digest}).get(digest)

    def proofs(self, episode: str) -> Mapping[int, bytes]:
        """Return SHA-256(salt || body) of each erased event of an episode, by its number."""
        number = self.log.number(episode)
        with self.database.reading() as connection:
            return erasures.proofs(connection, number)

    def administrative(self) -> Sequence[str]:
        """Return the ids of the administrative logs that lie here, the oldest first."""
        column = tables.episodes.c
        with self.database.reading() as connection:
            query = sa.select(column.episode).where(column.number <= 0).order_by(column.number.desc())
            return [str(one) for one in connection.scalars(query)]

    def close(self) -> None:
        """Release connections; checkpoint SQLite's write-ahead log."""
        self.database.close()

    def _append(self, number: int, chain: EpisodeChain, events: Sequence[Pending], *, durable: bool) -> None:
        before = chain.seq
        try:
            rows = chain.stage(events)
            fresh = chain.fresh
            many = len(rows) + len(fresh) > ROWS
            if many or chain.ended or not self._names.know({row.lifted.tool for row in rows}):
                self._append_alone(number, chain, before, rows, durable=durable)
            else:
                blobs, values = _blob_rows(fresh), self._values(number, rows, self._names.tools)
                lease = self.now() + LEASE_US
                append = Append(chain.episode, number, before, chain.seq, chain.link, lease, blobs, values, durable)
                self._commits.commit(append)
        except BaseException:
            chain.rollback()
            raise
        chain.commit()
        if chain.ended:
            self.database.checkpoint(above=CHECKPOINT_BYTES)

    def _append_alone(
        self, number: int, chain: EpisodeChain, before: int, rows: Sequence[Row], *, durable: bool
    ) -> None:
        """Commit in a transaction of its own: what gives out names or writes projections."""
        with self.database.turn():
            try:
                with self.database.writing(durable=durable) as connection:
                    self._write(connection, number, chain, before, rows)
                self._names.committed()
            except sa.exc.IntegrityError as error:
                self._names.rolled_back()
                raise taken(chain.episode, before) from error
            except BaseException:
                self._names.rolled_back()
                raise

    def _write(
        self, connection: sa.Connection, number: int, chain: EpisodeChain, before: int, rows: Sequence[Row]
    ) -> None:
        ended = next((row.at for row in rows if row.type == EpisodeEnded.TYPE), None)
        moved = (chain.seq, chain.link, self.now() + LEASE_US, ended, number, before)
        if connection.exec_driver_sql(self._statements.grow, moved).rowcount != 1:
            raise taken(chain.episode, before)
        self._statements.insert(connection, tables.blobs, _blob_rows(chain.fresh), ignore=True)
        tools = self._names.learn(connection, {row.lifted.tool for row in rows})
        self._statements.insert(connection, tables.events, self._values(number, rows, tools))
        if chain.ended:
            projections.project(connection, number, chain.told, again=ended is None)

    def _values(
        self, number: int, rows: Sequence[Row], tools: Mapping[str | None, int | None]
    ) -> list[tuple[object, ...]]:
        """Return the rows as the columns of `events`."""
        types, first = self._names.types, key(number, 0)
        return [
            (
                *(first | seq, types[type_], tools[tool], lane, version, at, effect, authority, outcome),
                *(*pack_body(body or b""), salt, link),
            )
            for seq, lane, type_, version, at, (effect, authority, outcome, tool), body, salt, link in rows
        ]

    def _lease(self, number: int, until: int, *, durable: bool = False) -> None:
        with self.database.writing(durable=durable) as connection:
            connection.exec_driver_sql(self._statements.renew, (until, number))

    def _writer_columns(self) -> dict[str, object]:
        return {
            "writer_host": self._process.host,
            "writer_pid": self._process.pid,
            "writer_started": self._process.started,
            "lease_until": self.now() + LEASE_US,
        }


def _blob_rows(fresh: Mapping[bytes, bytes]) -> list[tuple[object, ...]]:
    return [(digest, len(data), *pack_blob(data)) for digest, data in fresh.items()]
