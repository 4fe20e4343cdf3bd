"""How far the newest checkpoint covers each episode. Counterpart of `checkpoints`, which makes them.

From FILE and FILE.leaves where a checkpoint is named, else from the database's own copy. This says what was signed
for, not that it is as it was: `verify --checkpoint` compares.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from spectrace.audit import checkpoint_files
from spectrace.audit.leaves import BadLeaf, read_leaf
from spectrace.core.notes import BadNote, parse_checkpoint, parse_note
from spectrace.errors import UsageError
from spectrace.store import tables
from spectrace.store.listing import Listable
from spectrace.store.memory import MemoryEventStore


@dataclass(frozen=True, slots=True)
class Covering:
    """What a checkpoint signs for: episode -> how many of its events."""

    events: Mapping[str, int]
    name: str
    """The checkpoint in words."""

    def lacking(self, episode: str, events: int) -> tuple[int, str] | None:
        """Return the first event that it does not cover, and why; None where it covers all."""
        known = self.events.get(episode, 0)
        if known >= events:
            return None
        return known, f"{self.name} does not have it" if not known else f"{self.name} has the events 0 to {known - 1}"


def covering(store: Listable, path: Path | None) -> Covering | None:
    """Return what the newest checkpoint covers; None where there is none. Raises UsageError for a file that is none."""
    if path is not None:
        return _from_file(store, path)
    if isinstance(store, MemoryEventStore):
        return None
    checkpoints = tables.checkpoints.c
    newest = sa.select(checkpoints.body).order_by(checkpoints.id.desc()).limit(1)
    with store.database.reading() as connection:
        body = connection.scalar(newest)
    if body is None:
        return None
    try:
        size = parse_checkpoint(parse_note(bytes(body).decode()).text).size
    except (BadNote, UnicodeDecodeError, TypeError):  # a copy that anybody may write: it covers nothing
        return Covering({}, "the database's copy of its newest checkpoint, which cannot be read,")
    return Covering(_kept(store, size), f"the newest checkpoint ({size} leaves)")


def _from_file(store: Listable, path: Path) -> Covering:
    try:
        held = checkpoint_files.read(path)
    except BadNote as error:
        raise UsageError(f"{path} is no checkpoint: {error}.") from None
    name, size = f"the checkpoint {path.name} ({held.checkpoint.size} leaves)", held.checkpoint.size
    if held.leaves is not None:
        return Covering(_events(held.leaves), name)
    if isinstance(store, MemoryEventStore):
        raise UsageError(
            f"{held.problem}, and a log in memory has no leaves of its own: what {name} covers is unknown."
        )
    return Covering(_kept(store, size), f"{name}, by the database's leaves since {held.problem},")


def _kept(store: Listable, size: int) -> dict[str, int]:
    if isinstance(store, MemoryEventStore):
        return {}
    column = tables.leaves.c
    query = sa.select(column.data).where(column.place < size).order_by(column.place)
    with store.database.reading() as connection:
        return _events(bytes(data) for data in connection.scalars(query.execution_options(yield_per=500)))


def _events(leaves: Iterable[bytes]) -> dict[str, int]:
    """Return the events of each episode by its last leaf; what is no leaf covers nothing."""
    found: dict[str, int] = {}
    for data in leaves:
        try:
            leaf = read_leaf(data)
        except BadLeaf:
            continue
        found[leaf.episode] = leaf.events
    return found
