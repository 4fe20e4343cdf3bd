"""What a bundle's own checkpoint, and one from elsewhere, say of its episodes (FORMAT.md, sections 9 to 11).

Leaves are bound by the signed root, so they may come from the bundle. Its note says what it says: with a key, it counts
if that key signed it. A checkpoint that the verifier holds is what the bundle's maker could not choose: the leaves must
have its root, too, at its size; then both are of one history that was only appended to.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spectrace.audit.checkpoint_files import Held
from spectrace.audit.leaves import BadLeaf, Leaf, hashes, read_leaf
from spectrace.audit.signing import signed_by
from spectrace.core import merkle
from spectrace.core.notes import BadNote, Checkpoint, Key, Note, parse_checkpoint, parse_note
from spectrace.store.bundle_checkpoint import PROOFS, BundleCheckpoint
from spectrace.store.leaf_rows import ADMINISTRATIVE
from spectrace.store.manifest import Period
from spectrace.store.rows import Damage


class Unproved(Exception):
    """Nothing is known: no signature by that key, or no leaves at hand."""


@dataclass(frozen=True, slots=True)
class Carried:
    """The checkpoint in a bundle, found to be of one piece: its leaves have its root, its proofs lead to it."""

    note: Note
    checkpoint: Checkpoint
    leaves: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Covered:
    """What is signed for: each episode's newest leaf."""

    leaves: Mapping[str, Leaf]

    def left_out(self, period: Period, there: Sequence[str]) -> list[Leaf]:
        """Return the runs of a period that are not among those that are there."""
        missing = (leaf for name, leaf in self.leaves.items() if name not in set(there))
        return [one for one in missing if one.status != ADMINISTRATIVE and period.holds(one.started_at)]


def carried(held: BundleCheckpoint) -> Carried:
    """Return a bundle's checkpoint; raise Damage where its parts are not of each other."""
    try:
        note = parse_note(held.note)
        checkpoint = parse_checkpoint(note.text)
    except BadNote as error:
        raise Damage(f"its checkpoint is none: {error}.") from None
    leaf_hashes = hashes(held.leaves)
    if len(held.leaves) != checkpoint.size or merkle.root(leaf_hashes) != checkpoint.root:
        raise Damage(f"its {len(held.leaves):,} leaves are not the {checkpoint.size:,} that its checkpoint is of.")
    newest = {leaf.episode: place for place, leaf in enumerate(_read(held.leaves))}
    for name, one in held.proofs.items():
        place, size = newest.get(name), checkpoint.size
        if place != one.index or not merkle.verify_inclusion(
            leaf_hashes[one.index], one.index, size, one.hashes, checkpoint.root
        ):
            raise Damage(f"what {PROOFS} says of {name[:80]} does not lead from its newest leaf to the root.")
    return Carried(note, checkpoint, held.leaves)


def covered(own: Carried | None, held: Held | None, key: Key) -> Covered:
    """Return what the key signed for; raise Unproved where nothing is known, Damage where the histories differ."""
    signed = own is not None and signed_by(own.note, key)
    if held is None:
        if own is None:
            raise Unproved("it has no checkpoint; give the one that you hold: --checkpoint FILE")
        if not signed:
            raise Unproved(f"its checkpoint was not signed by {key.name} ({key.id.hex()})")
        return Covered(_newest(own.leaves))
    if not signed_by(held.note, key):
        raise Unproved(f"{held.path.name} was not signed by {key.name} ({key.id.hex()})")
    size, root = held.checkpoint.size, held.checkpoint.root
    if own is None:
        if held.leaves is None:
            raise Unproved(f"it has no leaves, and {held.problem}")
        return Covered(_newest(held.leaves))
    if own.checkpoint.size >= size:
        if merkle.root(hashes(own.leaves[:size])) != root:
            raise Damage(_differs(held))
        return Covered(_newest(own.leaves if signed else own.leaves[:size]))
    if held.leaves is None:
        raise Unproved(
            f"{held.path.name} is newer than it ({size:,} leaves, here {own.checkpoint.size:,}), and {held.problem}"
        )
    if held.leaves[: own.checkpoint.size] != own.leaves:
        raise Damage(_differs(held))
    return Covered(_newest(held.leaves))


def _differs(held: Held) -> str:
    return (
        f"its leaves are not those that {held.path.name} was signed over: it is of another log "
        f"({held.checkpoint.origin} was signed), or of a log that was rewritten."
    )


def _newest(leaves: Sequence[bytes]) -> dict[str, Leaf]:
    return {leaf.episode: leaf for leaf in _read(leaves)}


def _read(leaves: Sequence[bytes]) -> list[Leaf]:
    found = []
    for place, data in enumerate(leaves):
        try:
            found.append(read_leaf(data))
        except BadLeaf as error:
            raise Damage(f"leaf {place} of its checkpoint is none: {error}.") from None
    return found
