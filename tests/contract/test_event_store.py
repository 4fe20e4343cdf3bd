"""The contract of the EventStore port, over every implementation."""

import pytest

from spectrace.store.conformance import CHECKS, name_of, run_checks


@pytest.mark.parametrize("check", CHECKS, ids=name_of)
def test_every_store_keeps_the_contract(check, open_event_store):
    check(open_event_store)


@pytest.mark.slow
def test_all_checks_can_be_run_at_once_and_reported(open_event_store):
    found = list(run_checks(open_event_store))

    assert found == [(name_of(check), None) for check in CHECKS]
