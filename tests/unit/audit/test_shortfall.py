from contextlib import closing
from dataclasses import replace

import pytest

from spectrace.audit.columns import read_columns
from spectrace.audit.costing import Costing
from spectrace.audit.queries import Reader
from spectrace.audit.shortfall import shortfalls
from spectrace.core.baselines import WeakOnly
from spectrace.core.types import Effect
from spectrace.runs.live import Labels
from spectrace.store import runs
from spectrace.store.asked import Grid
from spectrace.store.event_store import Pending
from spectrace.store.sql import open_store
from tests.episodes import DONE, FIND
from tests.shop_log import recorded


@pytest.fixture
def store(tmp_path):
    opened = open_store(str(tmp_path / "log.db"))
    yield opened
    opened.close()


def asked(store, tasks, protocols=("weak-only",), trials=1):
    runs.begin(store, "n", "run", ())
    runs.ask(store, "n", Grid(tasks, trials, protocols))


def said(store, *names):
    return shortfalls(store, read_columns(Reader(store), names, Costing(), []))


def weak(store, run="n", trial=0, script=(DONE,)):
    recorded(store, weak=list(script), protocol=WeakOnly(), labels=Labels(run=run, trial=trial))


def test_a_column_says_what_of_that_asked_for_has_no_result(store):
    asked(store, ("cancel-own", "refund-returned"), trials=2)
    weak(store)
    weak(store, trial=1, script=(FIND,))  # its script runs out

    (note,) = said(store, "n")
    assert note == (
        "weak-only lacks 3 of the 4 episodes that were asked for, 2 of them never begun: cancel-own #1, "
        "refund-returned, refund-returned #1. Its figures are of the others."
    )


def test_a_protocol_that_has_recorded_nothing_is_named(store):
    asked(store, ("cancel-own",), ("weak-only", "strong-only"))
    weak(store)

    assert said(store, "n") == ["strong-only of run n has recorded no episode: it has no column."]


def test_a_run_that_has_all_says_nothing(store):
    asked(store, ("cancel-own",))
    weak(store)

    assert said(store, "n") == []


def test_columns_of_different_tasks_say_how_many_they_share(store):
    weak(store)
    recorded(store, task="cancel-foreign", labels=Labels(run="m"))

    (note,) = said(store, "n", "m")
    assert note.startswith("Not every column has results of the same tasks: weak-only 1, specagent 1; 0 in common.")


def test_a_column_of_two_environments_says_which_episodes_and_tools_are_apart(store):
    weak(store)
    first, *rest = store.read(next(iter(one.episode for one in Reader(store).episodes())))
    tools = tuple(replace(tool, effect=Effect.WRITE) for tool in first.body.tools)
    changed = replace(first.body, tools=tools, trial=1)
    with closing(store.create("zz", changed, first.at + 1)) as writer:
        writer.append([Pending(one.seq, one.lane, one.at, one.body) for one in rest], durable=True)

    (note,) = said(store, "n")
    assert note.startswith("weak-only mixes environments: its episodes ")
    assert " and zz of 'cancel-own' met different environments: tool find_customer (effect read, now write);" in note
