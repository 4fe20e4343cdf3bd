"""The free space of a database after an erasure."""

from contextlib import closing

import psycopg
import pytest

from spectrace.store.cleaning import clean, is_due, mark
from spectrace.store.erasing import Order, erase
from spectrace.store.erasing_plan import Named
from spectrace.store.sql import open_store
from tests.roles import roles_of
from tests.shop_log import recorded


@pytest.fixture
def store(database_url):
    opened = open_store(database_url)
    recorded(opened)
    yield opened
    opened.close()


def marked(store):
    with store.database.writing(durable=True) as connection:
        mark(connection)


def test_a_marked_database_is_cleaned_and_is_marked_no_more(store):
    due = [is_due(store.database)]
    marked(store)
    due.append(is_due(store.database))
    problems = clean(store.database)

    assert (due, problems, is_due(store.database)) == ([False, True], (), False)


def test_a_mark_goes_with_its_transaction(store):
    with store.database.writing(durable=True) as connection:
        mark(connection)
        connection.get_transaction().rollback()

    assert not is_due(store.database)


def test_the_write_ahead_log_is_cut_to_nothing(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    recorded(store)
    clean(store.database)

    assert (tmp_path / "log.db-wal").stat().st_size == 0
    store.close()


def test_on_postgres_an_old_snapshot_is_named(postgres_url):
    store = open_store(postgres_url)
    recorded(store)
    with psycopg.connect(postgres_url) as old:
        old.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        old.execute("SELECT 1")
        with store.database.writing(durable=True) as connection:
            mark(connection)
            connection.exec_driver_sql("UPDATE events SET payload = NULL, salt = NULL WHERE key = (1::bigint << 20)")
        held = clean(store.database, 0.2)
    after = clean(store.database)
    store.close()

    assert [one for one in held if "began before the erasure" in one]
    assert after == ()


def test_on_postgres_a_table_that_is_in_use_is_named(postgres_url):
    store = open_store(postgres_url)
    with psycopg.connect(postgres_url) as old:
        old.execute("SELECT count(*) FROM blobs")
        held = clean(store.database, 0.2)
    store.close()

    assert [one for one in held if one.startswith("blobs could not be written anew within 0.2 s")]


BY_HAND = (
    "run `VACUUM (FULL, ANALYZE) events, blobs, summaries, segments, actions, search`, as this role or as the owner"
)


@pytest.mark.parametrize("hold", ["LOCK TABLE events IN ACCESS SHARE MODE", "SELECT count(*) FROM tools"])
def test_a_role_that_can_leave_no_mark_is_told_what_to_run_instead_of_the_same_erasure(postgres_url, hold):
    with closing(open_store(postgres_url)) as owner:
        episode = recorded(owner)
    with roles_of(postgres_url) as roles, closing(open_store(roles.granted("eraser"))) as store:
        wanted, order = Named(((episode, 3),)), Order("Ann", "asked to")
        with psycopg.connect(postgres_url) as old:
            old.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            old.execute(hold)
            problems = erase(store, wanted, order, wait_s=0.2).problems
        again = erase(store, wanted, order, wait_s=0.2)

        assert problems
        assert all(BY_HAND in one and "again does nothing" in one for one in problems)
        assert (again.parts, again.problems) == ((), ())


def test_what_a_role_that_can_leave_no_mark_is_told_to_run_it_may_run(postgres_url):
    with closing(open_store(postgres_url)) as owner:
        recorded(owner)
    with roles_of(postgres_url) as roles, psycopg.connect(roles.granted("eraser"), autocommit=True) as eraser:
        files = "SELECT pg_relation_filenode('events'::regclass)"
        before = eraser.execute(files).fetchone()
        eraser.execute("VACUUM (FULL, ANALYZE) events, blobs, summaries, segments, actions, search")

        assert eraser.execute(files).fetchone() != before


def test_the_owner_whose_cleaning_is_held_up_runs_the_same_erasure_again(postgres_url):
    with closing(open_store(postgres_url)) as store:
        marked(store)
        with psycopg.connect(postgres_url) as old:
            old.execute("SELECT count(*) FROM blobs")
            held = clean(store.database, 0.2)

        assert held
        assert all("run the same erasure again" in one and "VACUUM" not in one for one in held)
        assert is_due(store.database)
