"""What a bundle's own checkpoint, and one from elsewhere, say of its episodes (FORMAT.md, sections 9 to 11).

Leaves are bound by the signed root, so they may come from the bundle. Its note says what it says: with a key, it counts
if that key signed it. A checkpoint that the verifier holds is what the bundle's maker could not choose: the leaves must
have its root, too, at its size; then both are of one history that was only appended to.

A bundle is dated by its own checkpoint, if the key signed that: what was signed later cannot be in it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from spectrace.audit.checkpoint_files import Held
from spectrace.audit.leaves import BadLeaf, Leaf, hashes, read_leaf
from spectrace.audit.signing import signed_by
from spectrace.audit.standing_leaves import Tree, by_episode
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
    """What is signed for, and what of it the bundle must have."""

    leaves: Tree
    """All leaves of each episode."""
    least: Mapping[str, Leaf]
    """Each episode's newest leaf when the bundle was made: by its own checkpoint, else by the one that is held."""
    at: int | None
    """When that checkpoint was signed."""
    dated: bool = True
    """False: no checkpoint that the key signed says when the bundle was made."""

    def reached(self, episode: str, events: int) -> Leaf | None:
        """Return the newest leaf of an episode that is of no more than so many events."""
        return next((one for one in reversed(self.leaves.get(episode, ())) if one.events <= events), None)

    def missing(self, period: Period, there: Collection[str]) -> list[Leaf]:
        """Return the newest leaves of the runs of a period that are not among those that are there."""
        newest = (leaves[-1] for name, leaves in self.leaves.items() if name not in there)
        return [one for one in newest if one.status != ADMINISTRATIVE and period.holds(one.started_at)]


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
        return _covered(own.leaves, own.leaves, own.checkpoint)
    if not signed_by(held.note, key):
        raise Unproved(f"{held.path.name} was not signed by {key.name} ({key.id.hex()})")
    size, root = held.checkpoint.size, held.checkpoint.root
    if own is None:
        if held.leaves is None:
            raise Unproved(f"it has no leaves, and {held.problem}")
        return _covered(held.leaves, held.leaves, held.checkpoint, dated=False)
    if own.checkpoint.size >= size:
        if merkle.root(hashes(own.leaves[:size])) != root:
            raise Damage(_differs(held))
        leaves = own.leaves if signed else own.leaves[:size]
        return _covered(leaves, leaves, own.checkpoint if signed else held.checkpoint)
    if held.leaves is None:
        raise Unproved(
            f"{held.path.name} is newer than it ({size:,} leaves, here {own.checkpoint.size:,}), and {held.problem}"
        )
    if held.leaves[: own.checkpoint.size] != own.leaves:
        raise Damage(_differs(held))
    if signed:
        return _covered(held.leaves, own.leaves, own.checkpoint)
    return _covered(held.leaves, held.leaves, held.checkpoint, dated=False)


def _covered(leaves: Sequence[bytes], least: Sequence[bytes], by: Checkpoint, *, dated: bool = True) -> Covered:
    tree = by_episode(_read(leaves))
    return Covered(tree, {leaf.episode: leaf for leaf in _read(least)}, by.at, dated)


def _differs(held: Held) -> str:
    return (
        f"its leaves are not those that {held.path.name} was signed over: it is of another log "
        f"({held.checkpoint.origin} was signed), or of a log that was rewritten."
    )


def _read(leaves: Sequence[bytes]) -> list[Leaf]:
    found = []
    for place, data in enumerate(leaves):
        try:
            found.append(read_leaf(data))
        except BadLeaf as error:
            raise Damage(f"leaf {place} of its checkpoint is none: {error}.") from None
    return found
