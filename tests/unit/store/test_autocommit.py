"""One statement, one transaction: what an append on Postgres stands on."""

import psycopg
import pytest

from spectrace.errors import StoreError
from spectrace.store.database import Database, parse_url
from spectrace.store.sql import open_store


@pytest.fixture
def database(postgres_url):
    open_store(postgres_url).close()
    one = Database(parse_url(postgres_url), read_only=False)
    yield one
    one.close()


def backend(database):
    return database.statement("SELECT pg_backend_pid()", (), durable=False)[0][0]


@pytest.mark.parametrize("durable", [True, False])
def test_a_statement_is_flushed_when_asked(database, durable):
    database.statement("SELECT 1", (), durable=not durable)
    setting = database.statement("SELECT current_setting('synchronous_commit')", (), durable=durable)

    assert setting == [("on" if durable else "off",)]


def test_what_it_wrote_is_committed_at_once(database):
    database.statement(
        "INSERT INTO tools (name) VALUES ($1) ON CONFLICT DO NOTHING RETURNING name", ("x",), durable=False
    )
    with database.reading() as other:
        assert other.exec_driver_sql("SELECT name FROM tools").scalars().all() == ["x"]


def test_numbers_of_every_size_fit_one_statement(database):
    sizes = (1, 2**20, 2**50)
    found = [database.statement("SELECT $1, pg_typeof($1)::text", (size,), durable=False) for size in sizes]

    assert found == [[(size, "bigint")] for size in sizes]


def test_a_row_that_breaks_a_rule_is_the_callers_to_judge(database):
    text = "INSERT INTO types (number, name) VALUES ($1, $2) RETURNING number"
    with pytest.raises(psycopg.IntegrityError) as caught:
        database.statement(text, (1, "episode.started"), durable=False)

    assert database.is_integrity_error(caught.value)
    assert database.statement("SELECT 1", (), durable=False) == [(1,)]


def test_a_statement_that_fails_says_which_database(database):
    with pytest.raises(StoreError, match=r"database postgresql://.*no_such_table"):
        database.statement("SELECT * FROM no_such_table", (), durable=False)


def test_after_a_lost_connection_there_is_a_new_one(database):
    first = backend(database)
    with database.reading() as other:
        other.exec_driver_sql(f"SELECT pg_terminate_backend({first})")
    with pytest.raises(StoreError, match="the connection was lost"):
        backend(database)

    assert backend(database) != first
