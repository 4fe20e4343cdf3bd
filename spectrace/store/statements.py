"""The SQL of the append path, written out once per database and batch size.

One statement carries all rows of a table: on Postgres a multi-row VALUES is four times an executemany (measured), and
building statements anew with Core costs more than running them.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property

import sqlalchemy as sa

from spectrace.store import tables

ROWS_AT_ONCE = 500
"""13 parameters a row: under SQLite's 32,766 and Postgres's 65,535 parameters a statement."""

SEQ_MASK = (1 << tables.SEQ_BITS) - 1
"""The part of a key that is the event's number in its episode."""

Values = tuple[object, ...]


class Statements:
    """Texts for one dialect."""

    def __init__(self, dialect: sa.Dialect) -> None:
        """Use the dialect's quoting and placeholders."""
        self._quote = dialect.identifier_preparer.quote
        self._mark = "?" if dialect.paramstyle == "qmark" else "%s"
        self._inserts: dict[tuple[str, int], str] = {}

    def insert(
        self, connection: sa.Connection, table: sa.Table, rows: Sequence[Values], *, ignore: bool = False
    ) -> None:
        """Insert the rows, in column order; with `ignore`, those already there are left alone."""
        for chunk in _chunks(rows):
            text = self._inserts.get((table.name, len(chunk))) or self._insert(table, len(chunk), ignore=ignore)
            connection.exec_driver_sql(text, tuple(value for row in chunk for value in row))

    @cached_property
    def grow(self) -> str:
        """An episode got events: (events, head, lease, ended) where (number, events before)."""
        return self._text(
            "UPDATE episodes SET events = ?, head = ?, lease_until = ?, ended_at = coalesce(?, ended_at) "
            "WHERE number = ? AND events = ?"
        )

    @cached_property
    def renew(self) -> str:
        """The writer lives, or lets go: (lease) where (number)."""
        return self._text("UPDATE episodes SET lease_until = ? WHERE number = ?")

    def _text(self, text: str) -> str:
        return text.replace("?", self._mark)

    def _insert(self, table: sa.Table, rows: int, *, ignore: bool) -> str:
        names = ", ".join(self._quote(column.name) for column in table.columns)
        row = f"({', '.join([self._mark] * len(table.columns))})"
        tail = " ON CONFLICT DO NOTHING" if ignore else ""
        text = f"INSERT INTO {table.name} ({names}) VALUES {', '.join([row] * rows)}{tail}"  # noqa: S608 - our own names
        self._inserts[table.name, rows] = text
        return text


def key(number: int, seq: int) -> int:
    """Return an event's key."""
    return number << tables.SEQ_BITS | seq


def _chunks(rows: Sequence[Values]) -> Iterator[Sequence[Values]]:
    for first in range(0, len(rows), ROWS_AT_ONCE):
        yield rows[first : first + ROWS_AT_ONCE]
