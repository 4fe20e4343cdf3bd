"""Unknowns of a store: each episode once, and what cannot be read is told beside them."""

import pytest

from spectrace.audit.covering import Covering
from spectrace.audit.unknowns_reading import unknowns_of
from spectrace.store.memory import MemoryEventStore
from tests.forks import desk_events
from tests.resumes import cut
from tests.shop_log import recorded

NONE = Covering({}, "the checkpoint")


@pytest.fixture
def store():
    return MemoryEventStore()


def found(store, episodes, covered):
    lost, told = [], []
    items = list(unknowns_of(store, episodes, covered, lost, told.append))
    return items, lost, told


def test_without_a_checkpoint_one_item_stands_for_the_log(store):
    episodes = [recorded(store), recorded(store)]
    items, lost, told = found(store, episodes, None)

    assert [(one.episode, one.seq, one.kind) for one in items] == [("(database)", None, "uncovered")]
    assert (lost, told) == ([], [1, 2])


def test_with_one_each_episode_that_it_lacks_is_an_item(store):
    first, second = recorded(store), recorded(store)
    covered = Covering({first: store.row(first).events}, "the checkpoint")

    assert [(one.episode, one.kind) for one in found(store, [first, second], covered)[0]] == [(second, "uncovered")]


def test_a_missing_text_is_an_item_and_what_cannot_be_told_because_of_it_is_lost(store):
    episode, other = recorded(store), cut(store, desk_events(), 3)
    store._blobs.clear()
    items, lost, _ = found(store, [episode, other], Covering({episode: 999, other: 999}, "it"))

    assert {one.kind for one in items if one.episode == episode} == {"missing_blob"}
    assert {one.episode for one in lost} >= {episode}
