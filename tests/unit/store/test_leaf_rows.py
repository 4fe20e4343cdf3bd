"""How episodes stand, and their leaves, on every database."""

import pytest

from spectrace.core.events import ActRequested
from spectrace.store import leaf_rows, tables
from spectrace.store.sql import open_store
from tests.damage import forging
from tests.episodes import DONE, READ
from tests.playbook import accept
from tests.shop_log import recorded


@pytest.fixture
def store(database_url):
    opened = open_store(database_url)
    yield opened
    opened.close()


def asked(store, ask, *given):
    with store.database.reading() as connection:
        return ask(connection, *given)


def test_administrative_logs_come_first_and_every_episode_has_its_status(store):
    made = [recorded(store), recorded(store, weak=[READ, DONE], strong=[accept()])]
    found = asked(store, leaf_rows.standings)

    assert [one.episode for one in found] == [*store.administrative(), *made]
    assert [one.status for one in found] == ["administrative", "completed", "completed"]
    assert [one.head for one in found] == [store.row(one.episode).head for one in found]


def test_an_episode_without_an_end_is_open(store):
    whole = recorded(store)
    with store.database.writing(durable=True) as connection:
        forging(connection)
        connection.execute(tables.episodes.update().values(ended_at=None))

    assert {one.episode: one.status for one in asked(store, leaf_rows.standings)}[whole] == "open"


def test_writes_are_those_of_the_first_events_however_many_episodes_are_asked_for(store):
    recorded(store)
    whole = store.log.episode(recorded(store, weak=[READ, DONE], strong=[accept()]))
    some = store.log.episode(recorded(store))
    asked_at = (event for event in store.read(some.episode) if isinstance(event.body, ActRequested))
    write = next(event.seq for event in asked_at if event.body.effect == "write")
    asks = [(whole.number, whole.events), (some.number, some.events)]
    many = [*asks, *((number, 5) for number in range(1000, 2000))]

    assert asked(store, leaf_rows.writes, asks) == asked(store, leaf_rows.writes, many) == {some.number: 1}
    assert asked(store, leaf_rows.writes, [(some.number, write)]) == {}


def test_writes_are_counted_without_the_index_that_somebody_dropped(store):
    some = store.log.episode(recorded(store))
    with store.database.writing(durable=True) as connection:
        connection.exec_driver_sql("DROP INDEX ix_events_writes")
    few = [(some.number, some.events)]
    many = [*few, *((number, 5) for number in range(1000, 2000))]

    assert asked(store, leaf_rows.writes, few) == asked(store, leaf_rows.writes, many) == {some.number: 1}


def test_leaves_are_kept_in_their_order(store):
    with store.database.writing(durable=True) as connection:
        leaf_rows.append(connection, 0, [("b", b"1"), ("a", b"2")])
        leaf_rows.append(connection, 2, [("b", b"3")])

    assert asked(store, leaf_rows.kept) == [(0, "b", b"1"), (1, "a", b"2"), (2, "b", b"3")]


def test_links_are_looked_up_by_their_keys_and_missing_ones_left_out(store):
    row = store.log.episode(recorded(store))
    keys = [(row.number << tables.SEQ_BITS) + seq for seq in (row.events - 1, row.events)]

    assert asked(store, leaf_rows.links, keys) == {keys[0]: row.head}
