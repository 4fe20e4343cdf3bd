"""Which key a log's placeholders are made with: a record in the administrative log whenever it is another one.

Read once by each process that is about to record, from the administrative events alone.
"""

import os
from collections.abc import Mapping

import sqlalchemy as sa

from spectrace.core.admin_events import AdminKeyChanged
from spectrace.core.events import TYPE_NUMBERS
from spectrace.redaction.opening import open_redactor
from spectrace.redaction.redactor import Redactor
from spectrace.redaction.rules import Rules
from spectrace.store import admin, tables
from spectrace.store.event_store import EventStore
from spectrace.store.process import operator
from spectrace.store.sql import SqlEventStore
from spectrace.store.statements import SEQ_MASK, key

WHAT = "redaction"


def redactor_for(store: EventStore, rules: Rules, environ: Mapping[str, str] | None = None) -> Redactor | None:
    """Return who redacts what is recorded here, having noted its key; None where nothing is redacted."""
    redactor = open_redactor(rules, os.environ if environ is None else environ)
    if redactor is not None and isinstance(store, SqlEventStore):
        note_key(store, redactor.key_id)
    return redactor


def note_key(store: SqlEventStore, key_id: str) -> None:
    """Record that placeholders are made with this key from now on, unless that is the last that was said."""
    previous = noted_key(store)
    if previous != key_id:
        said = AdminKeyChanged(by=operator(), spectrace=admin.VERSION, what=WHAT, key=key_id, previous=previous)
        admin.record(store, said)


def noted_key(store: SqlEventStore) -> str | None:
    """Return the key that the last record of one names, the newest epoch first."""
    for episode, seq in _changes(store):
        for event in store.read(episode, seq, seq + 1):
            if isinstance(event.body, AdminKeyChanged) and event.body.what == WHAT:
                return event.body.key
    return None


def _changes(store: SqlEventStore) -> list[tuple[str, int]]:
    """Return where keys were changed, the last first; another database's logs that lie here say nothing of this one."""
    epochs, events = tables.epochs, tables.events
    logs = (
        sa.select(tables.episodes.c.number, tables.episodes.c.episode)
        .join(epochs, epochs.c.number == tables.episodes.c.number)
        .where(epochs.c.place.is_not(None))
        .order_by(epochs.c.place.desc())
    )
    found: list[tuple[str, int]] = []
    with store.database.reading() as connection:
        for number, episode in connection.execute(logs).all():
            own = events.c.key.between(key(number, 0), key(number, SEQ_MASK))
            query = sa.select(events.c.key).where(own, events.c.type == TYPE_NUMBERS[AdminKeyChanged])
            keys = connection.scalars(query.order_by(events.c.key.desc()))
            found.extend((episode, one & SEQ_MASK) for one in keys)
    return found
