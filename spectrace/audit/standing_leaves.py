"""How episodes lie in a database now, in the terms of their leaves: after as many events as each says.

Part of `proving`. All of it is asked in a few statements, whatever the number of episodes.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from spectrace.audit.leaves import Leaf, as_leaves
from spectrace.store import leaf_rows
from spectrace.store.leaf_rows import ADMINISTRATIVE, OPEN, Standing
from spectrace.store.statements import SEQ_MASK, key

Tree = Mapping[str, Sequence[Leaf]]
"""The leaves of each episode, in their order."""


@dataclass(frozen=True, slots=True)
class Stored:
    """An episode as it lies there: `leaf` after as many events as its newest leaf says, or as there are."""

    leaf: Leaf
    events: int
    """How many there are."""
    heads: Mapping[int, str]
    """The link after so many events, for each leaf's number of events that it reaches."""


def by_episode(leaves: Iterable[Leaf]) -> Tree:
    """Return the leaves of each episode, in their order."""
    found: dict[str, list[Leaf]] = defaultdict(list)
    for leaf in leaves:
        found[leaf.episode].append(leaf)
    return found


def in_database(connection: sa.Connection, tree: Tree) -> Mapping[str, Stored]:
    """Return how those of the episodes lie there that do."""
    there = {one.episode: one for one in leaf_rows.standings(connection) if one.episode in tree and _sane(one)}
    keys = [key(one.number, leaf.events - 1) for one in there.values() for leaf in tree[one.episode]]
    links = leaf_rows.links(connection, keys)
    grown = {name: one for name, one in there.items() if one.events > tree[name][-1].events}
    limits = [(one.number, tree[name][-1].events) for name, one in grown.items()]
    endings = leaf_rows.endings(connection, limits)
    found = {}
    shortened = [
        _at(one, tree[name][-1].events, links, endings) if name in grown else one for name, one in there.items()
    ]
    for leaf, (name, one) in zip(as_leaves(connection, shortened), there.items(), strict=True):
        heads = {one.events: _hex(links.get(key(there[name].number, one.events - 1))) for one in tree[name]}
        found[name] = Stored(leaf, one.events, {count: head for count, head in heads.items() if head})
    return found


def _at(one: Standing, events: int, links: Mapping[int, bytes], endings: Mapping[int, tuple[int, str]]) -> Standing:
    """Return how an episode stood after its first events."""
    ended_at, outcome = endings.get(one.number, (None, OPEN))
    status = ADMINISTRATIVE if one.status == ADMINISTRATIVE else outcome
    link = links.get(key(one.number, events - 1), b"")
    return one._replace(events=events, head=link, ended_at=ended_at, status=status)


def _sane(one: Standing) -> bool:
    """Whether the row holds what a row holds; one that does not is named by `integrity`."""
    return type(one.events) is int and 0 <= one.events <= SEQ_MASK + 1


def _hex(link: object) -> str:
    return link.hex() if type(link) is bytes else ""
