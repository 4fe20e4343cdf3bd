"""Episodes of which a projection tells less than there is: an account made from projections names them too."""

import pytest
import sqlalchemy as sa

from spectrace.audit.answers import Filters
from spectrace.audit.queries import Reader
from spectrace.store import tables
from spectrace.store.erasing import Order, erase
from spectrace.store.erasing_plan import Named
from spectrace.store.foreign_names import FIRST
from spectrace.store.ledger import FOREVER
from spectrace.store.sql import open_store
from spectrace.store.untold import erased, foreign_types, half_told, of_types
from tests.copies import made_once
from tests.shop_log import recorded
from tests.stored_episodes import blobs_of, chained, put, told_lines


def two_episodes(url):
    opened = open_store(url)
    recorded(opened)
    recorded(opened)
    opened.close()


@pytest.fixture
def store(database_url):
    made_once(database_url, two_episodes)
    opened = open_store(database_url)
    yield opened
    opened.close()


def with_a_foreign_event(store):
    """Put an episode into the store that has an event of a type that this spectrace does not know."""
    events = told_lines(store, Reader(store).episodes()[0].episode)
    header = [*events[4][0][:3], "tool.approved", 3, events[4][0][5], None, "person:Ana", "granted", None]
    events.insert(-1, (header, {"by": "Ana"}))
    lines = chained("foreign", events)
    return put(store, lines, blobs_of(store, lines))


def found(store, window=FOREVER):
    with store.database.reading() as connection:
        return list(half_told(connection, window))


def number_of(store, episode):
    with store.database.reading() as connection:
        return connection.scalar(sa.select(tables.episodes.c.number).where(tables.episodes.c.episode == episode))


def both_ways(store, tools=()):
    """What the ledger has to say of what it could not read: from projections, and folded from every event."""
    told, folded = [], []
    list(Reader(store).actions(Filters(tool=tools), lost=told))
    list(Reader(store).actions(Filters(tool=tools), reads=True, lost=folded))
    return told, folded


def event_of(store, episode, type_):
    return next(event.seq for event in store.read(episode) if event.type == type_)


def test_of_a_log_of_what_is_known_no_event_is_read(store):
    asked = []
    with store.database.reading() as connection:
        sa.event.listen(connection, "before_cursor_execute", lambda *given: asked.append(given[2]))
        assert list(half_told(connection, FOREVER)) == []
    assert len(asked) == 2
    assert [text for text in asked if "events" in text] == []


@pytest.mark.parametrize("tools", [(), ("cancel_order",)], ids=["of everything", "of a tool"])
def test_an_unknown_type_is_said_as_if_every_event_had_been_folded(store, tools):
    episode = with_a_foreign_event(store)
    told, folded = both_ways(store, tools)

    assert found(store) == [number_of(store, episode)]
    assert told == folded
    assert [(one.episode, "tool.approved" in one.detail) for one in told] == [(episode, True)]


def test_a_type_that_a_newer_migration_numbered_is_unknown_too(store):
    with store.database.writing(durable=False) as connection:
        connection.execute(tables.types.insert().values(number=FIRST - 1, name="of.later"))
    with store.database.reading() as connection:
        assert foreign_types(connection) == [FIRST - 1]


@pytest.mark.parametrize("tools", [(), ("cancel_order",)], ids=["of everything", "of a tool"])
@pytest.mark.parametrize(("type_", "matters"), [("repair.made", True), ("act.completed", False)])
def test_an_erased_event_is_said_where_its_header_tells_no_deed(store, type_, matters, tools):
    episode = Reader(store).episodes()[0].episode
    erase(store, Named(((episode, event_of(store, episode, type_)),)), Order())
    told, folded = both_ways(store, tools)

    assert (found(store), told) == ([number_of(store, episode)] if matters else [], folded)
    assert [one.episode for one in told] == ([episode] if matters else [])


def test_an_episode_outside_the_window_is_not_looked_at(store):
    number = number_of(store, with_a_foreign_event(store))
    with store.database.reading() as connection:
        row = connection.execute(tables.episodes.select().where(tables.episodes.c.number == number)).one()
    low, high = row.started_at, row.ended_at

    assert [found(store, window) for window in ((low, low + 1), (high, high + 1))] == [[number], [number]]
    assert [found(store, window) for window in ((low - 1, low), (high + 1, high + 2))] == [[], []]


def test_events_are_looked_for_through_their_key(store):
    with store.database.reading() as connection:
        if not store.database.sqlite:
            connection.exec_driver_sql("SET enable_seqscan = off")  # so small a table is read whole
        for query in (of_types([FIRST], FOREVER), erased(FOREVER)):
            text = str(query.compile(dialect=store.database.dialect, compile_kwargs={"literal_binds": True}))
            explain = "EXPLAIN QUERY PLAN " if store.database.sqlite else "EXPLAIN "
            plan = "\n".join(str(row[-1]) for row in connection.exec_driver_sql(explain + text))
            assert ("SEARCH events" if store.database.sqlite else "pk_events") in plan, plan
