"""How episodes lie in a database, after as many events as their leaves say."""

import pytest

from spectrace.audit.leaves import leaves_due
from spectrace.audit.standing_leaves import by_episode, in_database
from spectrace.store.sql import open_store
from tests.shop_log import recorded


@pytest.fixture
def store(database_url):
    opened = open_store(database_url)
    yield opened
    opened.close()


def test_what_did_not_move_lies_as_its_leaf_says(store):
    recorded(store)
    with store.database.reading() as connection:
        tree = by_episode(leaves_due(connection).leaves)
        stored = in_database(connection, tree)

    assert {name: [one.leaf] for name, one in stored.items()} == tree


def test_an_episode_that_grew_is_told_as_it_stood_then(store):
    episode = recorded(store)
    with store.database.reading() as connection:
        (whole,) = [leaf for leaf in leaves_due(connection).leaves if leaf.episode == episode]
    links = [link for batch in store.links(episode) for link in batch]
    cut = type(whole)(episode, whole.project, whole.started_at, None, "open", 9, 0, links[8][5].hex())
    with store.database.reading() as connection:
        stored = in_database(connection, by_episode([cut, whole]))[episode]
        then = in_database(connection, by_episode([cut]))[episode]

    assert (then.leaf, then.events) == (cut, whole.events)
    assert stored.heads == {9: cut.head, whole.events: whole.head}


def test_an_episode_that_is_gone_is_left_out(store):
    episode = recorded(store)
    with store.database.reading() as connection:
        tree = by_episode([leaf for leaf in leaves_due(connection).leaves if leaf.episode == episode])
        gone = {"gone": tree[episode]}

        assert in_database(connection, gone) == {}
