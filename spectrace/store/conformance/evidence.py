"""Whether what was written can be changed, and whether it shows.

Edits are made on copies of what the store gives out, so that a check never harms a log; `spectrace verify`
compares in the same way (`audit.integrity`).
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import sqlalchemy as sa

from spectrace.errors import StoreError
from spectrace.store import tables
from spectrace.store.conformance.check import Check, NotApplicable, Open, check, equal, links, write
from spectrace.store.event_store import EpisodeRow, StoredEvent
from spectrace.store.samples import sample_episode
from spectrace.store.sql import SqlEventStore

_Stored = list[StoredEvent]
_AT = 20
"""The event that is edited."""


@check("H23")
def every_edit_of_stored_bytes_shows_at_its_event(open_store: Open) -> str:
    """One byte of a body, a salt, a version, two events in each other's place, one left out, the last three cut off."""
    store = open_store()
    episode = write(store, sample_episode(223))
    stored, row = list(store.stored(episode)), store.row(episode)
    equal("first event that is wrong in an untouched log", _first_wrong(row, stored), None)
    for what, (edit, first_wrong) in _EDITS.items():
        equal(f"first event that is wrong after {what}", _first_wrong(row, edit(stored)), first_wrong(stored))
    return f"{len(_EDITS)} kinds of edit"


@check("H23")
def events_cannot_be_changed_deleted_or_replaced(open_store: Open) -> str:
    """The database itself refuses, whoever asks; tried in transactions that are rolled back."""
    store = open_store()
    if not isinstance(store, SqlEventStore):
        raise NotApplicable("the store is no database")
    episode = write(store, sample_episode(224))
    events, first = tables.events, store.log.number(episode) << tables.SEQ_BITS
    here = events.c.key == first
    again = events.insert().from_select(list(events.columns), sa.select(events).where(here))
    statements: dict[str, sa.Executable] = {
        "UPDATE of a time": events.update().where(here).values(at=events.c.at + 1),
        "UPDATE of a link": events.update().where(here).values(link=events.c.salt),
        "DELETE": events.delete().where(here),
        "INSERT over an event": again,
    }
    if store.database.dialect.name == "sqlite":
        statements["INSERT OR REPLACE"] = again.prefix_with("OR REPLACE")
    else:
        statements["TRUNCATE"] = sa.text("TRUNCATE events")
    before = list(store.stored(episode))
    for what, statement in statements.items():
        _refused(store, what, statement)
    equal("events afterwards", list(open_store().stored(episode)), before)
    return f"{len(statements)} statements refused"


CHECKS: tuple[Check, ...] = (
    every_edit_of_stored_bytes_shows_at_its_event,
    events_cannot_be_changed_deleted_or_replaced,
)


def _refused(store: SqlEventStore, what: str, statement: sa.Executable) -> None:
    try:
        with store.database.writing(durable=False) as connection:
            connection.execute(statement)
            connection.rollback()
    except (StoreError, sa.exc.DBAPIError):
        return
    raise StoreError(f"the database let an {what} pass (it was rolled back).")


def _first_wrong(row: EpisodeRow, stored: Sequence[StoredEvent]) -> int | None:
    """Return the first event that is not what the chain, or the episode's row, says."""
    for expected, (event, link) in enumerate(zip(stored, links(row.episode, stored), strict=True)):
        if json.loads(event.header)[1] != expected or event.link != link:
            return expected
    return None if len(stored) == row.events and stored[-1].link == row.head else len(stored)


def _flipped(data: bytes | None) -> bytes:
    """Return the bytes with the lowest bit of the middle one turned round."""
    data = data or b""
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


def _edit(change: Callable[[StoredEvent], StoredEvent]) -> Callable[[_Stored], _Stored]:
    return lambda stored: [*stored[:_AT], change(stored[_AT]), *stored[_AT + 1 :]]


def _newer(event: StoredEvent) -> StoredEvent:
    header = json.loads(event.header)
    header[4] += 1
    return replace(event, header=json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode())


_HERE: Callable[[_Stored], int] = lambda _: _AT  # noqa: E731 - beside its counterpart in the table below
_EDITS: dict[str, tuple[Callable[[_Stored], _Stored], Callable[[_Stored], int]]] = {
    "a byte of a body was edited": (_edit(lambda event: replace(event, body=_flipped(event.body))), _HERE),
    "a salt was edited": (_edit(lambda event: replace(event, salt=_flipped(event.salt))), _HERE),
    "a link was edited": (_edit(lambda event: replace(event, link=_flipped(event.link))), _HERE),
    "a version was edited": (_edit(_newer), _HERE),
    "two events changed places": (
        lambda stored: [*stored[:_AT], stored[_AT + 1], stored[_AT], *stored[_AT + 2 :]],
        _HERE,
    ),
    "an event was left out": (lambda stored: [*stored[:_AT], *stored[_AT + 1 :]], _HERE),
    "the last three were cut off": (lambda stored: stored[:-3], lambda stored: len(stored) - 3),
}
"""What was done -> (how, which event is the first that is wrong)."""
