"""Whether a database has every table, column and index that its revision makes (`db check`)."""

from collections.abc import Iterator

import sqlalchemy as sa

from spectrace.store import tables

_MADE_ANEW = {table.name for table in (tables.summaries, tables.segments, tables.actions, tables.search)}
"""Projections: they hold nothing that the events do not."""


def problems(connection: sa.Connection) -> str | None:
    """Return what is missing, and what to do; None where all is there."""
    missing = list(_missing(sa.inspect(connection)))
    if not missing:
        return None
    recorded = [what for table, what in missing if table is not None and table not in _MADE_ANEW]
    named = ", ".join(what for _, what in missing)
    if recorded:
        return f"missing: {named}. Somebody dropped or renamed that: `spectrace db restore` puts a backup back"
    return (
        f"missing: {named}. Somebody dropped or renamed that, and nothing recorded is in it: `spectrace db copy` into "
        "a new database makes it anew"
    )


def _missing(there: sa.Inspector) -> Iterator[tuple[str | None, str]]:
    """Yield the table of each thing that is missing (of an index None: it holds nothing), and its name."""
    names = set(there.get_table_names())
    for table in tables.metadata.sorted_tables:
        if table.name not in names:
            yield table.name, f"table {table.name}"
            continue
        columns = {column["name"] for column in there.get_columns(table.name)}
        yield from ((table.name, f"column {table.name}.{one.name}") for one in table.columns if one.name not in columns)
        indexes = {index["name"] for index in there.get_indexes(table.name)}
        yield from ((None, f"index {one.name}") for one in table.indexes if one.name not in indexes)
