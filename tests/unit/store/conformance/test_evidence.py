import pytest
from broken_stores import ForgetsItsLength, Relinked
from damage import damage

from spectrace.errors import StoreError
from spectrace.store.conformance.check import NotApplicable
from spectrace.store.conformance.evidence import (
    events_cannot_be_changed_deleted_or_replaced,
    every_edit_of_stored_bytes_shows_at_its_event,
)
from spectrace.store.memory import MemoryEventStore
from spectrace.store.sql import open_store


@pytest.mark.parametrize("broken", [ForgetsItsLength, Relinked])
def test_a_store_whose_edits_do_not_show_is_found_out(broken):
    log = broken()

    with pytest.raises(StoreError, match="first event that is wrong"):
        every_edit_of_stored_bytes_shows_at_its_event(lambda: log)


def test_a_database_that_lets_events_be_changed_is_found_out(tmp_path):
    path = str(tmp_path / "log.db")
    store = open_store(path)
    damage(path, "SELECT 1")

    with pytest.raises(StoreError, match="UPDATE of a time pass"):
        events_cannot_be_changed_deleted_or_replaced(lambda: store)
    store.close()


def test_memory_has_no_triggers_to_ask():
    with pytest.raises(NotApplicable):
        events_cannot_be_changed_deleted_or_replaced(MemoryEventStore)
