"""The line of a resumed episode goes up to the first one; forks begin a line of their own."""

from dataclasses import replace

from spectrace.core.events import Parent
from spectrace.store.families import goes_on_from, line
from spectrace.store.memory import MemoryEventStore
from tests.episodes import recorded_events
from tests.resumes import cut


def put(store, name, parent=None, kind="resume"):
    first = recorded_events()[0]
    given = None if parent is None else Parent(kind, parent, 0)
    return cut(store, [replace(first, body=replace(first.body, parent=given))], 0, name)


def test_a_line_goes_up_to_the_first_and_a_fork_begins_one():
    store = MemoryEventStore()
    put(store, "first")
    put(store, "child", "first")
    put(store, "grandchild", "child")
    put(store, "fork", "child", "fork")

    assert line(store, "grandchild") == ["grandchild", "child", "first"]
    assert line(store, "fork") == ["fork"]


def test_a_parent_that_is_not_there_ends_the_line():
    store = MemoryEventStore()
    put(store, "child", "elsewhere")

    assert line(store, "child") == ["child", "elsewhere"]
    assert goes_on_from(store, "elsewhere") is None


def test_logs_that_name_each_other_end_too():
    store = MemoryEventStore()
    put(store, "one", "two")
    put(store, "two", "one")

    assert line(store, "one") == ["one", "two"]
