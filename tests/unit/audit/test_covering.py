"""What the newest checkpoint covers: by its file, by the database's copy, and where there is none."""

import pytest

from spectrace.audit.checkpoints import create
from spectrace.audit.covering import covering
from spectrace.audit.leaves import leaves_due, read_leaf
from spectrace.audit.signing import Signer
from spectrace.errors import UsageError
from spectrace.store import tables
from spectrace.store.memory import MemoryEventStore
from spectrace.store.sql import open_store
from tests.shop_log import recorded

SIGNER = Signer("log.example/test", bytes(range(32)))


@pytest.fixture
def store(tmp_path):
    opened = open_store(str(tmp_path / "log.db"))
    yield opened
    opened.close()


@pytest.fixture
def signed(store, tmp_path):
    """A checkpoint over one episode, beside a newer one: (covered, newer, file)."""
    covered = recorded(store)
    file = tmp_path / "log.checkpoint"
    create(store, SIGNER, file)
    return covered, recorded(store), file


def test_where_there_is_no_checkpoint_nothing_is_said(store):
    assert covering(store, None) is None
    assert covering(MemoryEventStore(), None) is None


@pytest.mark.parametrize("named", [True, False], ids=["by its file", "by the database's copy"])
def test_an_episode_that_is_newer_is_not_covered_and_an_older_one_is(store, signed, named):
    covered, newer, file = signed
    found = covering(store, file if named else None)

    assert found.lacking(covered, store.row(covered).events) is None
    assert found.lacking(newer, store.row(newer).events)[0] == 0
    assert "does not have it" in found.lacking(newer, store.row(newer).events)[1]


def test_events_behind_its_leaf_are_not_covered(store, signed):
    covered, _, file = signed
    events = store.row(covered).events
    seq, said = covering(store, file).lacking(covered, events + 2)

    assert (seq, f"has the events 0 to {events - 1}" in said) == (events, True)


def test_without_the_leaves_beside_it_those_of_the_database_are_taken_and_that_is_said(store, signed):
    covered, newer, file = signed
    file.with_name(f"{file.name}.leaves").unlink()
    found = covering(store, file)

    assert found.lacking(covered, store.row(covered).events) is None
    assert "is not there" in found.lacking(newer, 1)[1]
    with pytest.raises(UsageError, match="has no leaves of its own"):
        covering(MemoryEventStore(), file)


def test_a_file_that_is_no_checkpoint_is_refused(store, tmp_path):
    (tmp_path / "x").write_text("nothing of the kind")

    with pytest.raises(UsageError, match="is no checkpoint"):
        covering(store, tmp_path / "x")


def test_a_copy_that_cannot_be_read_covers_nothing(store, signed):
    covered, _, _ = signed
    with store.database.writing(durable=False) as connection:
        connection.execute(tables.checkpoints.update().values(body=b"\xff"))
    found = covering(store, None)

    assert "cannot be read" in found.lacking(covered, 1)[1]


def test_what_nothing_outside_the_database_says_is_doubted_and_what_a_key_signed_is_not(store, signed):
    covered, _, file = signed

    assert "nothing outside it was asked" in covering(store, None).doubt
    assert "is taken at its word" in covering(store, file).doubt
    assert covering(store, file, SIGNER.key).doubt is None
    assert covering(store, file, SIGNER.key).lacking(covered, 1) is None


def test_a_file_that_the_key_did_not_sign_covers_nothing(store, signed):
    covered, _, file = signed
    other = Signer("log.example/other", bytes(32)).key

    assert "did not sign" in covering(store, file, other).lacking(covered, 1)[1]


@pytest.mark.parametrize("named", [True, False], ids=["by its file", "by the database's copy"])
def test_leaves_of_the_database_that_do_not_have_the_root_cover_nothing(store, signed, named):
    covered, newer, file = signed
    file.with_name(f"{file.name}.leaves").unlink()
    with store.database.writing(durable=False) as connection:
        (data,) = (one.data for one in leaves_due(connection).leaves if read_leaf(one.data).episode == newer)
        place = tables.leaves.c.place == 1
        connection.execute(tables.leaves.update().where(place).values(episode=newer, data=data))
    found = covering(store, file if named else None)

    assert "whose root the database's leaves do not have" in found.lacking(covered, 1)[1]
    assert found.lacking(newer, 1)[0] == 0
