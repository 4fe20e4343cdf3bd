"""Which checkpoint goes into a bundle, with all leaves of its tree and a proof for each episode. See `store.bundle`.

The newest one that is kept in the database, or the file that is given, which may lie where nobody who can write the
database reaches. Leaves are taken from beside the file, else from the database; either way they have the root that was
signed, so where they come from is no matter.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from spectrace.audit import checkpoint_files
from spectrace.audit.leaves import hashes
from spectrace.core import merkle
from spectrace.core.notes import BadNote, parse_checkpoint, parse_note
from spectrace.errors import StoreError, UsageError
from spectrace.store import leaf_rows, tables
from spectrace.store.bundle_checkpoint import BundleCheckpoint, Inclusion, episode_of
from spectrace.store.sql import SqlEventStore


@dataclass(frozen=True, slots=True)
class Tree:
    """A signed note, and the leaves that its root is of."""

    note: str
    leaves: tuple[bytes, ...]

    def proved(self, episodes: Iterable[str]) -> BundleCheckpoint:
        """Return what goes into a bundle with these episodes; one without a leaf is newer and has no proof."""
        newest = {episode_of(leaf): place for place, leaf in enumerate(self.leaves)}
        wanted = {name: newest[name] for name in sorted(set(episodes) & newest.keys())}
        paths = inclusion_proofs(hashes(self.leaves), set(wanted.values()))
        proofs = {name: Inclusion(place, paths[place]) for name, place in wanted.items()}
        return BundleCheckpoint(self.note, self.leaves, proofs)


def given(path: Path, store: SqlEventStore) -> Tree:
    """Return the checkpoint in a file; raise UsageError where it is none, or its leaves are nowhere."""
    try:
        held = checkpoint_files.read(path)
    except BadNote as error:
        raise UsageError(f"{path} is no checkpoint: {error}.") from None
    if held.leaves is not None:
        return Tree(str(held.note), held.leaves)
    leaves = _kept_leaves(store)[: held.checkpoint.size]
    if len(leaves) < held.checkpoint.size or merkle.root(hashes(leaves)) != held.checkpoint.root:
        raise UsageError(
            f"the leaves of {path} are not at hand: {held.problem}, and those of the database are others. Give the "
            f"checkpoint with its file {checkpoint_files.leaves_file(path).name}; "
            f"`spectrace verify --all --checkpoint {path} --key PUB` says what differs."
        )
    return Tree(str(held.note), leaves)


def newest(store: SqlEventStore) -> Tree | None:
    """Return the newest checkpoint that the database keeps; raise StoreError where it is not of its leaves."""
    with store.database.reading() as connection:
        column = tables.checkpoints.c
        body = connection.scalar(sa.select(column.body).order_by(column.id.desc()).limit(1))
    if body is None:
        return None
    try:
        note = parse_note(bytes(body).decode())
        checkpoint = parse_checkpoint(note.text)
    except (BadNote, UnicodeDecodeError, TypeError) as error:
        raise StoreError(f"the checkpoint that the database keeps cannot be read: {error}. {_GIVE}") from None
    leaves = _kept_leaves(store)[: checkpoint.size]
    if len(leaves) < checkpoint.size or merkle.root(hashes(leaves)) != checkpoint.root:
        raise StoreError(f"the leaves in the database are not those that its last checkpoint signed. {_GIVE}")
    return Tree(str(note), leaves)


_GIVE = "Give the file that is kept elsewhere: --checkpoint FILE."


def inclusion_proofs(leaf_hashes: Sequence[bytes], places: Collection[int]) -> Mapping[int, tuple[bytes, ...]]:
    """Return the audit paths of many leaves (RFC 6962, 2.1.1); the tree is hashed once for all of them."""
    paths: dict[int, list[bytes]] = {place: [] for place in places}
    level, depth = list(leaf_hashes), 0
    while len(level) > 1:
        for place, path in paths.items():
            sibling = (place >> depth) ^ 1
            if sibling < len(level):
                path.append(level[sibling])
        pairs = zip(level[::2], level[1::2], strict=False)
        above = [merkle.node_hash(left, right) for left, right in pairs]
        level, depth = above + level[len(above) * 2 :], depth + 1
    return {place: tuple(path) for place, path in paths.items()}


def _kept_leaves(store: SqlEventStore) -> tuple[bytes, ...]:
    with store.database.reading() as connection:
        return tuple(row.data for row in leaf_rows.kept(connection))
