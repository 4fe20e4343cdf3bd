"""Whether all came that began to come: a copy's two records in the target's administrative log.

`admin.begun` is written before the first thing of a copy is there, `admin.copied` after the last. One without the
other is a copy that stopped, or is still being made: `db check` says so, for the log alone looks complete. A later
copy of the same source ends what an earlier one began. Nothing is written of a copy that found all of it there.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import sqlalchemy as sa

from spectrace.core.admin_events import AdminBegun, AdminCopied, AdminImported, AdminUnpacked, EpochHead
from spectrace.core.events import TYPE_NUMBERS
from spectrace.errors import StoreError
from spectrace.store import admin, compression, tables
from spectrace.store.database import shown
from spectrace.store.decoding import parse
from spectrace.store.sql import SqlEventStore
from spectrace.store.statements import SEQ_MASK, key
from spectrace.store.transfer import Arrival, selection_digest

_ENDS = {"copied": AdminCopied.TYPE, "imported": AdminImported.TYPE, "unpacked": AdminUnpacked.TYPE}
_TYPES = {number: cls.TYPE for cls, number in TYPE_NUMBERS.items() if cls.TYPE in {AdminBegun.TYPE, *_ENDS.values()}}


@dataclass(frozen=True, slots=True)
class Begun:
    """A record of a beginning that has no end yet."""

    record: str
    """`EP:SEQ`."""
    what: str
    source: str | None
    """None where its name is too long to lie in the record itself."""
    epoch: str | None
    """The source's administrative log."""

    def is_of(self, source: str | None, epoch: str | None) -> bool:
        """Whether that is the same source: the same log wherever it lies now, or the same name."""
        return (epoch is not None and epoch == self.epoch) or (source is not None and source == self.source)


class CopyRecord:
    """What the target's administrative log says of a copy."""

    def __init__(self, source: SqlEventStore, target: SqlEventStore) -> None:
        """Look at both sides; nothing is written yet."""
        self._target = target
        self._source = _name(source)
        with source.database.reading() as connection:
            epoch = admin.current(connection)
            self.total = connection.scalar(sa.select(sa.func.count()).select_from(tables.episodes)) or 0
            """The source's episodes."""
        self._epoch: EpochHead | None = None if epoch is None else epoch.told
        with target.database.reading() as connection:
            name = None if epoch is None else epoch.episode
            open_ones = [one for one in unfinished(connection) if one.what == "copied"]
        self.begun = any(one.is_of(self._source, name) for one in open_ones)
        """Whether its beginning is on record, by this copy or by one that stopped."""
        self.new: list[Arrival] = []

    def begin(self) -> None:
        """Write the first record, before anything comes that was not there."""
        if self.begun:
            return
        admin.record(
            self._target,
            AdminBegun(
                by=admin.operator(),
                spectrace=admin.VERSION,
                what="copied",
                source=self._source,
                source_digest=None,
                episodes=self.total,
                source_epoch=self._epoch,
            ),
        )
        self.begun = True

    def end(self) -> None:
        """Write the last record, if there is a first."""
        if not self.begun:
            return
        admin.record(
            self._target,
            AdminCopied(
                by=admin.operator(),
                spectrace=admin.VERSION,
                source=self._source,
                source_digest=None,
                episodes=len(self.new),
                selection_digest=selection_digest(self.new),
                source_epoch=self._epoch,
            ),
        )


def unfinished(connection: sa.Connection) -> list[Begun]:
    """Return what began to come into this database and has no end on record; raise StoreError for damage."""
    left: list[Begun] = []
    for record, type_, body in _records(connection):
        source, epoch = body.get("source"), body.get("source_epoch")
        named = source if isinstance(source, str) else None
        log = epoch.get("episode") if isinstance(epoch, dict) else None
        if type_ == AdminBegun.TYPE:
            left.append(Begun(record, str(body.get("what")), named, log))
            continue
        left = [one for one in left if _ENDS[one.what] != type_ or not one.is_of(named, log)]
    return left


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


def _name(source: SqlEventStore) -> str:
    """Return the other database's file name, or its URL without credentials."""
    url = source.database.url
    return source.database.path.name if source.database.sqlite else shown(url.set(username=None, password=None))
