import pytest

from spectrace.audit import checkpoint_files
from spectrace.audit.checkpoints import Created, create
from spectrace.audit.leaves import hashes, read_leaf
from spectrace.audit.packing import given, inclusion_proofs, newest
from spectrace.audit.signing import Signer
from spectrace.core import merkle
from spectrace.core.notes import parse_checkpoint, parse_note
from spectrace.errors import StoreError, UsageError
from spectrace.store.sql import open_store
from tests.copies import made_once
from tests.shop_log import recorded

SIGNER = Signer("desk.example/log", b"k" * 32)


def two_episodes(url):
    store = open_store(url)
    episodes = [recorded(store) for _ in range(2)]
    store.close()
    return episodes


@pytest.fixture
def log(database_url):
    episodes = made_once(database_url, two_episodes)
    store = open_store(database_url)
    yield store, episodes
    store.close()


@pytest.fixture
def signed(log, tmp_path):
    store, episodes = log
    assert isinstance(create(store, SIGNER, tmp_path / "note"), Created)
    return store, episodes, tmp_path / "note"


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 8, 21])
def test_many_proofs_are_each_that_of_the_tree(size):
    leaves = hashes(f"{n}".encode() for n in range(size))

    assert inclusion_proofs(leaves, range(size)) == {n: merkle.inclusion_proof(leaves, n) for n in range(size)}


def test_the_checkpoint_in_a_file_and_the_newest_kept_are_the_same_with_all_leaves(signed):
    store, episodes, path = signed
    tree = given(path, store)
    (log,) = store.administrative()

    assert tree == newest(store)
    assert tree.note == path.read_text()
    assert {read_leaf(leaf).episode for leaf in tree.leaves} == {log, *episodes}


def test_an_older_file_has_the_leaves_that_it_was_signed_over(signed, tmp_path):
    store, _, path = signed
    recorded(store)
    create(store, SIGNER, tmp_path / "later")

    assert len(given(path, store).leaves) == 3
    assert len(newest(store).leaves) > 3


def test_without_the_file_beside_it_the_database_s_own_leaves_are_taken_if_they_are_those(signed):
    store, _, path = signed
    tree = given(path, store)
    checkpoint_files.leaves_file(path).unlink()

    assert given(path, store) == tree


def test_leaves_that_are_others_are_refused(signed):
    store, _, path = signed
    checkpoint_files.leaves_file(path).write_bytes(b"another\n")
    with store.database.writing(durable=True) as connection:
        connection.exec_driver_sql("UPDATE leaves SET data = data WHERE place = 0")
        connection.exec_driver_sql("DELETE FROM leaves WHERE place = 1")

    with pytest.raises(UsageError, match=r"the leaves of .*note are not at hand.*those of the database are others"):
        given(path, store)
    with pytest.raises(StoreError, match="are not those that its last checkpoint signed"):
        newest(store)


def test_a_file_that_is_no_checkpoint_and_a_note_that_is_none_are_refused(signed, tmp_path):
    store, *_ = signed
    (tmp_path / "other").write_text("nothing\n")
    with pytest.raises(UsageError, match="other is no checkpoint"):
        given(tmp_path / "other", store)
    with store.database.writing(durable=True) as connection:
        connection.exec_driver_sql("UPDATE checkpoints SET body = salt FROM events WHERE events.key = 1048576")

    with pytest.raises(StoreError, match="that the database keeps cannot be read"):
        newest(store)


def test_a_log_that_was_never_signed_keeps_none(log):
    assert newest(log[0]) is None


def test_each_episode_that_has_a_leaf_is_proved_by_its_newest(signed):
    store, episodes, path = signed
    held = given(path, store).proved([*episodes, "newer"])
    checkpoint = parse_checkpoint(parse_note(held.note).text)

    assert set(held.proofs) == set(episodes)
    for name, one in held.proofs.items():
        leaf = held.leaves[one.index]
        assert read_leaf(leaf).episode == name
        assert merkle.verify_inclusion(merkle.leaf_hash(leaf), one.index, checkpoint.size, one.hashes, checkpoint.root)
