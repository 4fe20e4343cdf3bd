"""Checkpoints and proofs made here, verified by implementations that are not ours: one in Rust, one in Python.

metamorphic-log (UniFFI bindings of a Rust crate) and proofbundle read C2SP signed notes and RFC 6962 proofs. Whatever
they take when it is whole they refuse when it is altered, as we do.
"""

import base64

import metamorphic_log as rust
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from proofbundle import checkpoint as theirs
from proofbundle import merkle as their_tree
from proofbundle.errors import ProofBundleError

from spectrace.audit.signing import Signer, cosigned_by, signed_by
from spectrace.core import merkle
from spectrace.core.notes import BadNote, Checkpoint, Note, parse_checkpoint, parse_key, parse_note

SIZE, OLDER, AT = 21, 8, 13
LEAVES = [f'["ep{n}","desk",{n},{n + 1},"completed",46,2,"{n:064x}"]'.encode() for n in range(SIZE)]
HASHES = [merkle.leaf_hash(leaf) for leaf in LEAVES]
ORIGIN = "spectrace/admin-0123456789ab"
EXTENSIONS = ("at 1796094504720368", "epoch admin-0123456789ab")
OWNER, WITNESS = Signer("desk.example/log", b"o" * 32), Signer("witness.example/1", b"w" * 32)
KEY, STRANGER = str(OWNER.key), str(Signer("desk.example/log", b"x" * 32).key)


def checkpoint(size: int) -> Note:
    return OWNER.sign(str(Checkpoint(ORIGIN, size, merkle.root(HASHES[:size]), EXTENSIONS)))


NOTE = checkpoint(SIZE)


def by_rust(note: str, key: str) -> bool:
    try:
        head = rust.checkpoint_verify(note, [key])
    except rust.VerifyError:
        return False
    return (head.origin, head.size, head.root) == (ORIGIN, SIZE, merkle.root(HASHES))


def by_python(note: str, key: str) -> bool:
    try:
        found = theirs.verify_checkpoint(note, key)
    except ProofBundleError:
        return False
    return bool(found["ok"]) and (found["origin"], found["tree_size"], found["root"]) == (
        ORIGIN,
        SIZE,
        merkle.root(HASHES),
    )


def by_us(note: str, key: str) -> bool:
    try:
        read = parse_note(note)
        parse_checkpoint(read.text)
        return signed_by(read, parse_key(key))
    except BadNote:
        return False


EVERYBODY = [by_rust, by_python, by_us]


@pytest.mark.parametrize("verified", EVERYBODY)
def test_a_checkpoint_is_taken_by_its_key_and_by_no_other(verified):
    assert (verified(str(NOTE), KEY), verified(str(NOTE), STRANGER)) == (True, False)


@pytest.mark.parametrize("verified", EVERYBODY)
def test_a_cosigned_checkpoint_is_still_the_owner_s(verified):
    assert verified(str(WITNESS.cosign(NOTE, 1_796_094_600)), KEY)


@pytest.mark.parametrize("verified", EVERYBODY)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("spectrace/admin-01", "spectrace/admin-02"),
        (f"\n{SIZE}\n", f"\n{SIZE - 1}\n"),
        (base64.b64encode(merkle.root(HASHES)).decode(), base64.b64encode(merkle.root(HASHES[:-1])).decode()),
        ("at 1796094504720368", "at 1796094504720369"),
        ("epoch admin-0123456789ab\n", ""),
        ("epoch admin-0123456789ab\n", "epoch admin-0123456789ab\nmore\n"),
        ("\n\n", "\n"),
        ("\N{EM DASH} desk.example/log ", "\N{EM DASH} desk.example/other "),
    ],
)
def test_an_altered_one_is_refused(verified, old, new):
    assert old in str(NOTE)
    assert not verified(str(NOTE).replace(old, new, 1), KEY)


@pytest.mark.parametrize("verified", EVERYBODY)
def test_no_byte_of_what_is_signed_can_be_another(verified):
    text = str(NOTE)
    signed = len(NOTE.text) - 1
    altered = [f"{text[:at]}{chr(ord(text[at]) ^ 1)}{text[at + 1 :]}" for at in range(0, signed, 3)]

    assert [one for one in altered if verified(one, KEY)] == []


def test_a_cosignature_is_verified_with_its_time_by_another_implementation():
    cosigned = WITNESS.cosign(NOTE, 1_796_094_600)
    found = theirs.verify_cosignature(str(cosigned), str(WITNESS.key.cosigner))
    altered = theirs.verify_cosignature(str(cosigned).replace("at 1", "at 2", 1), str(WITNESS.key.cosigner))

    assert (found["ok"], found["timestamp"], altered["ok"]) == (True, 1_796_094_600, False)
    assert cosigned_by(parse_note(str(cosigned)), WITNESS.key).time_s == found["timestamp"]


def test_a_checkpoint_and_a_cosignature_that_another_implementation_made_are_ours_too():
    secret = Ed25519PrivateKey.from_private_bytes(b"o" * 32)
    made = theirs.sign_checkpoint(ORIGIN, SIZE, merkle.root(HASHES), secret, "desk.example/log")
    witnessed = theirs.cosign_checkpoint(
        made, Ed25519PrivateKey.from_private_bytes(b"w" * 32), "witness.example/1", 1_796_094_600
    )

    assert by_us(made, KEY)
    assert by_us(witnessed, KEY)
    assert cosigned_by(parse_note(witnessed), WITNESS.key).time_s == 1_796_094_600
    assert theirs.vkey("desk.example/log", OWNER.key.public) == KEY


def rust_includes(place: int, leaf: bytes, path: list[bytes]) -> bool:
    try:
        rust.checkpoint_verify_inclusion(str(NOTE), [KEY], place, merkle.leaf_hash(leaf), path)
    except rust.VerifyError:
        return False
    return True


def python_includes(place: int, leaf: bytes, path: list[bytes]) -> bool:
    return their_tree.verify_inclusion(leaf, place, SIZE, path, merkle.root(HASHES))


@pytest.mark.parametrize("includes", [rust_includes, python_includes])
def test_an_inclusion_proof_is_taken_and_refused_where_leaf_place_or_path_is_another(includes):
    path = list(merkle.inclusion_proof(HASHES, AT))
    altered = [[*path[:at], bytes([path[at][0] ^ 1]) + path[at][1:], *path[at + 1 :]] for at in range(len(path))]

    assert includes(AT, LEAVES[AT], path)
    assert not includes(AT, LEAVES[AT - 1], path)
    assert not includes(AT - 1, LEAVES[AT], path)
    assert [one for one in (*altered, path[1:], [*path, path[0]]) if includes(AT, LEAVES[AT], one)] == []


def rust_extends(older: int, path: list[bytes]) -> bool:
    try:
        rust.checkpoint_verify_consistency(str(checkpoint(older)), str(NOTE), [KEY], path)
    except rust.VerifyError:
        return False
    return True


def python_extends(older: int, path: list[bytes]) -> bool:
    return their_tree.verify_consistency(older, SIZE, path, merkle.root(HASHES[:older]), merkle.root(HASHES))


@pytest.mark.parametrize("extends", [rust_extends, python_extends])
@pytest.mark.parametrize("older", [1, OLDER, AT, SIZE - 1])
def test_a_consistency_proof_is_taken_and_refused_where_a_size_or_the_path_is_another(extends, older):
    path = list(merkle.consistency_proof(HASHES, older))
    altered = [[*path[:at], bytes([path[at][0] ^ 1]) + path[at][1:], *path[at + 1 :]] for at in range(len(path))]

    assert extends(older, path)
    assert not extends(older + 1, path)
    assert [one for one in (*altered, path[1:], [*path, path[0]]) if extends(older, one)] == []


@pytest.mark.parametrize("size", range(1, 34))
def test_every_tree_has_the_root_and_the_proofs_that_another_implementation_makes(size):
    leaves, hashes = LEAVES * 2, HASHES * 2
    leaves, hashes = leaves[:size], hashes[:size]

    assert merkle.root(hashes) == their_tree.merkle_tree_hash(leaves)
    assert [list(merkle.inclusion_proof(hashes, at)) for at in range(size)] == [
        their_tree.inclusion_proof(leaves, at) for at in range(size)
    ]
    assert [list(merkle.consistency_proof(hashes, first)) for first in range(1, size + 1)] == [
        their_tree.consistency_proof(leaves, first) for first in range(1, size + 1)
    ]
