"""Keys and signatures: the published example, an implementation that is not ours, and who may read a key."""

import os

import metamorphic_log
import proofbundle
import pytest

from spectrace.audit import signing
from spectrace.audit.signing import Signer, cosigned_by, make_key, read_key, read_signer, signed_by
from spectrace.core import notes
from spectrace.core.notes import Checkpoint, parse_key, parse_note
from spectrace.errors import UsageError
from tests.unit.core.test_notes import KEY, NOTE, PRIVATE, TEXT

CHECKPOINT = Checkpoint("spectrace/admin-00", 3, bytes(range(32)), ("at 1764547200000000",))
AT_S = 1764547200


def signer(name: str = "PeterNeumann") -> Signer:
    return Signer(name, notes.parse_secret(PRIVATE)[1])


def test_the_published_key_makes_the_published_signature():
    assert str(signer().sign(TEXT)) == NOTE
    assert signer().secret_text() == PRIVATE


def test_the_published_signature_holds():
    assert signed_by(parse_note(NOTE), parse_key(KEY))


@pytest.mark.parametrize("altered", [NOTE.replace("problem is", "problem was"), NOTE.replace("x08go/Z", "x08go/Y")])
def test_an_altered_note_is_signed_by_nobody(altered):
    assert not signed_by(parse_note(altered), parse_key(KEY))


def test_another_key_of_the_same_name_did_not_sign():
    assert not signed_by(parse_note(NOTE), Signer("PeterNeumann", bytes(32)).key)


def test_a_cosignature_holds_with_its_time_and_is_no_signature_of_the_log():
    note = signer("log").sign(str(CHECKPOINT))
    witness = Signer("witness", bytes(32))
    cosigned = witness.cosign(note, AT_S)

    assert cosigned_by(cosigned, witness.key).time_s == AT_S
    assert not signed_by(cosigned, witness.key)
    assert cosigned_by(note, witness.key) is None
    assert signed_by(cosigned, signer("log").key)


def test_the_time_of_a_cosignature_is_signed_too():
    cosigned = Signer("witness", bytes(32)).cosign(signer("log").sign(str(CHECKPOINT)), AT_S)
    line = cosigned.signatures[1]
    other = notes.Signature(line.name, line.key_id, notes.cosignature(AT_S + 1, line.data[8:]))

    assert cosigned_by(cosigned.signed_by(other), Signer("witness", bytes(32)).key) is None


@pytest.mark.parametrize("point", ["01" + "00" * 31, "01" + "00" * 30 + "80", "ec" + "ff" * 30 + "7f", "00" * 32])
def test_a_key_for_which_anybody_can_sign_is_none(point):
    with pytest.raises(notes.BadNote, match="small order"):
        parse_key(str(notes.Key("log", notes.ED25519, bytes.fromhex(point))))


def test_implementations_that_are_not_ours_accept_a_checkpoint_and_its_cosignature():
    witness = Signer("witness", bytes(32))
    text = str(witness.cosign(signer("log").sign(str(CHECKPOINT)), AT_S))

    assert metamorphic_log.checkpoint_verify(text, [str(signer("log").key)]).size == CHECKPOINT.size
    assert proofbundle.verify_cosignature(text, str(witness.key.cosigner))["timestamp"] == AT_S


def umask():
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def test_a_key_is_made_for_its_owner_and_never_replaced(tmp_path):
    path = tmp_path / "log.key"
    key = make_key("log", path)

    assert (path.stat().st_mode & 0o777, read_signer(path).key) == (0o600, key)
    assert signing.public_file(path).stat().st_mode & 0o777 == 0o644 & ~umask()
    assert read_key(str(signing.public_file(path))) == read_key(str(key)) == key
    with pytest.raises(UsageError, match="never replaced"):
        make_key("log", path)


def test_a_key_that_others_can_read_is_not_used(tmp_path):
    path = tmp_path / "log.key"
    make_key("log", path)
    path.chmod(0o644)

    with pytest.raises(UsageError, match="can be read by others"):
        read_signer(path)


@pytest.mark.parametrize("altered", ["", "x", PRIVATE[:-8], PRIVATE.replace("c74f20a3", "c74f20a4"), KEY])
def test_what_is_no_secret_key_is_refused_and_not_repeated(tmp_path, altered):
    path = tmp_path / "log.key"
    path.write_text(altered)
    path.chmod(0o600)

    with pytest.raises(UsageError) as refused:
        read_signer(path)
    assert "AYEKFAL" not in str(refused.value)


def test_a_secret_key_given_as_a_public_one_is_not_repeated(tmp_path):
    with pytest.raises(UsageError) as refused:
        read_key(PRIVATE)

    assert "AYEKFAL" not in str(refused.value)


def test_a_secret_key_is_not_shown():
    assert repr(signer()) == f"Signer({KEY})"
