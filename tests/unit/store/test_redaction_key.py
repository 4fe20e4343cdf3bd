"""Which key a log's placeholders are made with."""

import pytest

from spectrace.core.admin_events import AdminKeyChanged
from spectrace.redaction.rules import Rules
from spectrace.store import admin
from spectrace.store.memory import MemoryEventStore
from spectrace.store.redaction_key import note_key, noted_key, redactor_for
from spectrace.store.sql import open_store

ENVIRON = {"KEY": "0123456789abcdef" * 2, "OTHER": "fedcba9876543210" * 2}


@pytest.fixture
def store(database_url):
    opened = open_store(database_url)
    yield opened
    opened.close()


def said(store) -> list[tuple[str, str, str | None]]:
    bodies = [event.body for name in admin.episodes(store.database) for event in store.read(name)]
    return [(body.what, body.key, body.previous) for body in bodies if isinstance(body, AdminKeyChanged)]


def test_the_first_key_and_every_other_one_are_on_record(store):
    first = redactor_for(store, Rules(key_env="KEY"), ENVIRON).key_id
    again = redactor_for(store, Rules(key_env="KEY"), ENVIRON).key_id
    other = redactor_for(store, Rules(key_env="OTHER"), ENVIRON).key_id

    assert (again, said(store)) == (first, [("redaction", first, None), ("redaction", other, first)])


def test_the_key_of_checkpoints_says_nothing_of_the_one_of_placeholders(store):
    note_key(store, "aaaaaaaa")
    changed = admin.record
    changed(store, AdminKeyChanged(by=admin.operator(), spectrace="1", what="checkpoint", key="b", previous=None))

    assert noted_key(store) == "aaaaaaaa"


def test_where_nothing_is_redacted_nothing_is_noted(store):
    assert (redactor_for(store, Rules(enabled=False), {}), said(store)) == (None, [])


def test_a_log_in_memory_keeps_no_such_record():
    assert redactor_for(MemoryEventStore(), Rules(key_env="KEY"), ENVIRON) is not None
