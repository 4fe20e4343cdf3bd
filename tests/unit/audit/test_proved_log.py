"""A whole database against its checkpoint: what belongs to it beside the episodes, on both databases."""

import pytest

from spectrace.audit import checkpoint_files
from spectrace.audit.checkpoints import create
from spectrace.audit.integrity import Verifier, VerifyResult
from spectrace.audit.proved_log import Proof
from spectrace.audit.signing import Signer
from spectrace.store import tables
from spectrace.store.sql import open_store
from tests.damage import past_the_triggers
from tests.shop_log import recorded

SIGNER = Signer("log", bytes(range(32)))


class Log:
    """A log with two episodes and a checkpoint."""

    def __init__(self, url, path):
        self.url, self.path = url, path
        self.store = open_store(url)
        self.episodes = [recorded(self.store), recorded(self.store)]
        create(self.store, SIGNER, path)

    def do(self, *statements):
        with self.store.database.writing(durable=True) as connection:
            for statement in statements:
                connection.execute(statement)

    def bad(self) -> dict[str, VerifyResult]:
        proof = Proof(self.store, checkpoint_files.read(self.path))
        results = proof.whole(map(Verifier(self.store).verify, proof.names()), self.url, 1)
        return {one.episode: one for one in results if one.result != "valid"}


@pytest.fixture
def log(database_url, tmp_path):
    made = Log(database_url, tmp_path / "cp")
    yield made
    made.store.close()


def test_an_untouched_log_is_valid_and_newer_episodes_are_consistent(log):
    assert log.bad() == {}
    added = recorded(log.store)
    assert {name: one.result for name, one in log.bad().items()} == {added: "consistent"}


def test_a_later_checkpoint_leaves_the_earlier_one_good(log, tmp_path):
    added = recorded(log.store)
    create(log.store, SIGNER, tmp_path / "later")

    assert {name: one.result for name, one in log.bad().items()} == {added: "consistent"}


def test_a_changed_projection_is_an_item_of_its_episode(log):
    column = tables.actions.c
    log.do(
        tables.actions.update().where(column.number == log.store.log.number(log.episodes[0])).values(outcome="error")
    )

    assert log.bad().keys() - {"(database)"} == {log.episodes[0]}


def test_a_changed_row_is_an_item_of_its_episode(log):
    log.do(tables.episodes.update().where(tables.episodes.c.episode == log.episodes[1]).values(project="x"))
    bad = log.bad()

    assert bad.keys() - {"(database)"} == {log.episodes[1]}
    assert "project" in bad[log.episodes[1]].detail


@pytest.mark.parametrize("change", ["altered", "deleted", "added"])
def test_leaves_that_the_database_keeps_otherwise_are_items_of_their_episode(log, change):
    column = tables.leaves.c
    data = checkpoint_files.read(log.path).leaves[1]
    log.do(
        {
            "altered": tables.leaves.update().where(column.place == 1).values(data=data + b" "),
            "deleted": tables.leaves.delete().where(column.place == 1),
            "added": tables.leaves.insert().values(place=3, episode=log.episodes[0], data=data),
        }[change]
    )

    assert log.bad().keys() == {log.episodes[0]}


def test_leaves_altered_beside_the_checkpoint_are_the_file_s_fault_and_the_log_stays_valid(log):
    beside = checkpoint_files.leaves_file(log.path)
    beside.write_bytes(beside.read_bytes().replace(b"completed", b"truncated"))

    assert log.bad().keys() == {beside.name}


def test_without_the_leaves_beside_it_the_database_s_own_prove_as_much(log):
    checkpoint_files.leaves_file(log.path).unlink()

    assert log.bad() == {}


def test_a_colluding_database_without_the_leaves_beside_is_found_without_a_place(log):
    checkpoint_files.leaves_file(log.path).unlink()
    log.do(tables.leaves.update().where(tables.leaves.c.place == 1).values(data=b"[]"))
    bad = log.bad()

    assert bad["(database)"].result == "invalid"
    assert "signed root" in bad["(database)"].detail


def test_missing_triggers_are_the_database_s(log):
    with past_the_triggers(log.url):
        bad = log.bad()

    assert bad.keys() == {"(database)"}
    assert "triggers" in bad["(database)"].detail
