"""Whose child an episode is."""

from spectrace.store.erasing import Order, erase
from spectrace.store.erasing_plan import Named
from spectrace.store.kin import Kin, ids, kin
from spectrace.store.sql import open_store
from tests.erasures import child_of
from tests.shop_log import recorded


def test_children_and_theirs_are_descendants_and_all_are_one_family(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    first, other = recorded(store), recorded(store)
    child = child_of(store, first)
    grandchild = child_of(store, child, "resume")
    found, named = kin(store.database), ids(store.database, [1, 2])
    store.close()

    assert found.descendants(first) == [child, grandchild]
    assert found.family(grandchild) == [first, child, grandchild]
    assert found.family(other) == [other]
    assert named == {1: first, 2: other}


def test_a_child_is_found_by_its_summary_once_its_start_is_erased(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    first = recorded(store)
    child = child_of(store, first)
    erase(store, Named(((child, None),)), Order())
    found = kin(store.database)
    store.close()

    assert found.descendants(first) == [child]


def test_a_log_that_names_itself_ends():
    found = Kin({"a": "b", "b": "a"}, {"a": ["b"], "b": ["a"]})

    assert found.descendants("a") == ["b"]
    assert set(found.family("a")) == {"a", "b"}
