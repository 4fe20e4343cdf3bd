"""The SQL of the append path, written out once per database and batch size.

One statement carries all rows of a table: on Postgres a multi-row VALUES is four times an executemany (measured), and
building statements anew with Core costs more than running them.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import count

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from spectrace.errors import StoreError
from spectrace.store import tables

ROWS_AT_ONCE = 500
"""13 parameters a row: under SQLite's 32,766 and Postgres's 65,535 parameters a statement."""

REMEMBERED = 256
"""Shapes of the one statement that are kept."""

LEASE_US = 60_000_000
"""Renewed every 10 s by the driver and by every append; a writer silent for six renewals is taken for dead."""

FENCED = -1
"""A lease of an episode of which something was erased while nobody wrote it: its writer, if it only slept, is too late.

Whoever takes the episode up again gets a lease of his own."""

UNKEPT = "division by zero"
"""What Postgres says where the one statement was not kept whole."""

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
        self._appends: dict[tuple[int, int, int], str] = {}

    def insert(
        self, connection: sa.Connection, table: sa.Table, rows: Sequence[Values], *, ignore: bool = False
    ) -> None:
        """Insert the rows, in column order; with `ignore`, those already there are left alone."""
        for chunk in _chunks(rows):
            text = self._inserts.get((table.name, len(chunk))) or self._insert(table, len(chunk), ignore=ignore)
            done = connection.exec_driver_sql(text, tuple(value for row in chunk for value in row))
            if not ignore and done.rowcount != len(chunk):
                raise StoreError(
                    f"the database kept {done.rowcount} of {len(chunk)} rows of {table.name} and said nothing: "
                    "something that spectrace did not make (a trigger, a rule) acts on it. `spectrace db check` names "
                    "it."
                )

    @cached_property
    def grow(self) -> str:
        """An episode got events: (events, head, lease, ended) where (number, events before)."""
        return self._text(
            "UPDATE episodes SET events = ?, head = ?, lease_until = ?, ended_at = coalesce(?, ended_at) "  # noqa: S608 - our own number
            f"WHERE number = ? AND events = ? AND lease_until <> {FENCED}"
        )

    @cached_property
    def renew(self) -> str:
        """The writer lives, or lets go: (lease) where (number)."""
        return self._text(
            f"UPDATE episodes SET lease_until = ? WHERE number = ? AND lease_until <> {FENCED}"  # noqa: S608 - as above
        )

    @cached_property
    def insert_event(self) -> str:
        """One row of `events`, in column order."""
        return self._insert(tables.events, 1, ignore=False)

    @cached_property
    def insert_blob(self) -> str:
        """One row of `blobs`, in column order; one that is there already is left alone."""
        return self._insert(tables.blobs, 1, ignore=True)

    def append(self, episodes: int, blobs: int, events: int) -> str:
        """Return Postgres's one statement for appends of several episodes; it returns the numbers that moved on.

        Parameters: (number, events before, events, head, lease) of each episode, then blob rows, then event rows.
        An episode that somebody else moved gets no events. One statement is one round trip and one transaction.
        """
        known = self._appends.get((episodes, blobs, events))
        if known is not None:
            return known
        numbers = count(1)
        given = _rows(episodes, ("bigint", "integer", "integer", "bytea", "bigint"), numbers)
        kept = _rows(blobs, _casts(tables.blobs), numbers)
        new = _rows(events, _casts(tables.events), numbers)
        keep = f"kept AS (INSERT INTO blobs VALUES {kept} ON CONFLICT DO NOTHING), " if blobs else ""  # noqa: S608 - as below
        text = (
            f"WITH given (number, before, after, head, lease) AS (VALUES {given}), "  # noqa: S608 - placeholders only
            "moved AS (UPDATE episodes SET events = given.after, head = given.head, lease_until = given.lease "
            "FROM given WHERE episodes.number = given.number AND episodes.events = given.before "
            f"AND episodes.lease_until <> {FENCED} "
            f"RETURNING episodes.number), {keep}"
            f"new ({', '.join(map(self._quote, tables.events.columns.keys()))}) AS (VALUES {new}), "
            f"fit AS (SELECT * FROM new WHERE {self._quote('key')} >> {tables.SEQ_BITS} "
            "IN (SELECT number FROM moved)), "
            "put AS (INSERT INTO events SELECT * FROM fit RETURNING 1) "
            # Fails, and takes all of it back, where a trigger of somebody's swallowed a row.
            "SELECT number FROM moved WHERE 1 / CASE WHEN (SELECT count(*) FROM put) = (SELECT count(*) FROM fit) "
            "THEN 1 ELSE 0 END = 1"
        )
        if len(self._appends) >= REMEMBERED:
            self._appends.clear()
        self._appends[episodes, blobs, events] = text
        return text

    def _text(self, text: str) -> str:
        return text.replace("?", self._mark)

    def _insert(self, table: sa.Table, rows: int, *, ignore: bool) -> str:
        names = ", ".join(self._quote(column.name) for column in table.columns)
        row = f"({', '.join([self._mark] * len(table.columns))})"
        tail = " ON CONFLICT DO NOTHING" if ignore else ""
        text = f"INSERT INTO {table.name} ({names}) VALUES {', '.join([row] * rows)}{tail}"  # noqa: S608 - our own names
        self._inserts[table.name, rows] = text
        return text


def _rows(rows: int, casts: Sequence[str], numbers: Iterator[int]) -> str:
    """Return VALUES rows for Postgres: only the first says its types, which the others take from it."""
    first = [f"${next(numbers)}::{cast}" for cast in casts] if rows else []
    others = [[f"${next(numbers)}" for _ in casts] for _ in range(rows - 1)]
    return ", ".join(f"({', '.join(row)})" for row in (first, *others))


def _casts(table: sa.Table) -> list[str]:
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    return [column.type.dialect_impl(dialect).compile(dialect).partition(" COLLATE")[0] for column in table.columns]


def key(number: int, seq: int) -> int:
    """Return an event's key."""
    return number << tables.SEQ_BITS | seq


def _chunks(rows: Sequence[Values]) -> Iterator[Sequence[Values]]:
    for first in range(0, len(rows), ROWS_AT_ONCE):
        yield rows[first : first + ROWS_AT_ONCE]
