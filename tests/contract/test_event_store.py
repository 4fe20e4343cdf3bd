"""The contract of the EventStore port, over every implementation: the checks that `spectrace conformance` runs too."""

import pytest

from spectrace.store.conformance import CHECKS, NotApplicable
from spectrace.store.memory import MemoryEventStore


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: f"{check.id} {check.claim}")
def test_every_store_keeps_the_contract(check, open_event_store):
    try:
        check(open_event_store)
    except NotApplicable:  # no database may say so
        assert isinstance(open_event_store(), MemoryEventStore)
