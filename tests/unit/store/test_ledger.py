"""What the questions behind the ledger read: by their plans, on both databases, over a log of 24,000 events."""

import pytest
import sqlalchemy as sa

from spectrace.store import projections, tables
from spectrace.store.ledger import FOREVER, accounts, can_tell, never_sent, sent, unfit, writes
from spectrace.store.sql import open_store
from tests import bulk
from tests.copies import made_once
from tests.damage import forging

WINDOW = (bulk.BEGIN_US + 30 * bulk.DAY_US, bulk.BEGIN_US + 40 * bulk.DAY_US)


def filled(url):
    opened = open_store(url)
    with opened.database.writing(durable=False) as connection:
        bulk.fill(connection, 400, projections.VERSION)
    opened.close()


@pytest.fixture
def store(database_url):
    made_once(database_url, filled)
    opened = open_store(database_url)
    yield opened
    opened.close()


def plan(store, query):
    text = str(query.compile(dialect=store.database.dialect, compile_kwargs={"literal_binds": True}))
    with store.database.reading() as connection:
        explained = "EXPLAIN QUERY PLAN " if store.database.sqlite else "EXPLAIN "
        return "\n".join(str(row[-1]) for row in connection.exec_driver_sql(explained + text.replace("%", "%%")))


QUESTIONS = (
    (sent("tool7", WINDOW), "ix_actions_tool_requested_at_drafted_at"),
    (never_sent("tool7", WINDOW), "ix_actions_tool_requested_at_drafted_at"),
    (writes("tool7", WINDOW), "ix_events_writes"),
    (sent(None, WINDOW), "ix_actions_requested_at_drafted_at"),
    (never_sent(None, WINDOW), "ix_actions_requested_at_drafted_at"),
    (unfit(WINDOW)[0], "ix_episodes_open"),
    (unfit(WINDOW)[1], "ix_summaries_projection"),
    (unfit(WINDOW)[2], "ix_summaries_projection"),
    (unfit(WINDOW)[3], "ix_summaries_problem"),
)


def test_every_question_is_answered_through_its_index(store):
    for query, index in QUESTIONS:
        assert index in plan(store, query), plan(store, query)
    if store.database.sqlite:  # both columns of a window, not a walk over everything that was never sent
        assert "requested_at=? AND drafted_at>?" in plan(store, never_sent("tool7", WINDOW))


def test_accounts_are_those_of_the_events_in_the_window(store):
    at, events = sa.literal_column("at"), sa.text("events")
    held = sa.select(sa.func.count()).select_from(events).where(sa.text("type = 9 AND effect = 'write'"))
    tool = sa.text("tool = (SELECT id FROM tools WHERE name = 'tool7')")
    with store.database.reading() as connection:
        expected = connection.scalar(held.where(tool, at >= WINDOW[0], at < WINDOW[1]))
    found = accounts(store.database, ("tool7",), WINDOW)
    deeds = [deed for one in found for deed in one.deeds]

    assert list(accounts(store.database, ("no_such_tool",), FOREVER)) == []
    assert len([deed for deed in deeds if deed.outcome == "ok"]) == expected
    assert all(WINDOW[0] <= (deed.requested_at or deed.drafted_at) < WINDOW[1] for deed in deeds)


@pytest.mark.parametrize("tool", ["a\0", "\ud800", "x" * 256])
def test_a_name_that_a_header_or_a_database_changes_cannot_be_told(tool):
    assert (can_tell(("cancel_order", tool)), can_tell(("cancel_order",))) == (False, True)


@pytest.mark.parametrize("name", ["drafted_at", "completed_at"])
def test_a_projection_with_a_time_that_is_none_is_not_believed(store, name):
    column = tables.actions.c
    asked = sa.and_(column.tool == "tool7", column.requested_at >= WINDOW[0], column.requested_at < WINDOW[1])
    with store.database.writing(durable=False) as connection:
        number = connection.scalar(sa.select(column.number).where(asked).limit(1))
        connection.execute(tables.actions.update().where(column.number == number, asked).values({name: (1 << 63) - 1}))
    found = {one.number: one.deeds for one in accounts(store.database, ("tool7",), WINDOW)}

    assert found[number] is None
    assert sum(deeds is None for deeds in found.values()) == 1


@pytest.mark.parametrize(
    "name", ["position", "arguments", "effect_declared", "outcome", "started_by", "seq", "held_seq"]
)
def test_a_projection_with_a_value_of_another_kind_is_not_believed(store, name):
    if not store.database.sqlite:
        pytest.skip("a column of Postgres holds values of its own kind alone")
    column = tables.actions.c
    asked = sa.and_(column.tool == "tool7", column.requested_at >= WINDOW[0], column.requested_at < WINDOW[1])
    with store.database.writing(durable=False) as connection:
        number = connection.scalar(sa.select(column.number).where(asked).limit(1))
        connection.execute(
            tables.actions.update().where(column.number == number, asked).values({name: sa.text("X'00'")})
        )
    found = {one.number: one.deeds for one in accounts(store.database, ("tool7",), WINDOW)}

    assert found[number] is None
    assert sum(deeds is None for deeds in found.values()) == 1


def test_an_open_episode_is_folded_whatever_its_row_says_of_its_start(store):
    altered = {"ended_at": None, "started_at": (1 << 63) - 1}
    with store.database.writing(durable=False) as connection:
        forging(connection)
        connection.execute(tables.episodes.update().where(tables.episodes.c.number == 1).values(altered))
    found = {one.number: one.deeds for one in accounts(store.database, ("tool7",), WINDOW)}

    assert found[1] is None
