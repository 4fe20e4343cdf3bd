from dataclasses import replace

import pytest

from spectrace.core.digest import digest
from spectrace.errors import UsageError
from spectrace.store import runs
from spectrace.store.asked import Grid, cells_asked
from spectrace.store.sql import open_store

SELECTION = (("ep1", "aa"), ("ep2", "bb"))
ITEM = runs.Item(parent="ep1", verdict_seq=7, repeat=0, episode="child", at=5, state="done", result='{"new": 1}')


@pytest.fixture
def store(database_url):
    opened = open_store(database_url)
    yield opened
    opened.close()


def test_a_run_keeps_its_selection_and_its_digest(store):
    run = runs.begin(store, "first", "reverify", SELECTION, '{"k": 1}')

    assert (run.selection, run.selection_digest) == (SELECTION, digest(b'[["ep1","aa"],["ep2","bb"]]'))
    assert runs.get(store, "first") == run


def test_the_same_name_goes_on_with_the_same_work(store):
    first = runs.begin(store, "first", "reverify", SELECTION)

    assert runs.begin(store, "first", "reverify", SELECTION) == first


@pytest.mark.parametrize("name", ["a\0b", "v\udcff"])
def test_a_name_that_a_database_cannot_hold_is_refused_and_never_found(store, name):
    with pytest.raises(UsageError, match="a run's name is text without NUL"):
        runs.begin(store, name, "reverify", SELECTION)
    with pytest.raises(UsageError, match="there is no run"):
        runs.get(store, name)


@pytest.mark.parametrize(
    "other", [("run", SELECTION, "{}"), ("reverify", (), "{}"), ("reverify", SELECTION, '{"k": 1}')]
)
def test_the_same_name_with_other_work_is_refused(store, other):
    runs.begin(store, "first", "reverify", SELECTION)

    with pytest.raises(UsageError, match="run 'first' exists with another"):
        runs.begin(store, "first", *other)


def test_an_item_is_recorded_once_however_often_it_is_done(store):
    runs.begin(store, "first", "reverify", SELECTION)
    found = [
        runs.record(store, "first", item) for item in (ITEM, replace(ITEM, episode="other"), replace(ITEM, repeat=1))
    ]

    assert found == [True, False, True]
    assert runs.items(store, "first") == [ITEM, replace(ITEM, repeat=1)]


def test_runs_do_not_share_items(store):
    for name in ("first", "second"):
        runs.begin(store, name, "run", ())
    runs.record(store, "first", ITEM)

    assert runs.record(store, "second", ITEM)
    assert [run.name for run in runs.every(store)] == ["second", "first"]


def test_a_run_is_cancelled_once(store):
    runs.begin(store, "first", "run", ())
    cancelled = runs.cancel(store, "first")

    assert cancelled.cancelled_at is not None
    assert runs.cancel(store, "first") == cancelled


def test_an_unknown_run_is_named(store):
    for act in (lambda: runs.get(store, "nope"), lambda: runs.record(store, "nope", ITEM)):
        with pytest.raises(UsageError, match="there is no run 'nope'"):
            act()


def test_what_a_run_is_asked_for_is_added_to_its_settings(store):
    runs.begin(store, "first", "run", (), '{"env": "shop"}')
    runs.ask(store, "first", Grid(("a",), 1, ("x",)))
    runs.ask(store, "first", Grid(("a",), 2, ("x",)))

    assert cells_asked(runs.get(store, "first").settings) == {("a", 0, "x"), ("a", 1, "x")}
    with pytest.raises(UsageError, match="begin it first"):
        runs.ask(store, "other", Grid((), 1, ()))
