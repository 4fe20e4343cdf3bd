"""What stands in a SQLite file where a table of the log belongs: a view, a virtual table, a column that is computed.

Whoever made the file may have put them there: a view over a query that never ends holds up any reader, and one that
chooses its rows answers differently from what is stored. So such a file is refused before anything is read from it,
and `db check` names them. Counterpart of `strangers`, which asks what acts on the tables when they are written.
SQLite also keeps any kind of value in any column: `wrong_kinds` finds those that no spectrace wrote.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa

from spectrace.errors import StoreError
from spectrace.store import tables

_NAMES = frozenset((*tables.metadata.tables, "alembic_version"))
_KINDS = "SELECT name, type, sql FROM sqlite_schema WHERE type IN ('table', 'view')"
_COMPUTED = "SELECT name FROM pragma_table_xinfo(?) WHERE hidden <> 0"
_SIDES = ("-wal", "-journal")


def found(path: Path, *, evidence: bool = False) -> list[str]:
    """Return what stands in place of a table in a SQLite file; nothing for a file that is none, or damaged.

    Whoever reads that next says so. `evidence`: nothing is left beside the file, and what lies there is not looked at.
    """
    beside = not evidence and any(_size(path.with_name(path.name + side)) for side in _SIDES)
    name = f"file:{quote(str(path))}?mode=ro{'' if beside else '&immutable=1'}"
    try:
        with closing(sqlite3.connect(name, uri=True)) as connection:
            return sorted(_stand_ins(connection))
    except sqlite3.Error:
        return []


def said(named: Sequence[str]) -> str:
    """Return a sentence on what was found."""
    return (
        f"expected tables, found {', '.join(named)}: spectrace made none of that, and nothing is read through it. "
        "`spectrace db restore` puts a backup back; ask whoever gave you the file"
    )


def refuse(path: Path, *, evidence: bool = False) -> None:
    """Raise StoreError for a SQLite file in which anything stands in place of a table."""
    if path.is_file() and (named := found(path, evidence=evidence)):
        raise StoreError(f"database {path}: {said(named)}.")


def wrong_kinds(connection: sa.Connection) -> str | None:
    """Return which columns of a SQLite file hold values of another kind than theirs; None where none does."""
    if connection.dialect.name != "sqlite":
        return None
    odd = [
        f"{count} in {table.name}.{column}"
        for table in tables.metadata.sorted_tables
        for column, count in zip(table.columns.keys(), _counts(connection, table), strict=True)
        if count
    ]
    if not odd:
        return None
    return f"values of another kind than their column's: {', '.join(odd)}: somebody altered them"


def _counts(connection: sa.Connection, table: sa.Table) -> Sequence[int | None]:
    looks = [
        sa.func.sum(sa.func.typeof(sa.type_coerce(one, sa.LargeBinary)).not_in((_kind(one), "null")))
        for one in table.columns
    ]
    row = connection.execute(sa.select(*looks).select_from(table)).one()
    return [int(count) if count is not None else None for count in row]


def _kind(column: sa.Column[Any]) -> str:
    if isinstance(column.type, sa.LargeBinary):
        return "blob"
    return "integer" if isinstance(column.type, sa.Integer | sa.Boolean) else "text"


def _stand_ins(connection: sqlite3.Connection) -> Iterator[str]:
    for name, kind, text in connection.execute(_KINDS).fetchall():
        if str(name).lower() not in _NAMES:
            continue
        if kind == "view":
            yield f"the view {name}"
        elif str(text).upper().split()[:2] == ["CREATE", "VIRTUAL"]:
            yield f"the virtual table {name}"
        else:
            yield from (f"the computed column {name}.{one}" for (one,) in connection.execute(_COMPUTED, (name,)))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
