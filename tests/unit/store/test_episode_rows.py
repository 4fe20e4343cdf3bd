import time

import pytest
import sqlalchemy as sa

from spectrace.store import episode_rows, tables
from spectrace.store.episode_rows import problems
from spectrace.store.samples import EPOCH_US, pending, sample_episode
from spectrace.store.sql import open_store
from spectrace.store.statements import LEASE_US
from tests.damage import forging

BODIES = sample_episode(1)
ROW = tables.episodes.c


@pytest.fixture
def store(database_url):
    opened = open_store(database_url)
    for name, bodies in (("ep1", BODIES), ("ep2", BODIES), ("open", BODIES[:4])):
        writer = opened.create(name, bodies[0], EPOCH_US)
        writer.append(pending(bodies)[1:], durable=True)
        writer.close()
    yield opened
    opened.close()


def found(store):
    with store.database.reading() as connection:
        return problems(connection)


def alter(store, *names, **values):
    with store.database.writing(durable=True) as connection:
        forging(connection)
        connection.execute(sa.update(tables.episodes).where(ROW.episode.in_(names)).values(**values))


def test_rows_that_say_what_their_events_say_are_no_problem(store):
    assert found(store) is None


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"started_at": (1 << 63) - 1}, f"started_at 9223372036854775807, by its events {EPOCH_US}"),
        ({"project": "another"}, "project 'another', by its events "),
        ({"events": 3}, f"events 3, by its events {len(BODIES)}"),
        ({"head": b"x" * 32}, "head is not its last event's link"),
        ({"ended_at": 7}, "ended_at 7, by its events "),
    ],
)
def test_a_row_that_says_something_else_is_named_with_what(store, values, said):
    alter(store, "ep1", **values)

    assert found(store).startswith(f"the rows of 1 episodes say something else than their events: ep1 ({said}")


def test_an_end_that_a_row_conceals_is_found(store):
    alter(store, "ep1", ended_at=None)

    assert found(store).startswith("the rows of 1 episodes say something else than their events: ep1 (ended_at None, ")


@pytest.mark.parametrize("years", [0, 100, 1000])
def test_a_lease_that_no_writer_can_hold_is_found(store, years):
    now = time.time_ns() // 1000
    alter(store, "open", lease_until=now + years * 365 * 86_400_000_000 + 12 * LEASE_US, writer_host="elsewhere")

    assert "later than any writer's can be: it hides that the writer is gone" in found(store)


def test_a_lease_of_a_clock_that_goes_a_little_fast_is_no_problem(store):
    alter(store, "open", lease_until=time.time_ns() // 1000 + 10 * LEASE_US, writer_host="elsewhere")

    assert found(store) is None


def test_an_end_that_no_event_tells_is_found(store):
    alter(store, "open", ended_at=EPOCH_US)

    assert f"open (ended_at {EPOCH_US}, by its events None)" in found(store)


def test_a_few_are_named_and_the_others_counted_page_by_page(store, monkeypatch):
    monkeypatch.setattr(episode_rows, "_PAGE", 1)
    monkeypatch.setattr(episode_rows, "_NAMED", 2)
    alter(store, "ep1", "ep2", "open", project="another")

    assert found(store).startswith("the rows of 3 episodes ")
    assert "ep2" in found(store)
    assert " and 1 more. Somebody altered them" in found(store)


def test_an_episode_without_events_is_found(tmp_path):
    opened = open_store(str(tmp_path / "log.db"))
    opened.create("ep1", BODIES[0], EPOCH_US).close()
    with opened.database.writing(durable=True) as connection:
        forging(connection)
        connection.exec_driver_sql("DROP TRIGGER events_no_delete")
        connection.exec_driver_sql("DELETE FROM events WHERE key >= 1 << 20")
    said = found(opened)
    opened.close()

    assert "ep1 (no event is there)" in said


@pytest.mark.parametrize("payload", ["x'0011'", "NULL"])
def test_a_first_event_that_cannot_be_read_is_not_the_rows_fault(tmp_path, payload):
    opened = open_store(str(tmp_path / "log.db"))
    opened.create("ep1", BODIES[0], EPOCH_US).close()
    salt = "NULL" if payload == "NULL" else "salt"
    with opened.database.writing(durable=True) as connection:
        forging(connection)
        connection.exec_driver_sql("DROP TRIGGER events_no_update")
        connection.exec_driver_sql(f"UPDATE events SET payload = {payload}, salt = {salt} WHERE key = 1 << 20")  # noqa: S608 - our own names
    said = found(opened)
    opened.close()

    assert said is None


def test_each_altered_row_is_told_with_its_episode(store):
    alter(store, "ep1", project="another", started_at=1)
    alter(store, "ep2", events=3)
    with store.database.reading() as connection:
        told = dict(episode_rows.altered(connection))

    assert list(told) == ["ep1", "ep2"]
    assert "project 'another'" in told["ep1"]
    assert "events 3" in told["ep2"]
