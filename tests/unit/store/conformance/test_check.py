import pytest

from spectrace.core.events import EpisodeStarted
from spectrace.errors import Conflict, StoreError
from spectrace.store.conformance.check import PROJECT, check, equal, kept, raises, started, write
from spectrace.store.memory import MemoryEventStore
from spectrace.store.samples import sample_episode


@check("H0")
def a_store_is_a_store(open_store):
    """Say nothing."""
    return open_store()


def test_a_function_becomes_a_check_whose_name_is_the_claim():
    assert (a_store_is_a_store.id, a_store_is_a_store.claim) == ("H0", "a store is a store")
    assert a_store_is_a_store(lambda: "yes") == "yes"


@pytest.mark.parametrize(
    ("found", "expected", "words"),
    [
        (1, 2, "x: expected 2, found 1"),
        (True, 1, "x: expected 1, found True"),
        ([1, 2], [1, 3], "x, number 1: expected 3, found 2"),
        ([1], [1, 3], "x: expected 2, found 1"),
    ],
)
def test_what_differs_is_said(found, expected, words):
    with pytest.raises(StoreError, match=words):
        equal("x", found, expected)


def test_something_that_was_not_refused_is_said():
    with pytest.raises(StoreError, match="Conflict was expected"):
        raises(Conflict, list)


def test_every_episode_is_filed_under_the_checks_own_project():
    store = MemoryEventStore()
    first = next(store.read(write(store, sample_episode(1, segments=1)))).body

    assert isinstance(first, EpisodeStarted)
    assert first.project == PROJECT
    assert started(sample_episode(2)).project == PROJECT


def test_other_bytes_than_the_twins_are_found_though_they_read_equal():
    class Spelled(MemoryEventStore):
        """Lays white space into its bodies and links them well."""

        def stored(self, episode, start=0):
            for event in super().stored(episode, start):
                yield type(event)(event.seq, event.header, event.body + b" ", event.salt, event.link)

    store = Spelled()

    with pytest.raises(StoreError, match="stored bodies"):
        kept(lambda: store, sample_episode(3, segments=1))
