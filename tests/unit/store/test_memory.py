import pytest

from spectrace.errors import Conflict, StoreError
from spectrace.store.memory import MemoryEventStore
from spectrace.store.samples import EPOCH_US, pending, sample_episode

BODIES = sample_episode(1, segments=1)


def begun(store):
    return store.create("ep1", BODIES[0], EPOCH_US)


def test_a_reopened_episode_goes_on():
    store = MemoryEventStore()
    first = begun(store)
    first.append(pending(BODIES[1:9], 1), durable=False)
    first.close()
    store.reopen("ep1").append(pending(BODIES[9:], 9), durable=False)

    assert [event.body for event in store.read("ep1")] == BODIES


def test_a_living_writer_is_not_replaced():
    store = MemoryEventStore()
    begun(store)

    with pytest.raises(Conflict, match="ep1 is being written"):
        store.reopen("ep1")


def test_the_later_of_two_writers_gets_a_conflict():
    store = MemoryEventStore()
    first = begun(store)
    first.close()
    second, third = store.reopen("ep1"), None
    second.close()
    third = store.reopen("ep1")
    third.append(pending(BODIES[1:2], 1), durable=False)

    with pytest.raises(Conflict, match="written by somebody else since event 1"):
        second.append(pending(BODIES[1:2], 1), durable=False)


def test_a_closed_writer_refuses():
    writer = begun(MemoryEventStore())
    writer.close()

    with pytest.raises(StoreError, match="was closed"):
        writer.append(pending(BODIES[1:2], 1), durable=False)


def test_a_value_that_no_database_takes_is_refused_here_too():
    from dataclasses import replace

    store = MemoryEventStore()
    with pytest.raises(StoreError, match=r"beyond 2\^53"):
        store.create("ep1", replace(BODIES[0], seed=2**60), EPOCH_US)
