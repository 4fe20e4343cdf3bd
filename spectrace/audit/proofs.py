"""Proofs as files that need nothing else but a key: that an episode is in a checkpoint, that one follows another.

Inclusion is a C2SP tlog-proof, with the leaf as its extra data, so that other tools verify it; consistency is the body
of a C2SP tlog-witness request (`old SIZE`, the proof, the new checkpoint). Both hold the signed checkpoint verbatim.
"""

import base64
import re
from dataclasses import dataclass
from pathlib import Path

from spectrace.audit.leaves import BadLeaf, Leaf, read_leaf
from spectrace.audit.signing import signed_by
from spectrace.core import merkle
from spectrace.core.notes import BadNote, Checkpoint, Key, Note, decoded, parse_checkpoint, parse_note
from spectrace.errors import UsageError

_INCLUSION = "c2sp.org/tlog-proof@v1"
_NUMBER = re.compile(r"0|[1-9][0-9]{0,15}")
_MAX_BYTES = 1 << 20
_MAX_HASHES = 128


@dataclass(frozen=True, slots=True)
class Inclusion:
    """An episode's leaf, its place, and the path to the root of a checkpoint."""

    leaf: bytes
    index: int
    hashes: tuple[bytes, ...]
    note: Note

    def __str__(self) -> str:
        """Write it as a tlog-proof."""
        return _written([_INCLUSION, f"extra {_encoded(self.leaf)}", f"index {self.index}"], self.hashes, self.note)


@dataclass(frozen=True, slots=True)
class Consistency:
    """That the tree of `size` leaves is what a checkpoint's tree begins with."""

    size: int
    hashes: tuple[bytes, ...]
    note: Note

    def __str__(self) -> str:
        """Write it as the body of a witness request."""
        return _written([f"old {self.size}"], self.hashes, self.note)


Proof = Inclusion | Consistency


@dataclass(frozen=True, slots=True)
class Proved:
    """What a proof proves; `detail` says why nothing where `ok` is False."""

    ok: bool
    detail: str
    leaf: Leaf | None = None


def read_proof(path: Path) -> Proof:
    """Read a proof; raise UsageError for what is none."""
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_BYTES + 1).decode()
        return parse_proof(text)
    except OSError as error:
        raise UsageError(f"the proof {path} cannot be read: {error.strerror}.") from None
    except (BadNote, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no proof: {error}.") from None


def parse_proof(text: str) -> Proof:
    """Read a proof; raise BadNote with what is wrong."""
    head, between, rest = text.partition("\n\n")
    if not between or len(text) > _MAX_BYTES:
        raise BadNote("a proof is some lines, an empty one and a signed checkpoint")
    note, lines = parse_note(rest), head.split("\n")
    parse_checkpoint(note.text)
    if lines[0] == _INCLUSION:
        if len(lines) < 3 or not lines[1].startswith("extra "):  # noqa: PLR2004 - the three that there must be
            raise BadNote("it does not hold the leaf that it proves (a line `extra`)")
        leaf, index = decoded(lines[1].removeprefix("extra ")), _number("index", lines[2])
        return Inclusion(leaf, index, _hashes(lines[3:]), note)
    return Consistency(_number("old", lines[0]), _hashes(lines[1:]), note)


def check(proof: Proof, key: Key, held: Note | None = None) -> Proved:
    """Return what a proof proves to who has the key, and a checkpoint: one in a file of its own, or the proof's."""
    for note in (proof.note, *([held] if held is not None else [])):
        if not signed_by(note, key):
            return Proved(False, f"a checkpoint in it is not signed by {key.name}+{key.id.hex()}")
    checkpoint = parse_checkpoint(proof.note.text)
    match proof:
        case Inclusion():
            return _included(proof, checkpoint, held)
        case Consistency():
            return _consistent(proof, checkpoint, held)


def _included(proof: Inclusion, checkpoint: Checkpoint, held: Note | None) -> Proved:
    if held is not None and parse_checkpoint(held.text) != checkpoint:
        return Proved(False, "the proof leads to another checkpoint than the one given")
    if not merkle.verify_inclusion(
        merkle.leaf_hash(proof.leaf), proof.index, checkpoint.size, proof.hashes, checkpoint.root
    ):
        return Proved(False, f"the path does not lead from the leaf at {proof.index} to the signed root")
    try:
        leaf = read_leaf(proof.leaf)
    except BadLeaf as error:
        return Proved(False, f"what it proves is no leaf of an episode: {error}")
    return Proved(True, f"{leaf.episode} with {leaf.events} events and the head {leaf.head} was signed", leaf)


def _consistent(proof: Consistency, checkpoint: Checkpoint, held: Note | None) -> Proved:
    if held is None:
        return Proved(False, "a consistency proof leads from an earlier checkpoint: give that one")
    old = parse_checkpoint(held.text)
    same = old.origin == checkpoint.origin and old.size == proof.size
    if not same or not merkle.verify_consistency(old.size, checkpoint.size, proof.hashes, old.root, checkpoint.root):
        return Proved(
            False,
            f"it does not lead from {old.size} leaves with the root {old.root.hex()} to {checkpoint.size} with the "
            f"root {checkpoint.root.hex()}",
        )
    return Proved(True, f"the {checkpoint.size} leaves begin with the {old.size} that were signed before")


def _written(lines: list[str], hashes: tuple[bytes, ...], note: Note) -> str:
    return "".join(f"{line}\n" for line in (*lines, *map(_encoded, hashes))) + f"\n{note}"


def _hashes(lines: list[str]) -> tuple[bytes, ...]:
    found = tuple(map(decoded, lines))
    if len(found) > _MAX_HASHES or any(len(one) != merkle.HASH_BYTES for one in found):
        raise BadNote(f"its hashes are lines of {merkle.HASH_BYTES} bytes in base64, {_MAX_HASHES} at most")
    return found


def _number(name: str, line: str) -> int:
    said = line.removeprefix(f"{name} ")
    if said == line or not _NUMBER.fullmatch(said):
        raise BadNote(f"a line `{name} NUMBER` was expected, found {line[:60]!r}")
    return int(said)


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()
