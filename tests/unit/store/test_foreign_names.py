import pytest
import sqlalchemy as sa

from spectrace.core.events import TYPE_NUMBERS
from spectrace.errors import StoreError
from spectrace.store import tables
from spectrace.store.foreign_names import FIRST, tool_ids, type_numbers
from spectrace.store.sql import open_store


@pytest.fixture
def store(database_url):
    opened = open_store(database_url)
    yield opened
    opened.close()


def test_a_type_that_is_not_known_gets_a_number_above_ours_and_keeps_it(store):
    with store.database.writing(durable=False) as connection:
        first = type_numbers(connection, {"later.b", "later.a", "verdict.given"})
    with store.database.writing(durable=False) as connection:
        second = type_numbers(connection, {"later.a", "later.c"})

    assert first == {"later.a": FIRST, "later.b": FIRST + 1, "verdict.given": 19}
    assert second == {"later.a": FIRST, "later.c": FIRST + 2}
    assert max(TYPE_NUMBERS.values()) < FIRST


def test_a_tool_gets_one_id(store):
    with store.database.writing(durable=False) as connection:
        first = tool_ids(store.database, connection, {"a", "b"})
        second = tool_ids(store.database, connection, {"b", "c"})

    assert first["b"] == second["b"]
    assert len({*first.values(), *second.values()}) == 3


def test_too_many_unknown_types_are_refused(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    with store.database.writing(durable=False) as connection:
        connection.execute(tables.types.insert().values(number=2**15 - 1, name="the.last"))
    with (
        pytest.raises(StoreError, match=r"no number is left for the event type 'one.more'"),
        store.database.writing(durable=False) as connection,
    ):
        type_numbers(connection, {"one.more"})
    with store.database.reading() as connection:
        held = connection.scalar(sa.select(sa.func.count()).where(tables.types.c.name == "one.more"))
    store.close()

    assert held == 0
