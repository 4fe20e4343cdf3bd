"""Whether erased events, their proofs and the records of it fit together (`db check`). Part of `soundness`.

Each erased event has a proof and a record, each proof an erased event, and what this database's own logs say was erased
is. A log that came along from another database may say so of events that were copied before they were erased there:
that is worth knowing, and no damage.
"""

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from spectrace.core.admin_events import AdminErased
from spectrace.store import cleaning, tables
from spectrace.store.bodies import unpacked
from spectrace.store.erasures import ranges_in
from spectrace.store.statements import SEQ_MASK, key

_SHOWN = 3
_AT_ONCE = 500

Places = Sequence[int]
"""Keys of events."""


def problems(connection: sa.Connection) -> tuple[str | None, str | None]:
    """Return what is wrong, and what is worth knowing."""
    event, proof = tables.events.c, tables.erasures.c
    bare = sa.select(event.key).where(event.payload.is_(None))
    without_proof = bare.outerjoin_from(tables.events, tables.erasures, proof.key == event.key)
    without_proof = without_proof.where(proof.key.is_(None))
    orphans = sa.select(proof.key).outerjoin_from(tables.erasures, tables.events, proof.key == event.key)
    orphans = orphans.where(sa.or_(event.key.is_(None), event.payload.is_not(None)))
    erased = set(connection.scalars(bare))
    own, theirs = _recorded(connection)
    wrong = {
        "are erased without a proof of what they were": list(connection.scalars(without_proof.order_by(event.key))),
        "are erased without a record of it": sorted(
            one for one in erased if not (_covers(own, one) or _covers(theirs, one))
        ),
        "have a proof of their erasure and are not erased": list(connection.scalars(orphans.order_by(proof.key))),
        "were erased by this database's own records and are here": _left(connection, own),
    }
    said = [f"{_named(connection, found)} {what}" for what, found in wrong.items() if found]
    if cleaning.marked(connection):
        said.append("events were erased, and free pages may still hold them: run the same erasure again")
    left = _left(connection, theirs)
    note = f"{_named(connection, left)} were erased where they came from, after they were copied" if left else None
    return "; ".join(said) or None, note


Parts = Mapping[int, Sequence[tuple[int, int]]]
"""Episode's number -> first and last event of what was erased of it."""


def _recorded(connection: sa.Connection) -> tuple[Parts, Parts]:
    """Return what this database's own records say was erased, and those that came along."""
    event, epoch = tables.events.c, tables.epochs.c
    type_ = sa.select(tables.types.c.number).where(tables.types.c.name == AdminErased.TYPE).scalar_subquery()
    query = sa.select(event.key, event.codec, event.payload).where(
        event.key < key(1, 0), event.type == type_, event.payload.is_not(None)
    )
    current = set(connection.scalars(sa.select(epoch.number).where(epoch.place.is_not(None))))
    numbers = {episode: number for episode, number in connection.execute(sa.select(*_ID))}  # noqa: C416 - rows are no pairs to mypy
    own: dict[int, list[tuple[int, int]]] = {}
    theirs: dict[int, list[tuple[int, int]]] = {}
    for place, codec, payload in connection.execute(query):
        found = own if place >> tables.SEQ_BITS in current else theirs
        for episode, first, last in ranges_in(unpacked(codec, payload)):
            if episode in numbers:
                found.setdefault(numbers[episode], []).append((first, last))
    return own, theirs


_ID = (tables.episodes.c.episode, tables.episodes.c.number)


def _covers(parts: Parts, place: int) -> bool:
    number, seq = place >> tables.SEQ_BITS, place & SEQ_MASK
    return any(first <= seq <= last for first, last in parts.get(number, ()))


def _left(connection: sa.Connection, parts: Parts) -> list[int]:
    """Return the events in these parts that have a body."""
    event = tables.events.c
    found: list[int] = []
    for number, some in parts.items():
        for first, last in some:
            mine = event.key.between(key(number, first), key(number, last))
            found += connection.scalars(sa.select(event.key).where(mine, event.payload.is_not(None)))
    return sorted(found)


def _named(connection: sa.Connection, places: Places) -> str:
    numbers = {place >> tables.SEQ_BITS for place in places[:_SHOWN]}
    query = sa.select(tables.episodes.c.number, tables.episodes.c.episode).where(tables.episodes.c.number.in_(numbers))
    ids = {number: episode for number, episode in connection.execute(query)}  # noqa: C416 - as above
    said = [f"{ids.get(one >> tables.SEQ_BITS, '?')}:{one & SEQ_MASK}" for one in places[:_SHOWN]]
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    return f"{', '.join(said)}{more}"
