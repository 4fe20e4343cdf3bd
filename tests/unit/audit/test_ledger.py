"""The ledger read from projections, beside the same ledger folded from events."""

import pytest
import sqlalchemy as sa

from spectrace.audit.answers import Filters
from spectrace.audit.ledger import can_choose, within
from spectrace.audit.queries import Reader
from spectrace.core.deeds import changes_state
from spectrace.core.types import Call
from spectrace.store import tables
from spectrace.store.event_store import Pending
from spectrace.store.memory import MemoryEventStore
from spectrace.store.sql import open_store
from tests.copies import made_once
from tests.episodes import CANCEL, DONE, READ
from tests.playbook import accept, reject
from tests.shop_log import recorded

TOOLS = ("cancel_order", "find_customer", "get_order")


def two_episodes(url):
    opened = open_store(url)
    recorded(opened)
    recorded(opened, weak=[READ, CANCEL, DONE], strong=[reject(2, READ, category="unsafe"), accept()])
    opened.close()


@pytest.fixture
def store(database_url):
    made_once(database_url, two_episodes)
    opened = open_store(database_url)
    yield opened
    opened.close()


@pytest.fixture
def reader(store):
    return Reader(store)


def change(store, statement):
    with store.database.writing(durable=False) as connection:
        connection.execute(statement)


def folded(reader, filters, between=(None, None)):
    """The ledger as it is folded from every event: asked for plain reads too, nothing is taken from projections."""
    every = [deed for deed in reader.actions(Filters(sort=filters.sort), reads=True) if changes_state(deed)]
    return [deed for deed in every if (not filters.tool or deed.tool in filters.tool) and within(deed, between)]


def chosen(reader, filters, between=(None, None)):
    assert can_choose(reader.store, filters)
    return list(reader.actions(filters, between=between))


def read_whole(reader, monkeypatch):
    """The episodes that were folded."""
    names = []
    fold = reader._deeds
    monkeypatch.setattr(reader, "_deeds", lambda name, lost: names.append(name) or fold(name, lost))
    return names


@pytest.mark.parametrize("tools", [TOOLS, ()], ids=["of some tools", "of everything"])
@pytest.mark.parametrize("sort", ["started_at", "-started_at"])
def test_both_ways_give_the_same_ledger(reader, sort, tools, monkeypatch):
    filters = Filters(tool=tools, sort=sort)
    expected = folded(reader, filters)
    read = read_whole(reader, monkeypatch)

    assert chosen(reader, filters) == expected
    assert [deed.outcome for deed in expected].count("never") == 2
    assert read == []


@pytest.mark.parametrize("tools", [("cancel_order",), ()], ids=["of a tool", "of everything"])
def test_a_window_holds_what_was_asked_or_else_drafted_in_it(reader, tools):
    filters = Filters(tool=tools, sort="started_at")
    times = sorted({deed.requested_at or deed.drafted_at for deed in folded(reader, filters)})

    for low in (None, *times, *(one + 1 for one in times)):
        for high in (None, *times, *(one + 1 for one in times)):
            assert chosen(reader, filters, (low, high)) == folded(reader, filters, (low, high)), (low, high)


def test_an_episode_without_an_end_is_folded(store, reader, monkeypatch):
    events = list(store.read(store.resolve(reader.episodes()[0].episode)))
    writer = store.create("open", events[0].body, events[0].at)
    writer.append([Pending(one.seq, one.lane, one.at, one.body) for one in events[1:31]], durable=False)
    filters = Filters(tool=TOOLS, sort="started_at")
    expected, read = folded(reader, filters), read_whole(reader, monkeypatch)

    assert chosen(reader, filters) == expected
    assert (read, "open" in {deed.episode for deed in expected}) == (["open"], True)
    writer.close()


@pytest.mark.parametrize(
    "statement",
    [
        sa.update(tables.summaries).values(projection=99),
        sa.update(tables.summaries).values(projection=0),
        sa.update(tables.summaries).values(problem="unfoldable"),
        sa.delete(tables.actions).where(tables.actions.c.requested_at.is_not(None)),
        sa.update(tables.actions).values(seq=tables.actions.c.seq + 1).where(tables.actions.c.outcome == "ok"),
        sa.update(tables.actions).values(arguments="\ufffd"),
        sa.update(tables.actions).values(position="elsewhere").where(tables.actions.c.position == "s1.1"),
        sa.delete(tables.summaries),
    ],
    ids=["newer", "older", "problem", "gone", "another event", "inexact", "position", "no summary"],
)
@pytest.mark.parametrize("tools", [TOOLS, ()], ids=["of some tools", "of everything"])
def test_a_projection_that_cannot_be_relied_on_is_not(store, reader, statement, tools):
    filters = Filters(tool=tools, sort="started_at")
    expected = folded(reader, filters)
    change(store, statement)

    assert chosen(reader, filters) == expected


def test_a_text_that_no_database_holds_is_told_exactly(store, reader):
    strange = Call("cancel_order", '{"order_id": "W200\ud800\\u0000"}')
    recorded(store, weak=[strange, DONE], strong=[reject(1, READ), accept()])
    filters = Filters(tool=TOOLS, sort="started_at")
    expected = folded(reader, filters)

    assert chosen(reader, filters) == expected
    assert strange.arguments in {deed.arguments for deed in expected}


def test_episodes_are_chosen_by_environment_run_and_name(reader):
    (first, second) = [one.episode for one in reader.episodes(Filters(sort="started_at"))]
    tool = Filters(tool=TOOLS, env=("shop",))

    assert {deed.episode for deed in chosen(reader, tool)} == {first, second}
    assert list(reader.actions(tool, episodes={second})) == [
        deed for deed in chosen(reader, tool) if deed.episode == second
    ]
    assert chosen(reader, Filters(tool=TOOLS, env=("other",))) == []
    assert chosen(reader, Filters(tool=TOOLS, run=("other",))) == []


@pytest.mark.parametrize(
    "filters",
    [
        Filters(rejected=True),
        Filters(tool=("a",), status=("completed",)),
        Filters(tool=("a\0",)),
        Filters(tool=("x" * 300,)),
    ],
)
def test_what_projections_cannot_choose_is_folded(store, filters):
    assert not can_choose(store, filters)


def test_a_log_in_memory_is_folded():
    store = MemoryEventStore()
    recorded(store)

    assert not can_choose(store, Filters(tool=TOOLS))
    assert [deed.tool for deed in Reader(store).actions(Filters(tool=TOOLS))] == ["cancel_order", "cancel_order"]
