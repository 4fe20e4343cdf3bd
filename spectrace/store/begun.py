"""Whether all came that began to come: two records of each copy, import and unpacking in the administrative log.

`admin.begun` is written before the first thing is there, `admin.copied` (`imported`, `unpacked`) after the last. One
without the other has stopped, or is still going on: `db check` says so, for the log alone looks complete. The next one
from the same source ends what an earlier one began. Nothing is written where all of it was there.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import sqlalchemy as sa

from spectrace.core.admin_events import AdminBegun, AdminBody, AdminCopied, AdminImported, AdminUnpacked, EpochHead
from spectrace.core.events import TYPE_NUMBERS
from spectrace.errors import StoreError
from spectrace.store import admin, compression, tables
from spectrace.store.decoding import parse
from spectrace.store.process import operator
from spectrace.store.sql import SqlEventStore
from spectrace.store.statements import SEQ_MASK, key
from spectrace.store.transfer import PRESENT, Arrival, selection_digest

_ENDS = {"copied": AdminCopied.TYPE, "imported": AdminImported.TYPE, "unpacked": AdminUnpacked.TYPE}
_TYPES = {number: cls.TYPE for cls, number in TYPE_NUMBERS.items() if cls.TYPE in {AdminBegun.TYPE, *_ENDS.values()}}


@dataclass(frozen=True, slots=True)
class Source:
    """Where something comes from, as far as it is known."""

    name: str | None
    """None where it is too long to lie in the record itself."""
    digest: str | None
    """Of a file."""
    epoch: str | None
    """The administrative log of a database."""

    def is_like(self, other: "Source") -> bool:
        """Whether that is the same: the same bytes or log wherever they lie now, or the same name."""
        pairs = ((self.name, other.name), (self.digest, other.digest), (self.epoch, other.epoch))
        return any(mine is not None and mine == theirs for mine, theirs in pairs)


@dataclass(frozen=True, slots=True)
class Begun:
    """A record of a beginning that has no end yet."""

    record: str
    """`EP:SEQ`."""
    what: str
    source: Source


class Arrivals:
    """What the administrative log says of one copy, import or unpacking."""

    def __init__(self, target: SqlEventStore, begun: AdminBegun) -> None:
        """Look whether one like it began earlier and stopped; nothing is written yet."""
        self._target = target
        self._begun = begun
        self._new: list[Arrival] = []
        epoch = begun.source_epoch
        source = Source(begun.source, begun.source_digest, None if epoch is None else epoch.episode)
        with target.database.reading() as connection:
            earlier = unfinished(connection)
        self._on_record = any(one.what == begun.what and one.source.is_like(source) for one in earlier)

    def begin(self) -> None:
        """Write the first record, unless it is there."""
        if not self._on_record:
            admin.record(self._target, self._begun)
            self._on_record = True

    def expect(self, episode: str, head: bytes) -> None:
        """Write the first record before an episode comes, unless all of it is there."""
        if self._on_record:
            return
        column = tables.episodes.c
        query = sa.select(column.number).where(column.episode == episode, column.head == head)
        with self._target.database.reading() as connection:
            there = connection.scalar(query) is not None
        if not there:
            self.begin()

    def add(self, arrival: Arrival) -> None:
        """Note what came of an episode."""
        if arrival.result != PRESENT:
            self._new.append(arrival)

    def end(self) -> None:
        """Write the last record, if there is a first."""
        if self._on_record:
            admin.record(self._target, self._end())

    def _end(self) -> AdminBody:
        by, spectrace, source, digest = operator(), admin.VERSION, self._begun.source, self._begun.source_digest
        episodes, selection, epoch = len(self._new), selection_digest(self._new), self._begun.source_epoch
        if self._begun.what == "copied":
            return AdminCopied(
                by=by,
                spectrace=spectrace,
                source=source,
                source_digest=digest,
                episodes=episodes,
                selection_digest=selection,
                source_epoch=epoch,
            )
        end = AdminImported if self._begun.what == "imported" else AdminUnpacked
        return end(
            by=by,
            spectrace=spectrace,
            source=source,
            source_digest=digest,
            episodes=episodes,
            selection_digest=selection,
        )


def arrivals(  # noqa: PLR0913 - what its first record says
    target: SqlEventStore,
    what: str,
    source: str,
    episodes: int,
    *,
    digest: str | None = None,
    epoch: EpochHead | None = None,
) -> Arrivals:
    """Return the records to be written where `episodes` come from `source`; `what` is as in `AdminBegun`."""
    begun = AdminBegun(
        by=operator(),
        spectrace=admin.VERSION,
        what=what,
        source=source,
        source_digest=digest,
        episodes=episodes,
        source_epoch=epoch,
    )
    return Arrivals(target, begun)


def unfinished(connection: sa.Connection) -> list[Begun]:
    """Return what began to come into this database and has no end on record; raise StoreError for damage."""
    left: list[Begun] = []
    for record, type_, body in _records(connection):
        source = _source(body)
        if type_ == AdminBegun.TYPE:
            left.append(Begun(record, str(body.get("what")), source))
        else:
            left = [one for one in left if _ENDS[one.what] != type_ or not one.source.is_like(source)]
    return left


def _source(body: dict[str, object]) -> Source:
    name, digest, epoch = body.get("source"), body.get("source_digest"), body.get("source_epoch")
    return Source(
        name if isinstance(name, str) else None,
        digest if isinstance(digest, str) else None,
        epoch.get("episode") if isinstance(epoch, dict) else None,
    )


def _records(connection: sa.Connection) -> Iterator[tuple[str, str, dict[str, object]]]:
    """Yield (`EP:SEQ`, type, body) of beginnings and ends in this database's own epochs, in their order."""
    column = tables.events.c
    own = sa.select(tables.epochs.c.number, tables.episodes.c.episode).join(tables.episodes)
    own = own.where(tables.epochs.c.place.is_not(None)).order_by(tables.epochs.c.place)
    for number, episode in connection.execute(own).all():
        query = sa.select(column.key, column.type, column.codec, column.payload).where(
            column.key.between(key(number, 0), key(number, SEQ_MASK)), column.type.in_(_TYPES)
        )
        for place, type_, codec, payload in connection.execute(query.order_by(column.key)):
            record = f"{episode}:{place & SEQ_MASK}"
            body = parse(compression.unpack(codec, payload or b""))
            if not isinstance(body, dict) or (_TYPES[type_] == AdminBegun.TYPE and body.get("what") not in _ENDS):
                raise StoreError(f"{record} is no record of {_TYPES[type_]}: `spectrace verify {episode}` says more.")
            yield record, _TYPES[type_], body
