"""What somebody who can write a database may do to it, generated: every table x column x operation of its own schema.

A `Kind` says what; `Forger` does it to rows of a chosen victim, past the triggers, which it puts back. What the
database itself refuses (NOT NULL, a key that is taken) is no tampering and says so.
"""

# ruff: noqa: S608 - names come from the schema, values are bound

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from spectrace.store import tables, triggers

COLUMN_OPERATIONS = ("another row's", "flipped", "null", "swapped", "of another type")
ROW_OPERATIONS = ("deleted", "copied", "reordered")
SEQ_BITS = tables.SEQ_BITS


@dataclass(frozen=True, order=True)
class Kind:
    """One way to tamper."""

    table: str
    operation: str
    column: str = ""
    """Empty for what is done to whole rows."""

    def __str__(self) -> str:
        return f"{self.table}.{self.column or '*'} {self.operation}"


@dataclass(frozen=True)
class Shape:
    """A table as the database has it."""

    name: str
    columns: Sequence[str]
    key: Sequence[str]
    types: dict[str, type] = field(hash=False, compare=False)

    @property
    def owner(self) -> str | None:
        """The clause by which a row belongs to an episode (:number, :episode); None for what belongs to none."""
        if self.name == "run_items":
            return "episode = :episode"
        if "number" in self.columns and self.name != "types":
            return "number = :number"
        if "key" in self.columns:
            return f"key >> {SEQ_BITS} = :number"
        return "episode = :episode" if "episode" in self.columns else None


def shapes(connection: sa.Connection) -> list[Shape]:
    """Read every table from the database."""
    inspector = sa.inspect(connection)
    return [
        Shape(
            name,
            [column["name"] for column in inspector.get_columns(name)],
            inspector.get_pk_constraint(name)["constrained_columns"],
            {column["name"]: _python(column["type"]) for column in inspector.get_columns(name)},
        )
        for name in sorted(inspector.get_table_names())
        if not name.startswith("procrastinate")
    ]


def _python(type_: sa.types.TypeEngine[Any]) -> type:
    if isinstance(type_, sa.LargeBinary) or str(type_) == "BYTEA":
        return bytes
    return int if isinstance(type_, sa.Integer) else bool if isinstance(type_, sa.Boolean) else str


def kinds(found: Sequence[Shape]) -> Iterator[Kind]:
    """Yield every kind of tampering that the schema allows to think of."""
    for shape in found:
        yield from (Kind(shape.name, operation) for operation in ROW_OPERATIONS)
        yield from (Kind(shape.name, operation, column) for column in shape.columns for operation in COLUMN_OPERATIONS)


def flipped(value: object, kind: type) -> object:
    """Return another value: one bit, one character or one number off; something where nothing was."""
    match value:
        case None:
            return {bytes: b"\x01" * 32, int: 1, bool: True, str: "forged"}[kind]
        case bool():
            return not value
        case int():
            return int(not value) if kind is bool else value + 1
        case bytes() | memoryview():
            data = bytes(value) or b"\0"
            middle = len(data) // 2
            return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
        case str():
            middle = len(value) // 2
            return f"{value[:middle]}{'x' if value[middle : middle + 1] != 'x' else 'y'}{value[middle + 1 :]}"
    raise AssertionError(value)


class Refused(Exception):
    """The database does not let it happen, or there is nothing to do it to."""


@dataclass
class Forger:
    """Does it."""

    connection: sa.Connection
    shapes: dict[str, Shape] = field(init=False)

    def __post_init__(self) -> None:
        self.shapes = {shape.name: shape for shape in shapes(self.connection)}

    def do(self, kind: Kind, number: int, episode: str) -> None:
        """Tamper with rows of that episode, or with any where the table's belong to none; raise Refused."""
        shape = self.shapes[kind.table]
        mine = {"number": number, "episode": episode}
        with self.connection.begin_nested() as saved:
            try:
                self._do(kind, shape, mine)
            except sa.exc.DBAPIError as error:
                saved.rollback()
                raise Refused(str(error.orig)) from None

    def _do(self, kind: Kind, shape: Shape, mine: dict[str, object]) -> None:
        rows = self._rows(shape, mine)
        match kind.operation:
            case "deleted":
                self._delete(shape, rows[len(rows) // 2])
            case "copied":
                self._copy(shape, rows[len(rows) // 2])
            case "reordered":
                self._exchange(shape, shape.key[-1], *self._two(shape, rows, mine, shape.key[-1]))
            case "flipped":
                row = self._telling(rows, kind.column)
                self._set(shape, row, kind.column, flipped(row[kind.column], shape.types[kind.column]))
            case "of another type":  # SQLite holds what it is given
                row = self._telling(rows, kind.column)
                self._set(shape, row, kind.column, b"\xff\0" if shape.types[kind.column] is str else "forged")
            case "null":
                row = self._telling(rows, kind.column)
                if row[kind.column] is None:
                    raise Refused("it is null already")
                self._set(shape, row, kind.column, None)
            case "another row's":
                row, other = self._two(shape, rows, mine, kind.column)
                self._set(shape, row, kind.column, other[kind.column])
            case "swapped":
                self._exchange(shape, kind.column, *self._two(shape, rows, mine, kind.column))

    def _rows(self, shape: Shape, mine: dict[str, object]) -> list[dict[str, Any]]:
        where = "" if shape.owner is None else f" WHERE {shape.owner}"
        order = ", ".join(f'"{name}"' for name in shape.key) or "1"
        text = sa.text(f'SELECT * FROM "{shape.name}"{where} ORDER BY {order}')
        rows = [dict(row) for row in self.connection.execute(text, _named(text, mine)).mappings()]
        if not rows:
            raise Refused("no row")
        return rows

    def _two(
        self, shape: Shape, rows: list[dict[str, Any]], mine: dict[str, object], column: str
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return a row of the victim and another that differs in the column: its own, or a stranger's."""
        row = rows[len(rows) // 2] if column in shape.key else self._telling(rows, column)
        for other in [*rows[len(rows) // 2 + 1 :], *rows]:
            if other[column] != row[column] and other[column] is not None:
                return row, other
        if shape.owner is None:
            raise Refused("all rows are alike")
        text = sa.text(
            f'SELECT * FROM "{shape.name}" WHERE NOT ({shape.owner}) AND "{column}" IS NOT NULL '
            f'AND ("{column}" <> :value OR :null = 1) LIMIT 1'
        )
        value = row[column]
        given = {**_named(text, mine), "value": value, "null": int(value is None)}
        other = self.connection.execute(text, given).mappings().first()
        if other is None:
            raise Refused("all rows are alike")
        return row, dict(other)

    def _telling(self, rows: list[dict[str, Any]], column: str) -> dict[str, Any]:
        """Return a row that says something in the column: one in the middle."""
        saying = [row for row in rows if row[column] is not None] or rows
        return saying[len(saying) // 2]

    def _delete(self, shape: Shape, row: dict[str, Any]) -> None:
        where, values = _where(shape, row)
        self.connection.execute(sa.text(f'DELETE FROM "{shape.name}" WHERE {where}'), values)

    def _copy(self, shape: Shape, row: dict[str, Any]) -> None:
        """Insert the row once more, under the first free key."""
        new = dict(row)
        for name in shape.columns:
            unique = name in shape.key or (shape.name, name) in _UNIQUE
            if unique and isinstance(row[name], int):
                where = "" if shape.name != "events" else f" WHERE key >> {SEQ_BITS} = {row['key'] >> SEQ_BITS}"
                new[name] = self.connection.scalar(sa.text(f'SELECT max("{name}") + 1 FROM "{shape.name}"{where}'))
            elif unique:
                new[name] = flipped(row[name], shape.types[name])
        columns = ", ".join(f'"{name}"' for name in new)
        marks = ", ".join(f":{name}" for name in new)
        self.connection.execute(sa.text(f'INSERT INTO "{shape.name}" ({columns}) VALUES ({marks})'), new)

    def _set(self, shape: Shape, row: dict[str, Any], column: str, value: object) -> None:
        where, values = _where(shape, row)
        text = sa.text(f'UPDATE "{shape.name}" SET "{column}" = :new_value WHERE {where}')
        if self.connection.execute(text, {**values, "new_value": value}).rowcount != 1:
            raise Refused("no such row")

    def _exchange(self, shape: Shape, column: str, one: dict[str, Any], other: dict[str, Any]) -> None:
        first, second = one[column], other[column]
        if column in shape.key or (shape.name, column) in _UNIQUE:
            aside = -(1 << 40) if isinstance(first, int) else flipped(flipped(first, type(first)), type(first))
            if isinstance(first, str):
                aside = f"aside-{first}"
            if isinstance(first, int) and shape.types[column] is int and shape.name not in {"events", "erasures"}:
                aside = -30_000
            self._set(shape, one, column, aside)
            self._set(shape, other, column, first)
            moved = {**one, column: aside} if column in shape.key else one
            self._set(shape, moved, column, second)
        else:
            self._set(shape, one, column, second)
            self._set(shape, other, column, first)


_UNIQUE = {
    ("episodes", "episode"),
    ("epochs", "place"),
    ("types", "name"),
    ("tools", "name"),
    ("runs", "name"),
}


def _where(shape: Shape, row: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    key = shape.key or shape.columns
    return " AND ".join(f'"{name}" = :of_{name}' for name in key), {f"of_{name}": row[name] for name in key}


def _named(text: sa.TextClause, values: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in values.items() if f":{name}" in text.text}


def without_triggers(connection: sa.Connection) -> None:
    """Take the triggers away, and what else would refuse."""
    if connection.dialect.name == "sqlite":
        names = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'trigger'").scalars().all()
        for name in names:
            connection.exec_driver_sql(f'DROP TRIGGER "{name}"')
    else:
        connection.exec_driver_sql("ALTER TABLE events DISABLE TRIGGER USER")
        connection.exec_driver_sql("ALTER TABLE episodes DISABLE TRIGGER USER")


def with_triggers(connection: sa.Connection) -> None:
    """Put them back as they were, so that nothing tells that they were gone."""
    if connection.dialect.name == "sqlite":
        triggers.restore_triggers(connection)
    else:
        connection.exec_driver_sql("ALTER TABLE events ENABLE TRIGGER USER")
        connection.exec_driver_sql("ALTER TABLE episodes ENABLE TRIGGER USER")
