"""Which episodes hold copies of which: forks, resumed episodes and re-verifications take over their parent's record.

As the first event of each says, or, where that is erased, what its summary kept. Counterpart of `families`, which
follows one line upward.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from spectrace.errors import StoreError
from spectrace.store import tables
from spectrace.store.bodies import unpacked
from spectrace.store.database import Database
from spectrace.store.decoding import parse
from spectrace.store.statements import key

_PAGE = 500


@dataclass(frozen=True, slots=True)
class Kin:
    """The parents and children of a log."""

    parents: Mapping[str, str]
    """Child -> parent, which may lie in another database."""
    children: Mapping[str, Sequence[str]]

    def descendants(self, episode: str) -> list[str]:
        """Return the episode's children, their children, and so on, each once."""
        found: list[str] = []
        left = list(self.children.get(episode, ()))
        while left:
            one = left.pop(0)
            if one != episode and one not in found:  # a log may name itself
                found.append(one)
                left += self.children.get(one, ())
        return found

    def family(self, episode: str) -> list[str]:
        """Return the episode with all that have a first ancestor in common with it."""
        first, seen = episode, {episode}
        while (parent := self.parents.get(first)) is not None and parent not in seen:
            first = parent
            seen.add(first)
        return list(dict.fromkeys([first, *self.descendants(first), episode]))


def kin(database: Database) -> Kin:
    """Return who is whose child."""
    parents = dict(_parents(database))
    children: dict[str, list[str]] = {}
    for child, parent in parents.items():
        children.setdefault(parent, []).append(child)
    return Kin(parents, children)


def _parents(database: Database) -> Iterator[tuple[str, str]]:
    column, event, summary = tables.episodes.c, tables.events.c, tables.summaries.c
    joined = tables.episodes.outerjoin(tables.events, event.key == column.number * key(1, 0)).outerjoin(
        tables.summaries, summary.number == column.number
    )
    query = sa.select(column.number, column.episode, event.codec, event.payload, summary.parent).select_from(joined)
    after = 0
    while True:
        with database.reading() as connection:
            page = connection.execute(query.where(column.number > after).order_by(column.number).limit(_PAGE)).all()
        for row in page:
            parent = row.parent if row.payload is None else _parent_in(unpacked(row.codec, row.payload))
            if isinstance(parent, str):
                yield row.episode, parent
        if len(page) < _PAGE:
            return
        after = page[-1].number


def _parent_in(body: bytes) -> str | None:
    try:
        value = parse(body)
    except StoreError:
        return None
    match value:
        case {"parent": {"episode": str(parent)}}:
            return parent
        case _:
            return None


def ids(database: Database, numbers: Iterable[int]) -> dict[int, str]:
    """Return the ids of episodes by their numbers."""
    wanted, column, found = sorted(set(numbers)), tables.episodes.c, {}
    with database.reading() as connection:
        for first in range(0, len(wanted), _PAGE):
            query = sa.select(column.number, column.episode).where(column.number.in_(wanted[first : first + _PAGE]))
            found.update({number: str(episode) for number, episode in connection.execute(query)})
    return found
