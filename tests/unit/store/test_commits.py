"""Group commit: what several threads append at once lands in few transactions, each episode's fate its own."""

import threading

import pytest

from spectrace.core.events import ResetRequested
from spectrace.errors import Conflict, StoreError
from spectrace.store.commits import ROWS, Append
from spectrace.store.event_store import Pending
from spectrace.store.samples import EPOCH_US, sample_episode
from spectrace.store.sql import open_store

STARTED = sample_episode(1)[0]
AGENTS = 12


@pytest.fixture
def store(database_url):
    one = open_store(database_url)
    yield one
    one.close()


def reset(seq, seed=None):
    return Pending(seq, "", EPOCH_US + seq, ResetRequested(seed=seed))


def at_once(*works):
    """Run every piece of work in a thread of its own; return what each raised."""
    raised = [None] * len(works)

    def run(index, work):
        try:
            work()
        except StoreError as error:
            raised[index] = error

    threads = [threading.Thread(target=run, args=(index, work)) for index, work in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def waiting(store, *works):
    """Run the work while the turn is held, so that all of it waits together; then let it go."""
    held, found = threading.Event(), []
    with store.database.turn():
        thread = threading.Thread(target=lambda: found.extend(at_once(*works)))
        thread.start()
        while len(store._commits._waiting) < len(works):
            held.wait(0.002)
    thread.join()
    return found


def counted(store, monkeypatch):
    """Count the transactions of the queue, by how many appends each held."""
    sizes = []
    real = store._commits._transaction
    monkeypatch.setattr(store._commits, "_transaction", lambda batch: (sizes.append(len(batch)), real(batch))[1])
    return sizes


def test_appends_that_wait_together_share_a_transaction(store, monkeypatch):
    sizes = counted(store, monkeypatch)
    writers = [store.create(f"ep{number}", STARTED, EPOCH_US) for number in range(AGENTS)]

    raised = waiting(
        store, *(lambda writer=writer: writer.append([reset(1)], durable=writer is writers[0]) for writer in writers)
    )

    assert raised == [None] * AGENTS
    assert sizes == [AGENTS]
    assert [store.row(f"ep{number}").events for number in range(AGENTS)] == [2] * AGENTS


def test_a_conflict_fails_alone(store):
    writers = [store.create(f"ep{number}", STARTED, EPOCH_US) for number in range(3)]
    thief = store.create("thief", STARTED, EPOCH_US)
    with store.database.writing(durable=False) as connection:
        connection.exec_driver_sql("UPDATE episodes SET events = 7 WHERE episode = 'thief'")

    raised = waiting(
        store,
        lambda: writers[0].append([reset(1)], durable=False),
        lambda: thief.append([reset(1)], durable=False),
        lambda: writers[1].append([reset(1)], durable=False),
    )

    assert [type(error) for error in raised] == [type(None), Conflict, type(None)]
    assert "event 1 of thief was expected to be free" in str(raised[1])
    assert [event.seq for event in store.read("thief")] == [0]
    assert [store.row(name).events for name in ("ep0", "ep1", "ep2")] == [2, 2, 1]


def test_a_row_that_the_database_refuses_fails_alone(store):
    good, bad = store.create("good", STARTED, EPOCH_US), store.create("bad", STARTED, EPOCH_US)
    bad.append([reset(1)], durable=False)
    with store.database.writing(durable=False) as connection:
        if not store.database.sqlite:
            connection.exec_driver_sql("ALTER TABLE episodes DISABLE TRIGGER episodes_goes_on")
        connection.exec_driver_sql("UPDATE episodes SET events = 1 WHERE episode = 'bad'")
    bad._chain.seq = 1

    raised = waiting(
        store,
        lambda: bad.append([reset(1, seed=9)], durable=False),
        lambda: good.append([reset(1)], durable=True),
    )

    assert [type(error) for error in raised] == [Conflict, type(None)]
    assert [event.body for event in store.read("bad")][1:] == [ResetRequested(seed=None)]
    assert store.row("good").events == 2


def test_an_episode_is_in_a_transaction_once(store):
    queue = store._commits
    for before in (1, 2):
        queue._waiting.append(Append("ep", 1, before, before + 1, b"", 0, [], [], durable=False))
    queue._waiting.append(Append("other", 2, 1, 2, b"", 0, [], [], durable=False))

    assert [[one.before for one in queue._next_batch()] for _ in range(2)] == [[1], [2, 1]]


def test_a_transaction_holds_no_more_rows_than_a_statement_takes(store):
    queue = store._commits
    for number in range(3):
        queue._waiting.append(Append("ep", number, 1, 2, b"", 0, [], [()] * (ROWS // 2), durable=False))

    assert [len(queue._next_batch()) for _ in range(2)] == [2, 1]


def test_one_large_append_is_one_transaction_all_the_same(store):
    writer = store.create("ep", STARTED, EPOCH_US)

    writer.append([reset(seq) for seq in range(1, ROWS + 2)], durable=True)

    assert store.row("ep").events == ROWS + 2


def test_ctrl_c_in_the_thread_that_commits_loses_nobody_elses_append(store, monkeypatch):
    writers = [store.create(f"ep{number}", STARTED, EPOCH_US) for number in range(2)]
    real, interrupted = store._commits._transaction, []

    def once(batch):
        if not interrupted:
            interrupted.append(batch)
            raise KeyboardInterrupt
        real(batch)

    monkeypatch.setattr(store._commits, "_transaction", once)
    caught = []

    def append(writer):
        try:
            writer.append([reset(1)], durable=False)
        except KeyboardInterrupt:
            caught.append(True)

    waiting(store, *(lambda writer=writer: append(writer) for writer in writers))

    assert caught == [True]
    assert sorted(store.row(f"ep{number}").events for number in range(2)) == [1, 2]
