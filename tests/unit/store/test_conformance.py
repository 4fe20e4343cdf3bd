from dataclasses import replace

from spectrace.store.conformance import CHECKS, name_of, run_checks
from spectrace.store.memory import MemoryEventStore


class Forgetful(MemoryEventStore):
    """Loses the last event."""

    def read(self, episode, start=0):
        return iter(list(super().read(episode, start))[:-1])


class Relinked(MemoryEventStore):
    """Says other links than it stored."""

    def stored(self, episode, start=0):
        return (replace(event, link=b"x" * 32) for event in super().stored(episode, start))


def failed(store):
    return {name for name, problem in run_checks(lambda: store) if problem}


def test_a_good_store_passes():
    assert failed(MemoryEventStore()) == set()


def test_a_store_that_loses_events_is_found_out():
    assert "every event type reads back equal" in failed(Forgetful())


def test_a_store_that_breaks_the_chain_is_found_out():
    assert "the chain verifies from stored bytes" in failed(Relinked())


def test_every_check_has_a_name_of_its_own():
    assert len({name_of(check) for check in CHECKS}) == len(CHECKS)
