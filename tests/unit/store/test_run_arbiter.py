"""Which verdict counts, on both databases."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from spectrace.store import runs
from spectrace.store.arbiter import Item
from spectrace.store.run_arbiter import RunArbiter
from spectrace.store.sql import open_store
from tests.playbook import accept
from tests.shop_log import recorded, reverified

ITEM = Item(parent="ep1", verdict_seq=7, repeat=1, episode="child", at=5, state="done")


@pytest.fixture
def store(database_url):
    opened = open_store(database_url)
    yield opened
    opened.close()


@pytest.fixture
def arbiter(store):
    runs.begin(store, "again", "reverify", [("ep1", "aa")])
    return RunArbiter(store, "again")


def test_one_item_counts_however_many_ask_at_once(store, arbiter):
    asked = [replace(ITEM, episode=f"child{n}") for n in range(16)]
    with ThreadPoolExecutor(8) as threads:
        counted = list(threads.map(arbiter.count, asked))

    assert counted.count(True) == 1
    assert arbiter.items("ep1") == [asked[counted.index(True)]]
    assert arbiter.items("ep2") == []


def test_an_episode_has_the_head_that_it_was_selected_with(arbiter):
    assert (arbiter.head("ep1"), arbiter.head("ep2")) == ("aa", None)


def test_children_are_found_as_they_begin_and_in_that_order(store, arbiter):
    episode, other = recorded(store), recorded(store)
    looked = [arbiter.children(episode)]
    for run in ("again", "else", "again"):
        reverified(store, episode, run, [accept()] * 3)
        looked.append(arbiter.children(episode))
    reverified(store, other, "again", [accept()] * 3)

    assert [len(one) for one in looked] == [0, 1, 1, 2]
    assert looked[2] == looked[1] == looked[3][:1]
    assert arbiter.children(other) == RunArbiter(store, "again").children(other) != []


def test_a_run_that_is_cancelled_says_so_at_once(store, arbiter):
    before = arbiter.cancelled()
    runs.cancel(store, "again")

    assert (before, arbiter.cancelled()) == (False, True)
