"""Which names a log has never heard of."""

import pytest

from spectrace.audit.known_names import never_heard_of
from spectrace.store.memory import MemoryEventStore
from tests.shop_log import recorded


def test_a_name_that_no_event_has_is_told_with_those_that_there_are(event_store):
    recorded(event_store)
    found = list(never_heard_of(event_store, tools=["cancel_order", "cancel_ordr"], envs=["shop", "shp"]))

    if isinstance(event_store, MemoryEventStore):
        assert found == []
        return
    assert [(what, name) for what, name, _ in found] == [("tool", "cancel_ordr"), ("environment", "shp")]
    assert "cancel_order" in found[0][2]
    assert found[1][2] == ["shop"]


@pytest.mark.parametrize("asked", [{"tools": [], "envs": []}, {"tools": ["cancel_order"], "envs": ["shop"]}])
def test_where_all_are_known_nothing_is_told(event_store, asked):
    recorded(event_store)

    assert list(never_heard_of(event_store, **asked)) == []
