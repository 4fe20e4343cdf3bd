"""A whole database against its checkpoint: what belongs to it beside the episodes, on both databases."""

import pytest

from spectrace.audit import checkpoint_files
from spectrace.audit.checkpoints import create
from spectrace.audit.integrity import Verifier, VerifyResult
from spectrace.audit.proved_log import Proof
from spectrace.audit.signing import Signer
from spectrace.store import tables
from spectrace.store.bundle import pack
from spectrace.store.sql import open_store
from spectrace.store.unpacking import unpack
from tests.damage import past_the_triggers
from tests.shop_log import recorded
from tests.tampering.forgery import remove

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


class TestUnpacked:
    """A log that was unpacked from a bundle, against the checkpoint that its bundle was made under."""

    @pytest.fixture
    def unpacked(self, log, tmp_path):
        pack(log.store, log.episodes, tmp_path / "b.zip")
        store = open_store(str(tmp_path / "unpacked.db"))
        unpack(tmp_path / "b.zip", store)
        yield store
        store.close()

    def results(self, log, store) -> dict[str, tuple[str, str]]:
        proof = Proof(store, checkpoint_files.read(log.path))
        found = proof.whole(map(Verifier(store).verify, proof.names()), str(store.database.url), 1)
        return {one.episode: (one.result, one.detail) for one in found}

    def test_its_runs_are_valid_and_it_is_said_once_that_the_checkpoint_is_of_another_log(self, log, unpacked):
        found = self.results(log, unpacked)
        result, detail = found.pop("(database)")

        assert {name: found[name][0] for name in log.episodes} == dict.fromkeys(log.episodes, "valid")
        assert {one for one, _ in found.values()} == {"valid", "consistent"}
        assert (result, "the checkpoint is of another log, spectrace/admin-" in detail) == ("unknown", True)
        assert "2 runs of it are here and compared" in detail

    def test_a_checkpoint_of_its_own_changes_nothing_of_that(self, log, unpacked, tmp_path):
        before = self.results(log, unpacked)
        create(unpacked, SIGNER, tmp_path / "own")

        assert self.results(log, unpacked).keys() == before.keys()
        assert {one for one, _ in self.results(log, unpacked).values()} == {"valid", "consistent", "unknown"}

    def test_a_run_that_is_gone_is_still_named(self, log, unpacked):
        with past_the_triggers(str(unpacked.database.url)) as connection:
            remove(connection, log.episodes[0])
            connection.commit()

        assert self.results(log, unpacked)[log.episodes[0]][0] == "invalid"


def test_leaves_that_somebody_else_s_stand_for_are_not_taken_for_another_log(log):
    column = tables.leaves.c
    log.do(tables.leaves.update().where(column.place == 0).values(data=checkpoint_files.read(log.path).leaves[1]))

    assert log.bad()
