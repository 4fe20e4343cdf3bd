"""Numbers for the types and tools that somebody else's events bring along. Counterpart of `names`, which reads them.

A type that this spectrace does not know is kept, so it needs a number in this database: from 10,000 on, as those below
are for types that a later version may bring. Numbers lie outside the chain and never leave the database.
"""

import sqlalchemy as sa

from spectrace.errors import StoreError
from spectrace.store import tables
from spectrace.store.database import Database

FIRST = 10_000
_LAST = 2**15 - 1
_LOCK = 7307219
"""Postgres: two that give out numbers at once would choose the same one."""


def type_numbers(connection: sa.Connection, names: set[str]) -> dict[str, int]:
    """Return the numbers of types, given out where they are new; inside the transaction that uses them."""
    column, found = tables.types.c, dict[str, int]()
    query = sa.select(column.name, column.number).where(column.name.in_(sorted(names)))
    found.update((name, number) for name, number in connection.execute(query))
    if len(found) == len(names):
        return found
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
        found.update((name, number) for name, number in connection.execute(query))
    highest = connection.scalar(sa.select(sa.func.max(column.number))) or 0
    for number, name in enumerate(sorted(names - set(found)), max(highest + 1, FIRST)):
        if number > _LAST:
            raise StoreError(
                f"no number is left for the event type {name[:80]!r}: the database holds {_LAST - FIRST:,} types that "
                "no version of spectrace has. Store these episodes in a database of their own."
            )
        connection.execute(tables.types.insert().values(number=number, name=name))
        found[name] = number
    return found


def tool_ids(database: Database, connection: sa.Connection, names: set[str]) -> dict[str, int]:
    """Return the ids of tools, given out where they are new; inside the transaction that uses them."""
    column, found = tables.tools.c, dict[str, int]()
    query = sa.select(column.name, column.id).where(column.name.in_(sorted(names)))
    found.update((name, number) for name, number in connection.execute(query))
    new = sorted(names - set(found))
    if new:
        insert = database.insert(tables.tools).on_conflict_do_nothing()
        connection.execute(insert, [{"name": name} for name in new])
        found.update((name, number) for name, number in connection.execute(query))
    return found
