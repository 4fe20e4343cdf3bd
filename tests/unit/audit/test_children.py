"""An interrupted episode is gone on with once: a child that acted stands in the way, one that did not does not."""

from dataclasses import replace

import pytest

from spectrace.audit.children import families, require_untouched, resumed_in
from spectrace.core.events import ActCompleted, ActRequested, Parent
from spectrace.errors import Conflict, UsageError
from spectrace.store.memory import MemoryEventStore
from spectrace.store.sql import open_store
from tests.episodes import recorded_events
from tests.resumes import cut

ASKED = 30
"""The accepted write of `tests.episodes` is asked in this event."""


@pytest.fixture
def store(database_url):
    opened = open_store(database_url)
    yield opened
    opened.close()


def test_a_log_in_memory_is_asked_the_same_question():
    store = MemoryEventStore()
    put(store, "first", ASKED)
    put(store, "child", ASKED, "first")

    assert resumed_in(store, "first") == ["child"]
    with pytest.raises(UsageError, match="which has acted since"):
        require_untouched(store, "first")


def put(store, name, last, parent=None, kind="resume"):
    """Record an episode up to an event, as a child of another one."""
    events = recorded_events()
    body = replace(events[0].body, parent=None if parent is None else Parent(kind, parent, 5))
    return cut(store, [replace(events[0], body=body), *events[1:]], last, name)


def test_the_children_that_go_on_from_an_episode_are_found_and_forks_are_none(store):
    put(store, "first", ASKED)
    put(store, "child", 5, "first")
    put(store, "fork", 5, "first", "fork")
    put(store, "other", 5, "firsts")

    assert resumed_in(store, "first") == ["child"]


def test_a_child_that_only_read_and_asked_is_in_nobodys_way(store):
    put(store, "first", ASKED)
    put(store, "child", ASKED - 1, "first")

    require_untouched(store, "first")


@pytest.mark.parametrize("last", [ASKED, ASKED + 1])
def test_a_child_that_has_acted_or_may_have_is_named(store, last):
    put(store, "first", ASKED)
    put(store, "child", last, "first")

    with pytest.raises(UsageError, match="first was gone on with in child, which has acted since"):
        require_untouched(store, "first")


def test_what_a_child_took_over_it_did_not_do(store):
    events = recorded_events()
    put(store, "first", ASKED + 1)
    body = replace(events[0].body, parent=Parent("resume", "first", 5))
    told = [
        replace(one, body=replace(one.body, source="record")) if isinstance(one.body, ActCompleted) else one
        for one in events[1:]
    ]
    assert isinstance(told[ASKED - 1].body, ActRequested)
    cut(store, [replace(events[0], body=body), *told], ASKED + 1, "child")

    require_untouched(store, "first")


def test_the_grandchild_counts(store):
    put(store, "first", ASKED)
    put(store, "child", 5, "first")
    put(store, "grandchild", ASKED, "child")

    with pytest.raises(UsageError, match="child was gone on with in grandchild"):
        require_untouched(store, "first")


def test_a_child_at_work_is_waited_for(store):
    put(store, "first", ASKED)
    put(store, "child", 5, "first")
    held = store.reopen("child")

    with pytest.raises(Conflict, match="is being gone on with, in child"):
        require_untouched(store, "first")
    held.close()


def test_a_sibling_that_acted_is_in_the_way_of_every_other_child_of_its_parent(store):
    put(store, "first", 5)
    put(store, "idle", 5, "first")
    put(store, "below", 5, "idle")
    put(store, "acted", ASKED, "first")

    for name in ("idle", "below"):
        said = f"first was gone on with in acted, which has acted since.* {name} goes on from first as well"
        with pytest.raises(UsageError, match=said):
            require_untouched(store, name)
    require_untouched(store, "acted")


def test_what_a_siblings_child_did_counts_as_well(store):
    put(store, "first", 5)
    put(store, "idle", 5, "first")
    put(store, "other", 5, "first")
    put(store, "nephew", ASKED, "other")

    with pytest.raises(UsageError, match="other was gone on with in nephew"):
        require_untouched(store, "idle")


def test_a_sibling_at_work_is_waited_for(store):
    put(store, "first", 5)
    put(store, "idle", 5, "first")
    put(store, "other", 5, "first")
    held = store.reopen("other")

    with pytest.raises(Conflict, match="first is being gone on with, in other"):
        require_untouched(store, "idle")
    held.close()


def test_a_parent_that_the_store_lacks_still_has_its_other_children(store):
    put(store, "idle", 5, "elsewhere")
    require_untouched(store, "idle")
    put(store, "acted", ASKED, "elsewhere")

    with pytest.raises(UsageError, match="elsewhere was gone on with in acted"):
        require_untouched(store, "idle")


def test_a_family_is_named_by_the_first_of_its_line(store):
    put(store, "first", 5)
    put(store, "child", 5, "first")
    put(store, "grandchild", 5, "child")
    put(store, "fork", 5, "first", "fork")

    assert families(store, ["first", "grandchild", "fork"]) == {
        "first": "first",
        "grandchild": "first",
        "fork": "fork",
    }
