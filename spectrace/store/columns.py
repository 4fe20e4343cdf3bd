"""What the columns of a log may hold: SQLite keeps whatever it is given, and whoever reads must not trip over it."""

import sqlite3
from collections.abc import Sequence
from itertools import product
from typing import Any

import sqlalchemy as sa

from spectrace.store.rows import Damage

COLUMNS = (
    *("key", "type", "tool", "lane", "version", "at", "effect", "authority", "outcome"),
    *("codec", "payload", "salt", "link"),
)
"""In the order of the table, in which rows are read."""

_NONE = type(None)
_TEXT, _BYTES = (str, _NONE), (bytes, _NONE)
_KINDS = ((int,), (int,), (int, _NONE), (str,), (int,), (int,), _TEXT, _TEXT, _TEXT, (int,), _BYTES, _BYTES, (bytes,))
_SOUND = frozenset(product(*_KINDS))
"""The types of every row that can be one: looked up at once."""
_VERSION, _AT = COLUMNS.index("version"), COLUMNS.index("at")
MOST = 1 << 53
"""A header holds no number so large, and no time is."""


def refuse_odd(found: Sequence[Sequence[Any]]) -> None:
    """Raise Damage for the first row, all its columns in their order, with a value that no writer put there."""
    columns = list(zip(*found, strict=True))
    if columns and not _are_sound(columns):
        for row in found:
            if not _are_sound([(value,) for value in row]):
                raise Damage(f"{_said(row)}: it was altered or damaged.")


def _are_sound(columns: Sequence[Sequence[Any]]) -> bool:
    """Whether some rows, column by column, hold what they may: without a loop, for every event is asked."""
    return (
        _SOUND.issuperset(zip(*[map(type, column) for column in columns], strict=True))
        and min(columns[_VERSION]) >= 0
        and max(columns[_VERSION]) < MOST
        and min(columns[_AT]) > -MOST
        and max(columns[_AT]) < MOST
    )


def _said(row: Sequence[Any]) -> str:
    for name, value, kinds in zip(COLUMNS, row, _KINDS, strict=True):
        if type(value) not in kinds:
            wanted = " or ".join("NULL" if kind is _NONE else kind.__name__ for kind in kinds)
            return f"its column {name!r} holds {type(value).__name__} ({_shown(value)}) where {wanted} belongs"
    return f"its version {row[_VERSION]} or its time {row[_AT]} is out of range"


def _shown(value: object) -> str:
    return repr(value)[:40]


def whole_number(value: object, most: int = MOST) -> int:
    """Return a number of `episodes`, which nothing guards: 0 in place of what none can be, `most` at most."""
    return min(value, most) if type(value) is int and value > -MOST else 0


def with_broken_texts(
    connection: sa.Connection, error: sqlite3.OperationalError, text: str, values: tuple[object, ...]
) -> Sequence[Sequence[Any]]:
    """Return the rows of a query that the driver failed to decode: what is no UTF-8 stays bytes, for `refuse_odd`.

    One such text must not hide the rows beside it. Raises any other error.
    """
    driver = connection.connection.driver_connection
    if "decode to UTF-8" not in str(error) or not isinstance(driver, sqlite3.Connection):
        raise error
    driver.text_factory = _text_or_bytes
    try:
        return driver.execute(text, values).fetchall()
    finally:
        driver.text_factory = str


def _text_or_bytes(data: bytes) -> str | bytes:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data
