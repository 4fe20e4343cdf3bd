"""A store that was open when its process forked: the child is refused at once, the parent goes on, nothing is torn."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from spectrace.audit.integrity import verify_episode
from spectrace.audit.queries import Reader
from spectrace.errors import StoreError
from spectrace.store.sql import open_store
from tests.faults.children import fork, in_child
from tests.faults.record import now, pending, started

ROOT = Path(__file__).parents[2]
EXPECTED = json.loads((ROOT / "tests/cases/082-fork-with-open-connection/expected.json").read_text())
REFUSED = "was opened by process"


@pytest.fixture
def store(database_url):
    opened = open_store(database_url)
    yield opened
    opened.close()


def whole(store) -> dict[str, tuple[int, str]]:
    """Return each episode's events and what `verify` says; SQLite's own check besides."""
    if store.database.sqlite:
        connection = sqlite3.connect(store.database.path)
        assert connection.execute("PRAGMA integrity_check").fetchone() == (EXPECTED["integrity"],)
        connection.close()
    found = {one.episode: verify_episode(store, one.episode) for one in Reader(store).episodes()}
    return {episode: (one.events, one.result) for episode, one in found.items()}


def refusal(work) -> str:
    """Do it in a child; return what it is told."""

    def tried() -> str:
        try:
            work()
        except StoreError as error:
            return str(error)
        return "it was let do that"

    return in_child(tried)


def test_case_082_four_forked_children_are_refused_and_the_parent_goes_on(store):
    writer = store.create("parent", started(), now())
    said = [refusal(lambda number=number: store.create(f"ep-{number}", started(), now())) for number in range(4)]
    writer.append(pending(2, 40), durable=True)

    assert [REFUSED in one and "open the store again in the child" in one for one in said] == [True] * 4
    assert whole(store) == {"parent": (2, "consistent")}


@pytest.mark.parametrize("use", ["append", "read", "row", "reopen", "renewed"])
def test_no_use_of_an_inherited_store_is_let_pass(store, use):
    writer = store.create("parent", started(), now())
    uses = {
        "append": lambda: writer.append(pending(2, 40), durable=False),
        "read": lambda: list(store.read("parent")),
        "row": lambda: store.row("parent"),
        "reopen": lambda: store.reopen("parent"),
        "renewed": lambda: (writer.renew(), writer.append(pending(2, 40), durable=True)),
    }

    assert REFUSED in refusal(uses[use])
    assert whole(store) == {"parent": (1, "consistent")}


def test_a_child_that_opens_the_store_again_records_beside_its_parent(store, database_url):
    writer = store.create("parent", started(), now())

    def record(name: str) -> str:
        mine = open_store(database_url)
        own = mine.create(name, started(), now())
        for event in pending(50, 40):
            own.append([event], durable=False)
        own.close()
        mine.close()
        store.close()
        return "done"

    said = [in_child(lambda number=number: record(f"ep-{number}")) for number in range(4)]
    writer.append(pending(2, 40), durable=True)

    assert said == ["done"] * 4
    assert whole(store) == {"parent": (2, "consistent"), **{f"ep-{number}": (50, "consistent") for number in range(4)}}


ENDS = """
import gc, os, sys
from spectrace.store.sql import open_store
from tests.faults.record import now, pending, started
store = open_store(sys.argv[1])
writer = store.create("parent", started(), now())
transaction = store.database._writing_connection().begin()
transaction.connection.exec_driver_sql("UPDATE episodes SET project = 'mine' WHERE episode = 'parent'")
child = os.fork()
if child == 0:
    del writer, store, transaction
    gc.collect()
    sys.exit(0)  # the interpreter winds down, connections and all
os.waitpid(child, 0)
transaction.commit()
writer.append(pending(2, 40), durable=True)
writer.close()
store.close()
"""


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_whose_interpreter_ends_leaves_its_parents_transaction_alone(database_url):
    done = subprocess.run(
        [sys.executable, "-c", ENDS, database_url], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    store = open_store(database_url)
    found, project = whole(store), store.log.episode("parent").project
    store.close()

    assert project == "mine"
    assert (done.returncode, done.stderr) == (0, "")
    assert found == {"parent": (2, "consistent")}


def test_a_child_does_not_keep_the_turn_that_a_killed_parent_held(tmp_path):
    """Somebody who waits for the lock must not wait for a grandchild that has no part in it."""
    url = str(tmp_path / "log.db")
    open_store(url).close()
    reading, writing = os.pipe()
    parent = fork()
    if parent == 0:
        store = open_store(url)
        with store.database.locked():
            child = fork()
            if child == 0:
                os.close(writing)
                os.read(reading, 1)  # lives on until the test is over
                os._exit(0)
            os.kill(os.getpid(), 9)
    os.close(reading)
    os.waitpid(parent, 0)
    store = open_store(url)
    began = now()
    store.create("next", started(), began).close()
    waited_us = now() - began
    store.close()
    os.close(writing)

    assert waited_us < 5_000_000
