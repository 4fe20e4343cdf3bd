"""Whether a log has ever heard of a name that was asked for: a misspelt one must not look like an empty answer."""

from collections.abc import Collection, Iterator

import sqlalchemy as sa

from spectrace.store import tables
from spectrace.store.codec import header_text
from spectrace.store.listing import Listable
from spectrace.store.memory import MemoryEventStore


def never_heard_of(
    store: Listable, *, tools: Collection[str], envs: Collection[str]
) -> Iterator[tuple[str, str, list[str]]]:
    """Yield each tool and environment that no event names: what it is, its name, and the names that there are.

    Of a log in memory nothing is told: its names are kept nowhere apart.
    """
    if isinstance(store, MemoryEventStore):
        return
    for what, names, column in (
        ("tool", tools, tables.tools.c.name),
        ("environment", envs, tables.summaries.c.env),
    ):
        if not names:
            continue
        with store.database.reading() as connection:
            found = connection.scalars(sa.select(column).where(column.is_not(None)).distinct())
            known = sorted(str(one) for one in found)
        yield from ((what, name, known) for name in names if name not in known and header_text(name) not in known)
