"""Cosigning: what goes on from the last one is signed, a fork is not, and nothing is forgotten."""

from pathlib import Path

import pytest

from spectrace.audit import checkpoint_files, cosigning
from spectrace.audit.cosigning import Cosigned, Fork, cosign
from spectrace.audit.leaves import hashes
from spectrace.audit.proofs import Consistency
from spectrace.audit.signing import Signer, cosigned_by, make_key, signed_by
from spectrace.core import merkle
from spectrace.core.notes import Checkpoint
from spectrace.errors import UsageError

LOG = Signer("log", bytes(range(32)))
PAST = [b'["a"]', b'["b"]', b'["c"]', b'["d"]', b'["e"]']
FORKED = [b'["a"]', b'["x"]', b'["c"]', b'["d"]', b'["e"]']


@pytest.fixture
def secret(tmp_path):
    make_key("witness", tmp_path / "witness.key")
    return tmp_path / "witness.key"


def kept(path: Path, leaves: list[bytes], signer: Signer = LOG, origin: str = "spectrace/admin-00") -> Path:
    note = signer.sign(str(Checkpoint(origin, len(leaves), merkle.root(hashes(leaves)))))
    checkpoint_files.write(path, note, leaves)
    return path


def test_the_first_checkpoint_and_what_goes_on_from_it_are_cosigned(tmp_path, secret):
    first = cosign(kept(tmp_path / "one", PAST[:3]), secret, LOG.key)
    second = cosign(kept(tmp_path / "two", PAST), secret, LOG.key)
    note = checkpoint_files.read(tmp_path / "two").note

    assert (first.before, second.before) == (None, 3)
    assert cosigned_by(note, second.by).time_s == second.time_s
    assert signed_by(note, LOG.key)


def test_a_fork_is_refused_with_both_roots_and_remembered_is_what_was_cosigned(tmp_path, secret):
    cosign(kept(tmp_path / "one", PAST[:3]), secret, LOG.key)
    path = kept(tmp_path / "two", FORKED)
    before = path.read_bytes()
    refused = cosign(path, secret, LOG.key)

    assert isinstance(refused, Fork)
    assert merkle.root(hashes(PAST[:3])).hex() in refused.detail
    assert merkle.root(hashes(FORKED[:3])).hex() in refused.detail
    assert path.read_bytes() == before
    assert isinstance(cosign(kept(tmp_path / "three", PAST), secret, LOG.key), Cosigned)


def test_a_log_that_was_rolled_back_is_refused(tmp_path, secret):
    cosign(kept(tmp_path / "one", PAST), secret, LOG.key)

    assert "rolled back" in cosign(kept(tmp_path / "two", PAST[:3]), secret, LOG.key).detail


def test_the_same_size_with_another_root_is_a_fork(tmp_path, secret):
    cosign(kept(tmp_path / "one", PAST), secret, LOG.key)

    assert "a fork" in cosign(kept(tmp_path / "two", FORKED), secret, LOG.key).detail


OTHER = "spectrace/admin-01"


def test_a_second_log_under_a_key_that_signed_another_is_a_second_history(tmp_path, secret):
    cosign(kept(tmp_path / "one", PAST), secret, LOG.key)
    path = kept(tmp_path / "two", FORKED[:2], origin=OTHER)
    before = path.read_bytes()
    refused = cosign(path, secret, LOG.key)

    assert isinstance(refused, Fork)
    assert f"it is of another log: {OTHER}, and log+{LOG.key.id.hex()} signed spectrace/admin-00" in refused.detail
    assert path.read_bytes() == before


def test_a_second_log_that_is_asked_for_by_name_has_a_past_of_its_own(tmp_path, secret):
    cosign(kept(tmp_path / "one", PAST), secret, LOG.key)
    cosign(kept(tmp_path / "two", FORKED[:2], origin=OTHER), secret, LOG.key, origin=OTHER)
    goes_on = cosign(kept(tmp_path / "three", FORKED, origin=OTHER), secret, LOG.key)

    assert goes_on.before == 2


def test_a_log_under_another_key_is_another_log(tmp_path, secret):
    other = Signer("other", bytes(range(1, 33)))
    cosign(kept(tmp_path / "one", PAST), secret, LOG.key)

    assert cosign(kept(tmp_path / "two", FORKED, other, OTHER), secret, other.key).before is None


def test_what_is_not_of_the_log_that_is_asked_for_is_refused(tmp_path, secret):
    refused = cosign(kept(tmp_path / "one", PAST), secret, LOG.key, origin=OTHER)

    assert refused == Fork(f"it is of another log: spectrace/admin-00, and {OTHER} was asked for")


def test_an_old_one_that_is_named_has_to_be_gone_on_from(tmp_path, secret):
    old = kept(tmp_path / "old", FORKED[:3])

    assert "a fork" in cosign(kept(tmp_path / "new", PAST), secret, LOG.key, after=old).detail
    with pytest.raises(UsageError, match="is not there"):
        cosign(kept(tmp_path / "new", PAST), secret, LOG.key, after=tmp_path / "none")


def test_a_consistency_proof_serves_where_the_leaves_stay_at_home(tmp_path, secret):
    cosign(kept(tmp_path / "one", PAST[:3]), secret, LOG.key)
    new = kept(tmp_path / "two", PAST)
    held = checkpoint_files.read(new)
    checkpoint_files.leaves_file(new).unlink()
    (tmp_path / "proof").write_text(str(Consistency(3, merkle.consistency_proof(hashes(PAST), 3), held.note)))
    (tmp_path / "forged").write_text(str(Consistency(3, merkle.consistency_proof(hashes(FORKED), 3), held.note)))

    assert "nothing shows" in cosign(new, secret, LOG.key).detail
    assert "does not lead" in cosign(new, secret, LOG.key, proof=tmp_path / "forged").detail
    assert isinstance(cosign(new, secret, LOG.key, proof=tmp_path / "proof"), Cosigned)


def test_what_was_signed_by_force_is_cosigned_only_by_who_says_so(tmp_path, secret):
    path = tmp_path / "one"
    made = Checkpoint("spectrace/admin-00", 5, merkle.root(hashes(PAST)), ("at 1", "forced 2 not verified"))
    checkpoint_files.write(path, LOG.sign(str(made)), PAST)

    assert cosign(path, secret, LOG.key) == Fork(
        "it was signed by force, with 2 not verified: --force, if you know what that was"
    )
    assert isinstance(cosign(path, secret, LOG.key, force=True), Cosigned)


def test_what_the_log_did_not_sign_is_not_cosigned(tmp_path, secret):
    path = kept(tmp_path / "one", PAST, signer=Signer("log", bytes(range(1, 33))))
    with pytest.raises(UsageError, match="is not signed by log"):
        cosign(path, secret, LOG.key)

    assert not cosigning.state_file(secret, "spectrace/admin-00").exists()
