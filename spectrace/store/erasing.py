"""Erasing: bodies and salts of events, for good, with a record of who ordered it; headers, links and proofs stay.

In bounded transactions, each whole by itself: the proofs, the bodies, the texts that nothing refers to any more, the
projections made anew, and the record in the administrative log are there together or not at all. What stopped in
between is gone on with by the same command. Nobody may write meanwhile; an episode that is being written is refused.
What was erased leaves the free space afterwards (`cleaning`), what is not reached is named (`reach`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from spectrace.core.admin_events import AdminErased, ErasedRange
from spectrace.core.digest import body_proof
from spectrace.core.events import EpisodeStarted, Event
from spectrace.errors import StoreError, UsageError
from spectrace.store import admin, projections, tables
from spectrace.store.bodies import Stored, names_in, rows, still_named, unpacked
from spectrace.store.cleaning import WAIT_S, clean, is_due, mark
from spectrace.store.erasing_plan import Matching, Part, Plan, Wanted, plan
from spectrace.store.erasures import ranges
from spectrace.store.process import operator
from spectrace.store.reader import EpisodeReader
from spectrace.store.sql import SqlEventStore
from spectrace.store.statements import FENCED, SEQ_MASK, key

EVENTS = 20_000
"""About so many events are erased in one transaction; of one episode all."""
RANGES = 500
"""What one record names at most."""

_AGAIN = 3
"""How often what was recorded meanwhile is looked for."""
_AT_ONCE = 500

Told = Callable[[int, int], None]
"""Told how many of how many episodes are done."""


@dataclass(frozen=True, slots=True)
class Order:
    """Who ordered it, by their own word, and why."""

    person: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Erased:
    """What was done."""

    parts: tuple[Part, ...]
    """What was erased, by episode; of what another took first, nothing."""
    records: tuple[str, ...]
    """`EP:SEQ` in the administrative log."""
    blobs: int
    refused: tuple[tuple[str, str], ...]
    stays: tuple[str, ...]
    """Where what was looked for stands, and stays."""
    beyond: tuple[str, ...]
    """What may hold it, and is not reached."""
    problems: tuple[str, ...]
    """What keeps it from being gone."""


def erase(
    store: SqlEventStore, wanted: Wanted, order: Order, told: Told | None = None, *, wait_s: float = WAIT_S
) -> Erased:
    """Erase; raise nothing for a single episode that is refused. Readers that see the old state are waited for."""
    if isinstance(wanted, Matching) and any(map(wanted.needle.in_text, (order.person or "", order.reason or ""))):
        raise UsageError("the record of the erasure would say the very text: word --by and --reason without it.")
    found = plan(store, wanted)
    work = _Work(store, found, order)
    for _ in range(_AGAIN):
        work.run(told)
        if not isinstance(wanted, Matching) or not work.plan.parts:
            break
        work.plan_again(plan(store, wanted))  # what was recorded while it was looked for
    problems = clean(store.database, wait_s) if work.done or is_due(store.database) else ()
    return Erased(
        tuple(work.done),
        tuple(work.records),
        work.blobs,
        tuple(work.refused.items()),
        work.plan.stays,
        work.plan.beyond,
        problems,
    )


@dataclass(slots=True)
class _Work:
    """One erasure."""

    store: SqlEventStore
    plan: Plan
    order: Order
    done: list[Part] = field(default_factory=list)
    records: list[str] = field(default_factory=list)
    blobs: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    left: dict[bytes, int] = field(init=False)
    """Texts that would be alone -> how many events that refer to them are not erased yet."""
    seen: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self.plan_again(self.plan)

    def plan_again(self, found: Plan) -> None:
        self.plan = found
        self.left, self.seen = dict(found.blobs), dict(found.seen)
        self.refused.update(found.refused)

    def run(self, told: Told | None) -> None:
        """Erase what is planned, a batch after the other."""
        done = 0
        for batch in _batches(self.plan.parts):
            self._batch(batch)
            done += len(batch)
            if told is not None:
                told(done, len(self.plan.parts))

    def _batch(self, batch: Sequence[Part]) -> None:
        with self.store.database.turn(), self.store.database.writing(durable=True) as connection:
            alone(connection)
            self._keep_what_came(connection)
            done = [one for part in batch if (one := self._part(connection, part)) is not None]
            if not done:
                return
            blobs = self._texts(connection)
            mark(connection)
            records = [admin.append(connection, body) for body in self._bodies(done, blobs)]
        self.done += done
        self.records += records
        self.blobs += blobs

    def _keep_what_came(self, connection: sa.Connection) -> None:
        """Keep the texts that were referred to since it was looked."""
        column = tables.episodes.c
        now = connection.execute(sa.select(column.number, column.events)).all()
        for number, events in now:
            before = self.seen.get(number, 0)
            if events > before and self.left:
                found = _stored(connection, key(number, before), key(number, events))
                for name in still_named(found, set(self.left)):
                    del self.left[name]
            self.seen[number] = events

    def _part(self, connection: sa.Connection, part: Part) -> Part | None:
        """Erase a part of one episode; None where nothing of it was left."""
        column = tables.episodes.c
        row = connection.execute(tables.episodes.select().where(column.number == part.number)).one()
        if self.store.state(row) == "running":
            self.refused[part.episode] = "it is being written again: erase it when it has ended."
            return None
        seqs = [seq for one in part.events for seq in self._range(connection, part.number, one)]
        if not seqs:
            return None
        if row.ended_at is None:  # a writer that only slept must not go on with it
            connection.execute(tables.episodes.update().where(column.number == part.number).values(lease_until=FENCED))
        project_again(connection, self.store, row)
        return Part(part.episode, part.number, tuple(ranges(part.episode, seqs)), part.why)

    def _range(self, connection: sa.Connection, number: int, part: ErasedRange) -> list[int]:
        first, beyond = key(number, part.first), key(number, part.last) + 1
        found = rows(connection, first, beyond)
        proofs = []
        for place, codec, payload, salt in found:
            body = unpacked(codec, payload)
            proofs.append({"key": place, "proof": body_proof(salt if isinstance(salt, bytes) else b"", body)})
            for name in names_in(body) & self.left.keys():
                self.left[name] -= 1
        if proofs:
            _keep(connection, proofs)
            column = tables.events.c
            mine = (column.key >= first, column.key < beyond, column.payload.is_not(None))
            connection.execute(tables.events.update().where(*mine).values(payload=None, salt=None))
        return [one[0] & SEQ_MASK for one in found]

    def _texts(self, connection: sa.Connection) -> int:
        """Delete the texts that nothing refers to any more."""
        gone = [name for name, left in self.left.items() if left <= 0]
        removed = 0
        for first in range(0, len(gone), _AT_ONCE):
            some = tables.blobs.c.digest.in_(gone[first : first + _AT_ONCE])
            removed += connection.execute(tables.blobs.delete().where(some)).rowcount
        for name in gone:
            del self.left[name]
        return removed

    def _bodies(self, done: Sequence[Part], blobs: int) -> Iterator[AdminErased]:
        every = [one for part in done for one in part.events]
        for first in range(0, len(every), RANGES):
            yield AdminErased(
                by=operator(),
                spectrace=admin.VERSION,
                person=self.order.person,
                reason=self.order.reason,
                how=self.plan.how,
                events=tuple(every[first : first + RANGES]),
                blobs=blobs if first == 0 else 0,
            )


def alone(connection: sa.Connection) -> None:
    """Keep writers out until the transaction ends, and let SQLite overwrite what it frees."""
    admin.lock(connection)
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA secure_delete = ON").close()
    else:  # in the order in which an append takes them
        connection.exec_driver_sql("LOCK TABLE episodes, blobs, events IN SHARE ROW EXCLUSIVE MODE")


def project_again(connection: sa.Connection, store: SqlEventStore, row: "sa.Row[Any]") -> None:
    """Make an episode's projections anew from what is left of it, inside the transaction."""
    reader = EpisodeReader(str(row.episode), store.log.blobs, prompts=False)
    told: list[Event] = []
    problem: str | None = None
    try:
        for some in store.log.batches(row.number, 0, within=connection):
            told += reader.events(some)
    except StoreError as error:  # damage that was there before
        problem = str(error)
    started = told[0].body if told else None
    projections.begin_again(connection, row.number, started if isinstance(started, EpisodeStarted) else None)
    if problem is not None:
        projections.spoil(connection, row.number, problem)
    elif row.ended_at is not None:
        projections.project(connection, row.number, told)


def _stored(connection: sa.Connection, first: int, beyond: int) -> Iterator[Stored]:
    for place, codec, payload, _ in rows(connection, first, beyond):
        yield Stored(place >> tables.SEQ_BITS, place & SEQ_MASK, unpacked(codec, payload))


def _keep(connection: sa.Connection, proofs: Sequence[Mapping[str, object]]) -> None:
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    given = insert(tables.erasures)
    kept = given.on_conflict_do_update(index_elements=["key"], set_={"proof": given.excluded.proof})
    connection.execute(kept, list(proofs))


def _batches(parts: Sequence[Part]) -> Iterator[list[Part]]:
    batch: list[Part] = []
    for part in parts:
        if batch and sum(one.count for one in batch) + part.count > EVENTS:
            yield batch
            batch = []
        batch.append(part)
    if batch:
        yield batch
