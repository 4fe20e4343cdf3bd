"""The administrative log on both databases: what is done to a database as a whole is an event like any other."""

import threading

import pytest
import sqlalchemy as sa

from spectrace.audit.integrity import CONSISTENT, verify_episode
from spectrace.core.admin_events import AdminCopied, AdminImported, AdminOpened, EpochHead
from spectrace.errors import StoreError, UsageError
from spectrace.store import admin, tables
from spectrace.store.process import operator
from spectrace.store.revisions import head
from spectrace.store.samples import EPOCH_US, sample_episode
from spectrace.store.sql import open_store


@pytest.fixture
def store(database_url):
    opened = open_store(database_url)
    yield opened
    opened.close()


def imported(number: int = 1) -> AdminImported:
    return AdminImported(
        by=operator(),
        spectrace=admin.VERSION,
        source=f"file {number} \ud800" + "x" * 300,
        source_digest=None,
        episodes=number,
        selection_digest="sha256:" + "0" * 64,
    )


def current(store):
    with store.database.reading() as connection:
        return admin.current(connection)


def test_a_new_database_is_in_its_first_epoch(store):
    epoch = current(store)
    (opened,) = (event.body for event in store.read(epoch.episode))

    assert (epoch.number, epoch.events) == (0, 1)
    assert epoch.episode.startswith("admin-")
    assert (opened.reason, opened.revision, opened.episodes, opened.previous) == ("created", head(), 0, None)


def test_records_follow_each_other_in_one_chain(store):
    named = [admin.record(store, imported(number)) for number in (1, 2)]
    epoch = current(store)

    assert named == [f"{epoch.episode}:1", f"{epoch.episode}:2"]
    assert [event.body for event in store.read(epoch.episode, 1)] == [imported(1), imported(2)]
    assert verify_episode(store, epoch.episode).result == CONSISTENT


def test_the_next_epoch_names_the_head_of_the_one_before(store):
    before = current(store)
    with store.database.writing(durable=True) as connection:
        after = admin.open_epoch(connection, "restored")
    (opened,) = (event.body for event in store.read(after.episode))

    assert current(store) == after
    assert opened.previous == EpochHead(before.episode, 1, before.head.hex())
    assert admin.episodes(store.database) == [after.episode, before.episode]


def test_another_databases_log_is_kept_and_is_not_the_current_one(store):
    before = current(store)
    with store.database.writing(durable=True) as connection:
        number = admin.free_number(connection)
        values = {column.name: None for column in tables.episodes.columns}
        row = connection.execute(tables.episodes.select().where(tables.episodes.c.number == 0)).mappings().one()
        connection.execute(tables.episodes.insert().values({**values, **row, "number": number, "episode": "admin-f"}))
        admin.adopt(connection, number)

    assert (number, current(store)) == (-1, before)


def test_an_epoch_is_no_run(store):
    store.create("ep1", sample_episode(1)[0], EPOCH_US).close()
    with store.database.reading() as connection:
        numbers = dict(connection.execute(tables.episodes.select().with_only_columns(*_NAMED)).all())

    assert numbers == {"ep1": 1, current(store).episode: 0}


_NAMED = (tables.episodes.c.episode, tables.episodes.c.number)


def test_nobody_writes_a_run_into_it_or_under_its_name(store):
    with pytest.raises(UsageError, match="kept for administrative logs"):
        store.create("admin-0123456789ab", sample_episode(1)[0], EPOCH_US)
    with pytest.raises(UsageError, match="is an administrative log"):
        store.reopen(current(store).episode)


def test_a_record_in_a_transaction_that_fails_is_not_kept(store):
    before = current(store)

    def fail() -> None:
        with store.database.writing(durable=True) as connection:
            admin.append(connection, imported())
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert current(store) == before


def test_a_database_without_an_epoch_gets_one_with_its_first_record(store):
    with store.database.writing(durable=True) as connection:
        connection.execute(tables.epochs.delete())
    named = admin.record(store, imported())
    first, second = (event.body for event in store.read(named.partition(":")[0]))

    assert isinstance(first, AdminOpened)
    assert (first.reason, second) == ("upgraded", imported())


@pytest.mark.slow
def test_records_of_many_writers_make_one_chain(database_url, store):
    others = [open_store(database_url) for _ in range(4)]
    threads = [
        threading.Thread(target=lambda other=other: [admin.record(other, imported(n)) for n in range(5)])
        for other in others
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for other in others:
        other.close()
    epoch = current(store)

    assert epoch.events == 21
    assert verify_episode(store, epoch.episode).result == CONSISTENT


def test_a_copy_says_the_epoch_that_it_came_from(store):
    came = AdminCopied(
        by=operator(),
        spectrace=admin.VERSION,
        source="other.db",
        source_digest=None,
        episodes=3,
        selection_digest="sha256:" + "1" * 64,
        source_epoch=EpochHead("admin-0123456789ab", 4, "ab" * 32),
    )
    episode, _, seq = admin.record(store, came).partition(":")

    assert [event.body for event in store.read(episode, int(seq))] == [came]


@pytest.mark.parametrize("change", ["events = 0", "events = 5", "head = :head"])
def test_a_row_that_says_another_end_than_its_events_takes_no_record_and_says_why(store, change):
    admin.record(store, imported())
    epoch = current(store)
    with store.database.writing(durable=True) as connection:
        if not store.database.sqlite:
            connection.exec_driver_sql("ALTER TABLE episodes DISABLE TRIGGER episodes_goes_on")
        values = {"head": b"\0" * 32} if ":head" in change else {}
        connection.execute(sa.text(f"UPDATE episodes SET {change} WHERE number = 0"), values)  # noqa: S608 - ours

    with pytest.raises(StoreError, match=f"administrative log {epoch.episode} has 2 events, .*{epoch.head.hex()}; its"):
        admin.record(store, imported(2))
    assert [event.seq for event in store.read(epoch.episode)] == [0, 1]
