"""Checkpoints made: over what is new, in one transaction, and never over a log that does not verify."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import metamorphic_log
import pytest

from spectrace.audit import checkpoint_files
from spectrace.audit.checkpoints import Created, Refused, create
from spectrace.audit.leaves import read_leaf
from spectrace.audit.signing import Signer
from spectrace.core.admin_events import AdminKeyChanged
from spectrace.errors import UsageError
from spectrace.store import tables
from spectrace.store.sql import open_store
from tests.damage import past_the_triggers
from tests.shop_log import recorded

SIGNER, OTHER = Signer("log", bytes(range(32))), Signer("log", bytes(range(1, 33)))


@contextmanager
def without_triggers(store):
    """Lend a connection past the triggers; what was done is committed."""
    with past_the_triggers(store.database.url.render_as_string(hide_password=False)) as connection:
        yield connection
        connection.commit()


@pytest.fixture
def store(database_url):
    opened = open_store(database_url)
    yield opened
    opened.close()


def test_every_episode_is_in_a_note_that_an_implementation_that_is_not_ours_accepts(store, tmp_path):
    episode = recorded(store)
    made = create(store, SIGNER, tmp_path / "cp")
    head = metamorphic_log.checkpoint_verify((tmp_path / "cp").read_text(), [str(SIGNER.key)])

    assert isinstance(made, Created)
    assert (head.size, bytes(head.root), made.added) == (2, made.checkpoint.root, 2)
    assert read_leaf(checkpoint_files.read(tmp_path / "cp").leaves[1]).episode == episode


def test_the_next_one_goes_on_from_it_with_what_is_new(store, tmp_path):
    recorded(store)
    first = create(store, SIGNER, tmp_path / "cp")
    recorded(store)
    second = create(store, SIGNER, tmp_path / "cp")

    assert (first.checkpoint.size, second.checkpoint.size, second.added) == (2, 3, 1)
    assert second.checkpoint.origin == first.checkpoint.origin


def test_nothing_new_is_signed_again_with_its_time_and_leaves_the_log_as_it_is(store, tmp_path):
    recorded(store)
    first = create(store, SIGNER, tmp_path / "cp")
    second = create(store, SIGNER, tmp_path / "cp")

    assert (second.added, second.checkpoint.root) == (0, first.checkpoint.root)
    assert second.checkpoint.at > first.checkpoint.at


def test_the_first_key_and_each_other_one_are_on_record_before_the_leaves(store, tmp_path):
    create(store, SIGNER, tmp_path / "cp")
    create(store, SIGNER, tmp_path / "cp")
    create(store, OTHER, tmp_path / "cp")
    (log,) = store.administrative()
    told = [event.body for event in store.read(log) if isinstance(event.body, AdminKeyChanged)]
    last = read_leaf(checkpoint_files.read(tmp_path / "cp").leaves[-1])

    assert [(one.what, one.key, one.previous) for one in told] == [
        ("checkpoint", str(SIGNER.key), None),
        ("checkpoint", str(OTHER.key), str(SIGNER.key)),
    ]
    assert (last.episode, last.events) == (log, store.row(log).events)


def test_a_damaged_log_is_not_signed_unless_it_is_forced_and_then_the_note_says_so(store, tmp_path):
    recorded(store)
    bad = recorded(store)
    number = store.log.episode(bad).number
    with without_triggers(store) as connection:
        column = tables.events.c.key
        altered = tables.events.update().where(column == (number << tables.SEQ_BITS) + 7)
        connection.execute(altered.values(at=1))
    refused = create(store, SIGNER, tmp_path / "cp")

    assert isinstance(refused, Refused)
    assert [(one.episode, one.first_bad_seq) for one in refused.problems] == [(bad, 7)]
    assert not (tmp_path / "cp").exists()
    forced = create(store, SIGNER, tmp_path / "cp", force=True)
    assert forced.checkpoint.extension("forced") == "1 not verified"


def test_what_was_signed_and_is_there_no_more_is_not_signed_over(store, tmp_path):
    gone = recorded(store)
    create(store, SIGNER, tmp_path / "cp")
    number = store.log.episode(gone).number
    with without_triggers(store) as connection:
        for name in ("segments", "actions", "search", "summaries"):
            table = tables.metadata.tables[name]
            connection.execute(table.delete().where(table.c.number == number))
        connection.execute(tables.events.delete().where(tables.events.c.key >= number << tables.SEQ_BITS))
        connection.execute(tables.episodes.delete().where(tables.episodes.c.number == number))
    refused = create(store, SIGNER, tmp_path / "cp")

    assert [(one.episode, one.detail) for one in refused.problems] == [
        (gone, "an earlier checkpoint has it with 46 events; now it is gone")
    ]


def test_altered_leaves_are_not_signed_over(store, tmp_path):
    recorded(store)
    create(store, SIGNER, tmp_path / "cp")
    recorded(store)
    with store.database.writing(durable=True) as connection:
        connection.execute(tables.leaves.delete().where(tables.leaves.c.place == 1))
    refused = create(store, SIGNER, tmp_path / "cp")

    assert [one.episode for one in refused.problems] == ["(database)"]


def test_a_file_that_is_no_earlier_checkpoint_of_the_log_is_not_replaced(store, tmp_path):
    recorded(store)
    path = tmp_path / "cp"
    path.write_text("notes of mine")
    with pytest.raises(UsageError, match="is no checkpoint"):
        create(store, SIGNER, path)

    assert path.read_text() == "notes of mine"


def test_the_checkpoint_of_another_log_is_not_replaced(store, tmp_path):
    other = open_store(str(tmp_path / "other.db"))
    create(other, SIGNER, tmp_path / "cp")
    other.close()

    with pytest.raises(UsageError, match="is a checkpoint of spectrace/admin-"):
        create(store, SIGNER, tmp_path / "cp")


def test_a_database_that_was_rolled_back_does_not_replace_the_checkpoint_that_shows_it(tmp_path):
    url, path = str(tmp_path / "log.db"), tmp_path / "cp"
    store = open_store(url)
    recorded(store)
    create(store, SIGNER, path)
    store.close()
    old = (tmp_path / "log.db").read_bytes()
    store = open_store(url)
    recorded(store)
    create(store, SIGNER, path)
    store.close()
    (tmp_path / "log.db").write_bytes(old)
    store = open_store(url)
    with pytest.raises(UsageError, match="rolled back or rewritten"):
        create(store, SIGNER, path)
    store.close()


KILLED = """
import os, sys
from pathlib import Path
from spectrace.audit import checkpoint_files, checkpoints
from spectrace.audit.signing import read_signer
from spectrace.store.sql import open_store
stop = sys.argv[4]
def kill(*_, **__): os.kill(os.getpid(), 9)
if stop == "append": checkpoints.leaf_rows.append = kill
if stop == "files": checkpoint_files.write = kill
if stop == "note": checkpoint_files.write_note = kill
checkpoints.create(open_store(sys.argv[1]), read_signer(Path(sys.argv[2])), Path(sys.argv[3]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("stop", ["append", "files", "note"])
def test_killed_at_any_step_the_file_is_the_old_one_and_the_next_goes_on(tmp_path, stop):
    url, path, secret = str(tmp_path / "log.db"), tmp_path / "cp", tmp_path / "log.key"
    secret.write_text(SIGNER.secret_text())
    secret.chmod(0o600)
    store = open_store(url)
    recorded(store)
    create(store, SIGNER, path)
    recorded(store)
    before = path.read_bytes()
    killed = subprocess.run([sys.executable, "-c", KILLED, url, secret, path, stop], check=False, env=os.environ)

    assert killed.returncode == -signal.SIGKILL
    assert path.read_bytes() == before
    assert checkpoint_files.read(path).leaves is not None
    assert create(store, SIGNER, path).checkpoint.size == 3
    store.close()
