"""Episodes that come from elsewhere, stored as they are: bytes, salts, links, types and fields that nobody knows.

What `unpack`, `db copy` and `import jsonl` share. An episode is verified while it is written, in one transaction: it
is there whole or not at all. One of which all is there already is left alone; one of which an earlier part of the same
chain is there is gone on with; any other of that id is a Conflict that names both heads.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import sqlalchemy as sa

from spectrace.core.admin_events import ADMIN_PREFIX
from spectrace.core.digest import canonical, digest, first_link
from spectrace.core.events import EpisodeEnded, EpisodeStarted, Event
from spectrace.errors import Conflict, EpisodeNotFound, SchemaViolation, StoreError
from spectrace.store import admin, erasures, projections, tables
from spectrace.store.blobs import references
from spectrace.store.compression import RAW, pack_body
from spectrace.store.decoding import parse
from spectrace.store.foreign_names import tool_ids, type_numbers
from spectrace.store.incoming_texts import IncomingTexts
from spectrace.store.lines import Chain, Line
from spectrace.store.names import check_episode_id
from spectrace.store.process import this_process
from spectrace.store.reader import EpisodeReader
from spectrace.store.rows import Damage, Row
from spectrace.store.sql import SqlEventStore
from spectrace.store.statements import Statements, key
from spectrace.store.texts import FetchBlobs
from spectrace.store.validation import check_foreign

REFUSALS = (Conflict, Damage, SchemaViolation)
"""What is wrong with one episode and does not hold up the others."""
STORED, GREW, PRESENT = "stored", "grew", "present"

_BATCH = 500

_There = sa.Row[Any]
_Body = dict[str, object]


@dataclass(frozen=True, slots=True)
class Arrival:
    """What came of an episode. `result`: stored, grew (its earlier part was there), present (all of it was)."""

    episode: str
    result: str
    events: int
    head: bytes
    ended: bool


def selection_digest(arrivals: Sequence[Arrival]) -> str:
    """Return the digest of which episodes came, as (episode, head) pairs in the order of their ids."""
    return digest(canonical(sorted([one.episode, one.head.hex()] for one in arrivals)))


def heads_differ(episode: str, here: bytes, there: bytes) -> Conflict:
    """Return the error for an id that both sides have, with different events."""
    return Conflict(
        f"{episode} is here already with other events: its head here is {here.hex()[:16]}, there it is "
        f"{there.hex()[:16]}. Nothing of it was stored; `spectrace verify {episode}` says if the one here is whole."
    )


def insert_stored(  # noqa: PLR0913 - an episode is its id, head, lines and texts
    store: SqlEventStore,
    episode: str,
    head: bytes,
    lines: Iterable[Line],
    fetch: FetchBlobs,
    *,
    whole: bool = True,
    project: str = "",
) -> Arrival:
    """Store an episode whose last link is `head`; raise Damage where it is not what its chain says.

    Erased events come with their proofs, after the administrative log that says that they were erased. `project` is
    where the other database files it, for one whose start was erased. `whole=False` takes what was saved from a damaged
    file: events may be missing, nothing is compared with the chain, and the episode stays interrupted, whatever its
    last event says.
    """
    check_episode_id(episode)
    try:
        there = store.log.episode(episode)
    except EpisodeNotFound:
        there = None
    if there is not None and there.head == head:
        return Arrival(episode, PRESENT, there.events, there.head, there.ended_at is not None)
    if there is not None and (not whole or store.state(there) == "running"):
        raise heads_differ(episode, there.head, head)
    transfer = _Transfer(store, episode, head, fetch, there, whole=whole, project=project)
    with store.database.turn():
        try:
            with store.database.writing(durable=True) as connection:
                transfer.run(connection, lines)
        except sa.exc.IntegrityError as error:
            raise Conflict(f"{episode} was written by somebody else meanwhile; nothing of it was kept.") from error
    if there is not None and transfer.present:
        return Arrival(episode, PRESENT, there.events, there.head, there.ended_at is not None)
    result = STORED if there is None else GREW
    return Arrival(episode, result, transfer.events, transfer.head, transfer.ended_at is not None)


@dataclass(slots=True)
class _Transfer:
    """One episode on its way into the database."""

    store: SqlEventStore
    episode: str
    head: bytes
    fetch: FetchBlobs
    there: _There | None
    """The row of its earlier part."""
    whole: bool
    project: str = ""
    events: int = 0
    started_at: int = 0
    ended_at: int | None = None
    number: int = 0
    present: bool = False
    """Whether all of it turned out to be here."""
    records: erasures.Covered | None = None
    """What was erased, by the administrative logs that are here; read once an event without a body has come."""
    told: list[Event] = field(default_factory=list)
    """All events without their prompts: what the projections are made of."""

    def run(self, connection: sa.Connection, lines: Iterable[Line]) -> None:
        """Write everything; the caller's transaction keeps it or forgets it."""
        statements, chain = Statements(connection.dialect), Chain(self.episode)
        # Spelled out, the prompts would grow with the square of the calls; the projections need none.
        reader = EpisodeReader(self.episode, self.fetch, prompts=False)
        texts = IncomingTexts(self.episode, self.fetch, whole=self.whole)
        self.number = self._begun(connection) if self.there is None else self.there.number
        have, last = 0 if self.there is None else self.there.events, chain.link
        # What was erased here does not come back from where it was not.
        here = frozenset(erasures.proofs(connection, self.number)) if self.there is not None else frozenset()
        for batch in _batches(lines):
            for line in batch:
                if self.whole:
                    chain.follow(line)
                self._same_part(line)
            self._send_proofs(connection, [line for line in batch if line.proof is not None and line.row.seq >= have])
            rows = [line.row._replace(body=None, salt=None) if line.row.seq in here else line.row for line in batch]
            bodies = [self._body(row) for row in rows]
            if self.events == 0:
                self.started_at = rows[0].at
            self.events, last = rows[-1].seq + 1, rows[-1].link
            self._tell(reader, rows, bodies)
            texts.send(connection, [(row.seq, list(references(body))) for row, body in zip(rows, bodies, strict=True)])
            self._send_events(connection, statements, [row for row in rows if row.seq >= have])
        if self.there is not None and self.events <= have:
            self._all_there(connection, last)
            return
        if self.whole and last != self.head:
            raise Damage(
                f"the head of {self.episode} is said to be {self.head.hex()[:16]}, but event {self.events - 1}, its "
                f"last, has the link {last.hex()[:16]}: events are missing at its end, or it was altered."
            )
        self.head = last
        self._finish(connection)

    def _all_there(self, connection: sa.Connection, last: bytes) -> None:
        """Refuse a shorter episode, unless it is an earlier part of the one that is here."""
        column = tables.events.c
        link = connection.scalar(sa.select(column.link).where(column.key == key(self.number, self.events - 1)))
        if link is None or bytes(link) != last:
            raise heads_differ(self.episode, self.there.head if self.there else b"", self.head)
        self.present = True

    def _same_part(self, line: Line) -> None:
        """Refuse to go on with what is no earlier part of the same chain."""
        if self.there is not None and line.row.seq == self.there.events - 1 and line.row.link != self.there.head:
            raise heads_differ(self.episode, self.there.head, self.head)

    def _begun(self, connection: sa.Connection) -> int:
        """Insert the episode's row; nobody holds it, so until its end is there it is interrupted."""
        here, column = this_process(), tables.episodes.c.number
        values: dict[str, object] = {
            "episode": self.episode,
            "project": "",
            "started_at": 0,
            "events": 0,
            "head": first_link(self.episode),
            "writer_host": here.host,
            "writer_pid": here.pid,
            "writer_started": here.started,
            "lease_until": 0,
        }
        administrative = self.episode.startswith(ADMIN_PREFIX)
        if administrative:
            admin.lock(connection)
            values["number"] = admin.free_number(connection)
        number: int = connection.execute(tables.episodes.insert().values(values).returning(column)).scalar_one()
        if administrative:
            admin.adopt(connection, number)
        return number

    def _send_proofs(self, connection: sa.Connection, erased: Sequence[Line]) -> None:
        """Keep the proofs of erased events; raise Damage for one whose erasure is not on record here."""
        if not erased:
            return
        if self.records is None:
            self.records = erasures.covered(erasures.records(self.store))
        for line in erased:
            if erasures.record_of(self.records, self.episode, line.row.seq) is None and self.whole:
                raise Damage(
                    f"the body of event {line.row.seq} ({line.row.type}) of {self.episode} is missing, and no record "
                    "of its erasure is here: the administrative log that says so comes first."
                )
        values = [{"key": key(self.number, line.row.seq), "proof": line.proof} for line in erased]
        connection.execute(tables.erasures.insert(), values)

    def _body(self, row: Row) -> _Body | None:
        what = f"event {row.seq} ({row.type}) of {self.episode}"
        if row.body is None:
            return None
        try:
            body = parse(row.body)
        except StoreError as error:
            raise Damage(f"{what}: {error}") from None
        if not isinstance(body, dict):
            raise Damage(f"the body of {what} is a JSON {type(body).__name__}, not an object.")
        return body

    def _tell(self, reader: EpisodeReader, rows: Sequence[Row], bodies: Sequence[_Body | None]) -> None:
        """Check the events against their schemas and decode them: a log holds nothing that cannot be read."""
        try:
            for row, body in zip(rows, bodies, strict=True):
                if body is not None:
                    header = (self.episode, row.seq, row.lane, row.type, row.version, row.at, *row.lifted)
                    check_foreign(row.type, row.version, header, body)
            found = list(reader.events(rows))
        except StoreError:
            if self.whole:
                raise
            return  # of a damaged file: `show` and `verify` name what cannot be read
        self.told += found
        ends = [event.at for event in found if event.type == EpisodeEnded.TYPE]
        if ends and self.whole:
            self.ended_at = ends[-1]

    def _send_events(self, connection: sa.Connection, statements: Statements, rows: Sequence[Row]) -> None:
        types = type_numbers(connection, {row.type for row in rows})
        named = {row.lifted.tool for row in rows if row.lifted.tool is not None}
        tools = tool_ids(self.store.database, connection, named) if named else {}
        values = []
        for row in rows:
            effect, authority, outcome, tool = row.lifted
            head = (key(self.number, row.seq), types[row.type], None if tool is None else tools[tool], row.lane)
            codec, payload = (RAW, None) if row.body is None else pack_body(row.body)
            values.append((*head, row.version, row.at, effect, authority, outcome, codec, payload, row.salt, row.link))
        statements.insert(connection, tables.events, values)

    def _finish(self, connection: sa.Connection) -> None:
        started = self.told[0].body if self.told else None
        values = {"events": self.events, "head": self.head, "started_at": self.started_at, "ended_at": self.ended_at}
        if isinstance(started, EpisodeStarted):
            values["project"] = projections.storable(started.project)
        elif self.there is None:
            values["project"] = self.project
        column, have = tables.episodes.c, 0 if self.there is None else self.there.events
        mine = tables.episodes.update().where(column.number == self.number, column.events == have)
        if connection.execute(mine.values(values)).rowcount != 1:
            raise Conflict(f"{self.episode} was written by somebody else meanwhile; nothing of it was kept.")
        if started is not None and self.told[0].type == EpisodeStarted.TYPE:
            connection.execute(tables.summaries.delete().where(tables.summaries.c.number == self.number))
            projections.begin(connection, self.number, started if isinstance(started, EpisodeStarted) else None)
            if self.ended_at is not None:  # as a writer does: what is not ended yet is counted from its events
                projections.project(connection, self.number, self.told, again=True)


def _batches(lines: Iterable[Line]) -> Iterator[list[Line]]:
    left = iter(lines)
    while batch := list(islice(left, _BATCH)):
        yield batch
