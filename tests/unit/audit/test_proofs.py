"""Proofs as files: what they prove to implementations that are not ours, and what an altered one does not."""

import metamorphic_log
import proofbundle
import pytest

from spectrace.audit import proofs
from spectrace.audit.leaves import Leaf, hashes
from spectrace.audit.proofs import Consistency, Inclusion, check, parse_proof
from spectrace.audit.signing import Signer
from spectrace.core import merkle
from spectrace.core.notes import BadNote, Checkpoint, Note
from spectrace.errors import UsageError

SIGNER = Signer("log", bytes(range(32)))
LEAVES = [Leaf(f"ep{n}", "desk", n, n + 1, "completed", 46, 1, f"{n:064x}").data for n in range(11)]


def signed(size: int) -> Note:
    return SIGNER.sign(str(Checkpoint("spectrace/admin-00", size, merkle.root(hashes(LEAVES[:size])))))


def inclusion(index: int = 4) -> Inclusion:
    return Inclusion(LEAVES[index], index, merkle.inclusion_proof(hashes(LEAVES), index), signed(11))


def consistency(size: int = 5) -> Consistency:
    return Consistency(size, merkle.consistency_proof(hashes(LEAVES), size), signed(11))


@pytest.mark.parametrize("proof", [inclusion(), consistency()])
def test_a_proof_is_read_as_it_was_written(proof):
    assert parse_proof(str(proof)) == proof


def test_an_inclusion_proof_is_one_that_two_others_accept():
    proof = inclusion()
    found = proofbundle.verify_tlog_proof(str(proof), proof.leaf, str(SIGNER.key))
    leaf = merkle.leaf_hash(proof.leaf)

    assert found["ok"]
    metamorphic_log.checkpoint_verify_inclusion(str(proof.note), [str(SIGNER.key)], 4, leaf, list(proof.hashes))


def test_a_consistency_proof_is_one_that_another_accepts():
    proof, keys = consistency(), [str(SIGNER.key)]

    metamorphic_log.checkpoint_verify_consistency(str(signed(5)), str(proof.note), keys, list(proof.hashes))


def test_what_they_prove_is_said():
    assert check(inclusion(), SIGNER.key).leaf.episode == "ep4"
    assert check(inclusion(), SIGNER.key, signed(11)).ok
    assert check(consistency(), SIGNER.key, signed(5)).ok


@pytest.mark.parametrize(
    ("proof", "held", "said"),
    [
        (Inclusion(LEAVES[5], 4, inclusion().hashes, signed(11)), None, "does not lead"),
        (Inclusion(LEAVES[4], 5, inclusion().hashes, signed(11)), None, "does not lead"),
        (Inclusion(LEAVES[4], 4, inclusion().hashes[1:], signed(11)), None, "does not lead"),
        (inclusion(), signed(10), "another checkpoint"),
        (inclusion(), Signer("log", bytes(32)).sign(signed(11).text), "not signed"),
        (consistency(), None, "give that one"),
        (consistency(), signed(6), "does not lead"),
        (Consistency(5, consistency(6).hashes, signed(11)), signed(5), "does not lead"),
    ],
)
def test_what_does_not_fit_proves_nothing(proof, held, said):
    found = check(proof, SIGNER.key, held)

    assert not found.ok
    assert said in found.detail


def test_a_proof_with_another_s_signature_proves_nothing():
    assert not check(inclusion(), Signer("log", bytes(32)).key).ok


@pytest.mark.parametrize(
    "text",
    [
        "",
        str(signed(11)),
        str(inclusion()).replace("extra ", "extra  "),
        str(inclusion()).replace("index 4", "index 04"),
        str(inclusion()).replace("index 4", "index -4"),
        str(inclusion()).replace("index 4\n", "index 4\nAAAA\n"),
        str(inclusion()).replace("@v1", "@v2"),
        str(consistency()).replace("old 5", "old five"),
    ],
)
def test_what_is_no_proof_is_refused(text, tmp_path):
    (tmp_path / "proof").write_text(text)
    with pytest.raises(BadNote):
        parse_proof(text)
    with pytest.raises(UsageError, match="is no proof"):
        proofs.read_proof(tmp_path / "proof")
