"""Leaves of the tree that checkpoints sign: how an episode stood, as one line of canonical JSON.

    [episode, project, started_at, ended_at or null, status, events, writes, head]

The tree is only appended to: an episode that moved since its last leaf gets another one, and each earlier one says a
prefix of its chain. `core.merkle` hashes them, `store.leaf_rows` asks the database, `checkpoints` signs the root.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import orjson
import sqlalchemy as sa

from spectrace.core import merkle
from spectrace.core.digest import checked_canonical
from spectrace.store import leaf_rows, sight
from spectrace.store.leaf_rows import Standing
from spectrace.store.names import is_episode_id
from spectrace.store.statements import key

_HEAD = re.compile("[0-9a-f]{64}")
_FIELDS = 8


class BadLeaf(ValueError):
    """Bytes that are no leaf."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """How an episode stood when a checkpoint was made; times in UTC microseconds, the head in hex."""

    episode: str
    project: str
    started_at: int
    ended_at: int | None
    status: str
    events: int
    writes: int
    head: str

    @property
    def data(self) -> bytes:
        """The bytes that are hashed."""
        told = (self.episode, self.project, self.started_at, self.ended_at, self.status, self.events, self.writes)
        return checked_canonical([*told, self.head])

    @property
    def state(self) -> tuple[int, str, int | None]:
        """What has to move for another leaf."""
        return self.events, self.head, self.ended_at


@dataclass(frozen=True, slots=True)
class Due:
    """The tree as it is kept, and the leaves that are to be added to it."""

    kept: tuple[bytes, ...]
    leaves: tuple[Leaf, ...]

    @property
    def data(self) -> tuple[bytes, ...]:
        """All leaves, the new ones behind the others."""
        return (*self.kept, *(leaf.data for leaf in self.leaves))


def read_leaf(data: bytes) -> Leaf:
    """Read a leaf; raise BadLeaf for what is none, or is not written as one is."""
    try:
        told = orjson.loads(data)
    except orjson.JSONDecodeError:
        raise BadLeaf("it is not JSON") from None
    match told:
        case [
            str(episode),
            str(project),
            int(started_at),
            int() | None as ended_at,
            str(status),
            int(events),
            int(writes),
            str(head),
        ] if is_episode_id(episode) and _HEAD.fullmatch(head) and events > 0 and not any(one is True for one in told):
            leaf = Leaf(episode, project, started_at, ended_at, status, events, writes, head)
        case _:
            raise BadLeaf(f"a leaf is a list of {_FIELDS} values, from the episode's id to its head")
    if leaf.data != data:
        raise BadLeaf("it is not written as canonical JSON")
    return leaf


def hashes(leaves: Iterable[bytes]) -> list[bytes]:
    """Return the leaf hashes of leaves."""
    return [merkle.leaf_hash(data) for data in leaves]


def leaves_due(connection: sa.Connection) -> Due:
    """Return the leaves that are there, and one for each episode that moved since its last one."""
    kept = leaf_rows.kept(connection)
    last = {row.episode: row.data for row in kept}
    moved = [one for one in leaf_rows.standings(connection) if _moved(one, last.get(one.episode))]
    return Due(tuple(row.data for row in kept), tuple(as_leaves(connection, moved)))


def as_leaves(connection: sa.Connection, standings: Sequence[Standing]) -> Iterator[Leaf]:
    """Yield the leaf of each."""
    writes = leaf_rows.writes(connection, [(one.number, one.events) for one in standings])
    for one in standings:
        head = one.head.hex() if type(one.head) is bytes else ""
        times = one.started_at, one.ended_at
        yield Leaf(one.episode, one.project, *times, one.status, one.events, writes.get(one.number, 0), head)


def strays(connection: sa.Connection, leaves: Iterable[Leaf]) -> Iterator[tuple[Leaf, int | None]]:
    """Yield the leaves that are no prefix of their episode as it is stored, and how many events it has (None: gone).

    Of a leaf whose episode the role is not shown nothing is said: it may be there.
    """
    project = sight.only_project(connection)
    there = {one.episode: one for one in leaf_rows.standings(connection)}
    found = [(leaf, there.get(leaf.episode)) for leaf in leaves]
    keys = [key(one.number, leaf.events - 1) for leaf, one in found if one is not None]
    links = leaf_rows.links(connection, keys)
    for leaf, one in found:
        if one is None and may_hide(leaf, project):
            continue
        if one is None:
            yield leaf, None
        elif one.events < leaf.events or links.get(key(one.number, leaf.events - 1)) != bytes.fromhex(leaf.head):
            yield leaf, one.events


def may_hide(leaf: Leaf, project: str | None) -> bool:
    """Whether the role that is shown one project alone is not shown the episode of a leaf."""
    return project is not None and leaf.status != leaf_rows.ADMINISTRATIVE and leaf.project != project


def _moved(one: Standing, last: bytes | None) -> bool:
    if one.events < 1:
        return False
    if last is None:
        return True
    try:
        leaf = read_leaf(last)
    except BadLeaf:
        return True
    return leaf.state != (one.events, one.head.hex() if type(one.head) is bytes else "", one.ended_at)
