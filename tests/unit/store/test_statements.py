import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from spectrace.store import tables
from spectrace.store.sql import open_store
from spectrace.store.statements import ROWS_AT_ONCE, SEQ_MASK, Statements, key


def test_a_key_is_the_episodes_number_and_the_events():
    assert (key(3, 5), key(3, 5) & SEQ_MASK, key(3, 5) >> tables.SEQ_BITS) == (3 << 20 | 5, 5, 3)


def test_episodes_do_not_overlap():
    assert key(1, SEQ_MASK) + 1 == key(2, 0)


@pytest.mark.parametrize(("dialect", "limit"), [(sqlite.dialect(), 32_766), (postgresql.psycopg.dialect(), 65_535)])
def test_a_full_batch_fits_the_databases_parameters(dialect, limit):
    text = Statements(dialect)._insert(tables.events, ROWS_AT_ONCE, ignore=False)

    assert text.count("?") + text.count("%s") == ROWS_AT_ONCE * len(tables.events.columns) <= limit


def test_rows_already_there_are_left_alone_when_asked(database_url):
    store = open_store(database_url)
    statements = Statements(store.database.dialect)
    rows = [(bytes([number]) * 32, 1, 0, b"x") for number in range(5)]
    with store.database.writing(durable=False) as connection:
        statements.insert(connection, tables.blobs, rows[:3], ignore=True)
        statements.insert(connection, tables.blobs, rows, ignore=True)
        count = connection.scalar(sa.select(sa.func.count()).select_from(tables.blobs))
    store.close()

    assert count == 5
