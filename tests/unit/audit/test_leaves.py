"""Leaves: what they say, when another one is due, and which are no prefix of what is stored."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectrace.audit.leaves import BadLeaf, Leaf, leaves_due, read_leaf, strays
from spectrace.store import leaf_rows, tables
from spectrace.store.sql import open_store
from tests.damage import past_the_triggers
from tests.shop_log import recorded

LEAF = Leaf("3f9a12c0b4d1", 'desk "\n', 1, 2, "completed", 46, 1, "ab" * 32)


@pytest.fixture
def store(database_url):
    opened = open_store(database_url)
    yield opened
    opened.close()


def due(store):
    with store.database.reading() as connection:
        return leaves_due(connection)


def keep(store) -> list[Leaf]:
    """Append what is due, as a checkpoint does."""
    found = due(store)
    with store.database.writing(durable=True) as connection:
        leaf_rows.append(connection, len(found.kept), [(leaf.episode, leaf.data) for leaf in found.leaves])
    return list(found.leaves)


def test_a_leaf_is_one_line_of_canonical_json():
    assert LEAF.data == (b'["3f9a12c0b4d1","desk \\"\\n",1,2,"completed",46,1,"' + b"ab" * 32 + b'"]')


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(0, 2**53 - 1), st.none() | st.integers(0, 9))
def test_every_leaf_is_read_as_it_was_written(project, started_at, ended_at):
    leaf = Leaf("3f9a", project, started_at, ended_at, "open", 1, 0, "00" * 32)

    assert read_leaf(leaf.data) == leaf


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        LEAF.data[:-1],
        LEAF.data + b" ",
        LEAF.data.replace(b",46,", b", 46,"),
        LEAF.data.replace(b",46,", b",0,"),
        LEAF.data.replace(b",46,", b",46.0,"),
        LEAF.data.replace(b'"ab', b'"AB'),
        LEAF.data.replace(b"3f9a12c0b4d1", b"../3f"),
        LEAF.data.replace(b"ab", b"a", 1),
        b"\xff" + LEAF.data,
    ],
)
def test_what_is_no_leaf_is_refused(data):
    with pytest.raises(BadLeaf):
        read_leaf(data)


def test_every_episode_gets_a_leaf_that_says_what_is_stored(store):
    episode = recorded(store)
    row = store.log.episode(episode)
    log, leaf = due(store).leaves

    assert (log.episode, log.status, log.events) == (store.administrative()[0], "administrative", 1)
    times = row.started_at, row.ended_at
    assert leaf == Leaf(episode, row.project, *times, "completed", row.events, 1, row.head.hex())


def test_what_did_not_move_gets_no_other_leaf(store):
    recorded(store)
    keep(store)
    added = recorded(store)

    assert [leaf.episode for leaf in due(store).leaves] == [added]


def test_a_leaf_stays_a_prefix_while_its_episode_grows_and_is_none_once_another_history_is_there(store, database_url):
    episode = recorded(store)
    leaves = keep(store)
    with store.database.reading() as connection:
        assert list(strays(connection, leaves)) == []
    with past_the_triggers(database_url) as connection:
        connection.execute(tables.episodes.update().where(tables.episodes.c.episode == episode).values(events=9))
        connection.commit()
    with store.database.reading() as connection:
        assert list(strays(connection, leaves)) == [(leaves[-1], 9)]


def test_a_leaf_of_an_episode_that_is_gone_is_found(store):
    keep(store)
    gone = Leaf("gone", "", 1, None, "open", 1, 0, "00" * 32)
    with store.database.reading() as connection:
        assert list(strays(connection, [gone])) == [(gone, None)]
