"""What a checkpoint proves of single episodes, and when it proves nothing at all."""

from dataclasses import replace

import pytest

from spectrace.audit import checkpoint_files
from spectrace.audit.integrity import CONSISTENT, INVALID, VerifyResult
from spectrace.audit.leaves import Leaf, hashes
from spectrace.audit.proving import VALID, Unproved, forced, prove_leaves, removed, trusted
from spectrace.audit.signing import Signer
from spectrace.audit.standing_leaves import Stored, by_episode
from spectrace.core import merkle
from spectrace.core.notes import Checkpoint

SIGNER, WITNESS = Signer("log", bytes(range(32))), Signer("witness", bytes(range(1, 33)))
EARLY = Leaf("ep", "desk", 1, None, "open", 3, 0, "03" * 32)
LEAF = Leaf("ep", "desk", 1, 2, "completed", 7, 1, "07" * 32)
WHOLE = VerifyResult("ep", CONSISTENT, 7, None, 6, "whole")
STORED = Stored(LEAF, 7, {3: EARLY.head, 7: LEAF.head})


def proved(stored: Stored | None = STORED, result: VerifyResult = WHOLE) -> VerifyResult:
    (found,) = prove_leaves([result], by_episode([EARLY, LEAF]), {} if stored is None else {"ep": stored})
    return found


def test_an_episode_that_has_its_leaves_is_valid_up_to_the_newest():
    found = proved(replace(STORED, events=9), replace(WHOLE, events=9, covered_to=8))

    assert (found.result, found.covered_to, found.events) == (VALID, 6, 9)
    assert "newer than the checkpoint: 2 events" in found.detail


def test_an_episode_without_a_leaf_is_newer_and_stays_consistent():
    found = proved(None, replace(WHOLE, episode="new"))

    assert (found.result, "newer than the checkpoint" in found.detail) == (CONSISTENT, True)


def test_a_chain_that_is_broken_stays_invalid_where_it_is():
    broken = replace(WHOLE, result=INVALID, first_bad_seq=2, detail="broken")

    assert proved(result=broken) == broken


def test_an_end_that_was_cut_off_is_named_by_the_first_event_that_is_missing():
    found = proved(Stored(replace(LEAF, events=5), 5, {3: EARLY.head}))

    assert (found.result, found.first_bad_seq) == (INVALID, 5)


@pytest.mark.parametrize(("heads", "first"), [({3: EARLY.head, 7: "00" * 32}, 3), ({3: "0" * 64, 7: "1" * 64}, 0)])
def test_a_chain_that_was_written_anew_is_named_from_where_the_last_leaf_fits(heads, first):
    found = proved(Stored(LEAF, 7, heads))

    assert (found.result, found.first_bad_seq) == (INVALID, first)
    assert "written anew" in found.detail


@pytest.mark.parametrize("changed", [{"project": "x"}, {"started_at": 0}, {"ended_at": 3}, {"writes": 0}])
def test_a_row_that_says_otherwise_is_named_with_both(changed):
    found = proved(replace(STORED, leaf=replace(LEAF, **changed)))

    assert (found.result, found.first_bad_seq) == (INVALID, None)
    assert next(iter(changed)) in found.detail


def test_what_the_leaves_have_and_is_not_there_was_removed():
    (found,) = removed(by_episode([EARLY, LEAF]), ["other"])

    assert (found.episode, found.result) == ("ep", INVALID)
    assert found.detail.startswith("removed")


def kept(path, *, cosigned: bool = False):
    leaves = [EARLY.data, LEAF.data]
    note = SIGNER.sign(str(Checkpoint("spectrace/admin-00", 2, merkle.root(hashes(leaves)))))
    checkpoint_files.write(path, WITNESS.cosign(note, 1) if cosigned else note, leaves)
    return path


def test_a_checkpoint_is_trusted_for_its_key_and_those_who_cosigned(tmp_path):
    path = kept(tmp_path / "cp", cosigned=True)

    assert trusted(path, SIGNER.key, [WITNESS.key]) == checkpoint_files.read(path)


@pytest.mark.parametrize(
    ("key", "cosigners", "said"),
    [
        (WITNESS.key, (), "not signed by witness"),
        (Signer("log", bytes(32)).key, (), "not signed by log"),
        (SIGNER.key, (WITNESS.key,), "no cosignature that holds by witness"),
        (SIGNER.key, (SIGNER.key,), "no cosignature that holds by log"),
    ],
)
def test_without_a_signature_that_was_asked_for_nothing_is_known(tmp_path, key, cosigners, said):
    found = trusted(kept(tmp_path / "cp"), key, cosigners)

    assert isinstance(found, Unproved)
    assert said in found.detail


def test_a_checkpoint_of_another_log_than_was_asked_for_proves_nothing(tmp_path):
    path = kept(tmp_path / "cp")

    assert trusted(path, SIGNER.key, origin="spectrace/admin-00") == checkpoint_files.read(path)
    assert trusted(path, SIGNER.key, origin="spectrace/admin-01") == Unproved(
        "cp", "it is of another log: spectrace/admin-00, and spectrace/admin-01 was asked for"
    )


def test_a_checkpoint_that_was_signed_by_force_says_so():
    plain = Checkpoint("log", 0, merkle.root([]), ("at 1",))
    (found,) = forced("cp", replace(plain, extensions=("at 1", "forced 2 not verified")))

    assert forced("cp", plain) == []
    assert (found.episode, found.result) == ("cp", "unknown")
    assert found.detail.startswith("it was signed by force: 2 not verified when it was made")


@pytest.mark.parametrize("data", [None, b"", b"\xff", b"a later format\n"])
def test_a_checkpoint_that_is_lost_or_of_a_later_format_is_unknown(tmp_path, data):
    path = kept(tmp_path / "cp")
    path.unlink() if data is None else path.write_bytes(data)
    found = trusted(path, SIGNER.key)

    assert found.result.result == "unknown"
    assert [one.result for one in found.of([WHOLE, replace(WHOLE, result=INVALID)])] == ["unknown", INVALID]
