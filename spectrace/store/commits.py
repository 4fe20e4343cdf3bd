"""Group commit: appends of many episodes, made by many threads, share transactions and flushes.

Each thread leaves its append in a queue and waits for its turn to write. Whoever gets the turn commits everything that
waits, in one transaction; the others then find theirs done. One agent alone pays for no queue, 64 agents pay for one
flush together, and there is no thread of ours that a fork could lose. An append that meets a conflict fails alone.
"""

import sqlite3
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from spectrace.errors import Conflict, StoreError
from spectrace.store.autocommit import Rows
from spectrace.store.database import Database
from spectrace.store.statements import UNKEPT, Statements, Values

BATCH = 256
"""Appends in one transaction at most: the first of them waits for the last."""

ROWS = 4000
"""Rows in one transaction of this kind at most: Postgres takes 65,535 parameters a statement."""


@dataclass(slots=True, eq=False)
class Append:
    """One episode's next events as rows, on their way into the database."""

    episode: str
    number: int
    before: int
    """How many events the episode must have now."""
    after: int
    head: bytes
    lease_until: int
    blobs: Sequence[Values]
    events: Sequence[Values]
    durable: bool
    done: bool = False
    error: Exception | None = None

    @property
    def rows(self) -> int:
        """How many rows it inserts."""
        return len(self.blobs) + len(self.events)

    def taken(self) -> Conflict:
        """Return the error for an episode that somebody else wrote meanwhile."""
        return taken(self.episode, self.before)


def taken(episode: str, before: int) -> Conflict:
    """Return the error for an event number that somebody else took."""
    return Conflict(
        f"event {before} of {episode} was expected to be free, but somebody else wrote it: an episode has one writer. "
        "Nothing of this append was kept; read the episode again before going on."
    )


def swallowed(episode: str) -> StoreError:
    """Return the error for rows that the database took without keeping them."""
    return StoreError(
        f"the database did not keep all events of {episode} that it was given, and said nothing: something that "
        "spectrace did not make (a trigger, a rule) acts on its tables. `spectrace db check` names it."
    )


class CommitQueue:
    """The appends that wait for one database."""

    def __init__(self, database: Database, statements: Statements) -> None:
        """Commit through `database`."""
        self._database = database
        self._statements = statements
        self._waiting: deque[Append] = deque()

    def commit(self, one: Append) -> None:
        """Return when the append is committed, flushed if it asked for it; raise why it was not."""
        self._waiting.append(one)
        with self._database.turn():
            try:
                while not one.done:
                    self._commit_waiting()
            except BaseException:  # Ctrl-C: nobody waits for this append any more
                with suppress(ValueError):
                    self._waiting.remove(one)
                raise
        if one.error is not None:
            raise one.error

    def _commit_waiting(self) -> None:
        batch = self._next_batch()
        try:
            self._commit(batch)
        except BaseException:
            # Ctrl-C in this thread says nothing about the others' appends.
            self._waiting.extendleft(reversed([one for one in batch if not one.done]))
            raise

    def _next_batch(self) -> list[Append]:
        """Take what waits, an episode at most once: whether its second append fits depends on its first."""
        if len(self._waiting) == 1:
            return [self._waiting.popleft()]
        batch: dict[int, Append] = {}
        room = ROWS
        while self._waiting and len(batch) < BATCH and self._waiting[0].number not in batch:
            room -= self._waiting[0].rows
            if batch and room < 0:
                break
            one = self._waiting.popleft()
            batch[one.number] = one
        return list(batch.values())

    def _commit(self, batch: Sequence[Append]) -> None:
        try:
            self._transaction(batch)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is one append's own: each is tried alone
            if len(batch) > 1:
                for one in batch:
                    self._commit([one])
                return
            [one] = batch
            one.error = one.taken() if self._database.is_integrity_error(error) else error
            one.error.__cause__ = error if one.error is not error else error.__cause__
        for one in batch:
            one.done = True

    def _transaction(self, batch: Sequence[Append]) -> None:
        durable = any(one.durable for one in batch)
        if self._database.sqlite:
            self._sqlite(batch, durable=durable)
        else:
            self._postgres(batch, durable=durable)

    def _sqlite(self, batch: Sequence[Append], *, durable: bool) -> None:
        texts = self._statements

        def work(connection: sqlite3.Connection) -> None:
            for one in batch:
                one.error = None
                grown = (one.after, one.head, one.lease_until, None, one.number, one.before)
                if connection.execute(texts.grow, grown).rowcount != 1:
                    one.error = one.taken()
                    continue
                if one.blobs:
                    connection.executemany(texts.insert_blob, one.blobs)
                if connection.executemany(texts.insert_event, one.events).rowcount != len(one.events):
                    raise swallowed(one.episode)

        self._database.driver_transaction(work, durable=durable)

    def _postgres(self, batch: Sequence[Append], *, durable: bool) -> None:
        blobs = [row for one in batch for row in one.blobs]
        events = [row for one in batch for row in one.events]
        values: list[object] = []
        for one in batch:
            values += (one.number, one.before, one.after, one.head, one.lease_until)
        for row in (*blobs, *events):
            values += row
        text = self._statements.append(len(batch), len(blobs), len(events))
        moved = {number for (number,) in self._kept(batch, text, values, durable=durable)}
        for one in batch:
            one.error = None if one.number in moved else one.taken()

    def _kept(self, batch: Sequence[Append], text: str, values: Sequence[object], *, durable: bool) -> Rows:
        try:
            return self._database.statement(text, values, durable=durable)
        except StoreError as error:
            if UNKEPT in str(error):
                raise swallowed(batch[0].episode) from error
            raise
