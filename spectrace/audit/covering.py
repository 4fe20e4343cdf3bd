"""How far the newest checkpoint covers each episode. Counterpart of `checkpoints`, which makes them.

From FILE and FILE.leaves where a checkpoint is named, else from the database's own copy, which whoever writes the
database may write too: that is said. This says what was signed for, not that it is as it was: `verify --checkpoint`
compares.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import sqlalchemy as sa

from spectrace.audit import checkpoint_files
from spectrace.audit.leaves import BadLeaf, hashes, read_leaf
from spectrace.audit.signing import signed_by
from spectrace.core import merkle
from spectrace.core.notes import BadNote, Checkpoint, Key, parse_checkpoint, parse_note
from spectrace.errors import UsageError
from spectrace.store import tables
from spectrace.store.leaf_rows import ADMINISTRATIVE
from spectrace.store.listing import Listable
from spectrace.store.sql import SqlEventStore

OWN_WORD = (
    "what is covered is told by the database's own copy of its newest checkpoint: nothing outside it was asked; "
    "--checkpoint FILE and --key PUB do"
)


@dataclass(frozen=True, slots=True)
class Covering:
    """What a checkpoint signs for: episode -> how many of its events."""

    events: Mapping[str, int]
    name: str
    """The checkpoint in words."""
    doubt: str | None = None
    """Why that may not be so: nothing outside the database says it, or nobody is known to have signed it."""
    projects: Mapping[str, str] = field(default_factory=dict)
    """The project of each run, by its last leaf."""

    def lacking(self, episode: str, events: int) -> tuple[int, str] | None:
        """Return the first event that it does not cover, and why; None where it covers all."""
        known = self.events.get(episode, 0)
        if known >= events:
            return None
        return known, f"{self.name} does not have it" if not known else f"{self.name} has the events 0 to {known - 1}"


def covering(store: Listable, path: Path | None, key: Key | None = None) -> Covering | None:
    """Return what the newest checkpoint covers; None where there is none. Raises UsageError for a file that is none.

    `key` is that of who must have signed the file.
    """
    if path is not None:
        return _from_file(store, path, key)
    if not isinstance(store, SqlEventStore):
        return None
    checkpoints = tables.checkpoints.c
    newest = sa.select(checkpoints.body).order_by(checkpoints.id.desc()).limit(1)
    with store.database.reading() as connection:
        body = connection.scalar(newest)
    if body is None:
        return None
    try:
        said = parse_checkpoint(parse_note(bytes(body).decode()).text)
    except (BadNote, UnicodeDecodeError, TypeError):  # a copy that anybody may write: it covers nothing
        return Covering({}, "the database's copy of its newest checkpoint, which cannot be read,", OWN_WORD)
    return _by_leaves(store, said, f"the newest checkpoint ({said.size} leaves)", OWN_WORD)


def _from_file(store: Listable, path: Path, key: Key | None) -> Covering:
    try:
        held = checkpoint_files.read(path)
    except BadNote as error:
        raise UsageError(f"{path} is no checkpoint: {error}.") from None
    name = f"the checkpoint {path.name} ({held.checkpoint.size} leaves)"
    if key is not None and not signed_by(held.note, key):
        return Covering({}, f"{name}, which the key {key.name} did not sign,")
    doubt = None if key is not None else f"{path.name} is taken at its word: --key PUB tells whether it is signed"
    if held.leaves is not None:
        return _covers(held.leaves, name, doubt)
    if not isinstance(store, SqlEventStore):
        raise UsageError(
            f"{held.problem}, and a log in memory has no leaves of its own: what {name} covers is unknown."
        )
    return _by_leaves(store, held.checkpoint, f"{name}, by the database's leaves since {held.problem},", doubt)


def _by_leaves(store: SqlEventStore, said: Checkpoint, name: str, doubt: str | None) -> Covering:
    """Return what it covers by the leaves that the database keeps, if they have the root that was signed."""
    column = tables.leaves.c
    query = sa.select(column.data).where(column.place < said.size).order_by(column.place)
    with store.database.reading() as connection:
        kept = [data for data in connection.scalars(query) if type(data) is bytes]
    if len(kept) != said.size or merkle.root(hashes(kept)) != said.root:
        return Covering({}, f"{name.rstrip(',')}, whose root the database's leaves do not have,", doubt)
    return _covers(kept, name, doubt)


def _covers(leaves: Iterable[bytes], name: str, doubt: str | None) -> Covering:
    """Return the events of each episode by its last leaf; what is no leaf covers nothing."""
    events: dict[str, int] = {}
    projects: dict[str, str] = {}
    for data in leaves:
        try:
            leaf = read_leaf(data)
        except BadLeaf:
            continue
        events[leaf.episode] = leaf.events
        if leaf.status != ADMINISTRATIVE:
            projects[leaf.episode] = leaf.project
    return Covering(events, name, doubt, projects)
