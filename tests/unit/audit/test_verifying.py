import pytest

from spectrace.audit import verifying
from spectrace.audit.integrity import CONSISTENT, INVALID, verify_episode
from spectrace.audit.verifying import cores, verify_all
from spectrace.errors import EpisodeNotFound
from spectrace.store.memory import MemoryEventStore
from spectrace.store.samples import EPOCH_US, pending, sample_episode
from spectrace.store.sql import open_store
from tests.damage import damage
from tests.shop_log import recorded

NAMES = [f"ep{number}" for number in range(6)]


def written(url):
    store = open_store(url)
    for number, name in enumerate(NAMES):
        bodies = sample_episode(number, segments=1)
        writer = store.create(name, bodies[0], EPOCH_US)
        writer.append(pending(bodies)[1:], durable=False)
        writer.close()
    return store


@pytest.fixture
def store(tmp_path):
    opened = written(f"sqlite:///{tmp_path / 'log.db'}")
    yield opened
    opened.close()


@pytest.fixture
def shared(monkeypatch):
    """Even a few events are worth other processes, each given one episode at a time."""
    monkeypatch.setattr(verifying, "SHARED_EVENTS", 1)
    monkeypatch.setattr(verifying, "_TASK_EVENTS", 1)


def test_results_come_in_the_order_asked_for_and_progress_is_told(store):
    told = []
    found = list(verify_all(store, NAMES[::-1], told=lambda *both: told.append(both)))

    assert [one.episode for one in found] == NAMES[::-1]
    assert told == [(done, 6) for done in range(1, 7)]


def test_a_log_in_memory_is_verified_too():
    store = MemoryEventStore()

    assert [one.result for one in verify_all(store, [recorded(store)])] == [CONSISTENT]


def test_few_events_are_not_shared(store):
    assert verifying._tasks(NAMES, dict.fromkeys(NAMES, 10)) == [NAMES]


def test_many_events_are_cut_into_tasks_that_leave_none_out():
    events = {name: 60_000 if name == "ep2" else 4_000 for name in NAMES} | {"ep5": 60_000}

    assert verifying._tasks(NAMES, events) == [["ep0", "ep1", "ep2"], ["ep3", "ep4", "ep5"]]


def test_there_is_a_core():
    assert cores() >= 1


@pytest.mark.slow
def test_two_processes_find_what_one_finds(database_url, shared):
    store = open_store(database_url)
    names = [recorded(store) for _ in range(3)]
    if store.database.sqlite:
        damage(store.database.path, "UPDATE events SET at = at + 1 WHERE key & 1048575 = 5 AND key >> 20 = 3")
    alone = [verify_episode(store, name) for name in names]
    together = list(verify_all(store, names, 2))
    store.close()

    assert together == alone
    assert {one.result for one in alone} == ({CONSISTENT, INVALID} if store.database.sqlite else {CONSISTENT})


@pytest.mark.slow
def test_an_error_in_another_process_is_raised_here(store, shared):
    with pytest.raises(EpisodeNotFound, match="no episode 'nope'"):
        list(verify_all(store, [*NAMES, "nope"], 2))
