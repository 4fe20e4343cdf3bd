"""The line of a resumed episode goes up to the first one; forks begin a line of their own. One of a family goes on."""

import json
from dataclasses import replace

import pytest

from spectrace.core.events import Parent, VerdictGiven
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Finish
from spectrace.environments.shop import open_shop
from spectrace.errors import Conflict, ModelFailed, UsageError
from spectrace.runs.fork import Edit
from spectrace.store.families import goes_on_from, line
from spectrace.store.memory import MemoryEventStore
from tests.desk import at
from tests.episodes import DONE, recorded_events
from tests.forks import first, fork, recorded_in
from tests.lasting_desk import changes, connected, open_lasting
from tests.playbook import accept
from tests.resumes import answers, cut, resume

WEAK = [at("look"), at("change"), at("change", "B"), Finish("done")]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "desk.db"


@pytest.fixture
def events(file):
    """The episode as it goes when nobody interrupts it: two writes, both accepted; its state is put back then."""
    found = recorded_in(open_lasting(file), SpecAgent(), weak=WEAK, strong=[accept()] * 3)
    with connected(file) as database:
        database.execute("DELETE FROM changes")
    return found


@pytest.fixture
def store():
    return MemoryEventStore()


def put(store, name, parent=None, kind="resume"):
    begun = recorded_events()[0]
    given = None if parent is None else Parent(kind, parent, 0)
    return cut(store, [replace(begun, body=replace(begun.body, parent=given))], 0, name)


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


def test_a_fork_short_of_its_edited_verdict_reaches_nothing_and_one_past_it_keeps_the_edit(store):
    events = recorded_events()
    edit = Edit(json.dumps({"verdict": "accept"}), "person:Ann")
    child = fork(events, first(events, VerdictGiven), weak=[DONE], strong=[accept()], edit=edit)
    at_edit = child[0].body.parent.seq
    short = cut(store, child, at_edit - 1)

    with pytest.raises(
        UsageError, match=f"`spectrace fork {events[0].episode}:{at_edit}` with what this one was given"
    ):
        resume(store, short, open_shop(), answers(child, at_edit - 1))
    assert list(store.read(short)) == child[:at_edit]


def test_a_write_that_one_child_did_is_not_done_again_by_another(events, file, store):
    name = cut(store, events, 3)
    gone = resume(store, name, open_lasting(file), {"weak": [ModelFailed("unreachable", "gone")], "strong": []})
    idle = cut(store, gone, len(gone) - 2, "idle")
    resume(store, name, open_lasting(file), answers(events, 3))

    with pytest.raises(UsageError, match=f"{idle} goes on from {name} as well"):
        resume(store, idle, open_lasting(file), answers(events, 3), moved=True)
    assert changes(file) == ["A", "B"]


def test_of_two_that_go_on_with_one_family_at_once_the_second_is_a_conflict(events, file, store):
    name = cut(store, events, 3)
    gone = resume(store, name, open_lasting(file), {"weak": [ModelFailed("unreachable", "gone")], "strong": []})
    idle = cut(store, gone, len(gone) - 2, "idle")
    held = store.reopen(name)

    with pytest.raises(Conflict, match=name):
        resume(store, idle, open_lasting(file), answers(events, 3))
    held.close()
    assert changes(file) == []
    store.reopen(idle).close()
