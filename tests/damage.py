"""Damage to a database as whoever can write its file may do it: past the triggers, and none the wiser."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa


def damage(path: Path | str, statement: str) -> None:
    """Drop the triggers and change events."""
    connection = sqlite3.connect(path)
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f'DROP TRIGGER "{name}"')
    connection.execute(statement)
    connection.commit()
    connection.close()


@contextmanager
def past_the_triggers(url: str) -> Iterator[sa.Connection]:
    """Lend a connection to a log of either kind without its triggers; what is committed stays."""
    sqlite = not url.startswith("postgresql")
    engine = sa.create_engine(url if sqlite else sa.make_url(url).set(drivername="postgresql+psycopg"))
    with engine.connect() as connection:
        if sqlite:
            named = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'trigger'").scalars().all()
            for name in named:
                connection.exec_driver_sql(f'DROP TRIGGER "{name}"')
        else:
            for table in ("events", "episodes"):
                connection.exec_driver_sql(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        connection.commit()
        yield connection
    engine.dispose()


def forging(connection: sa.Connection) -> None:
    """Let the rest of a transaction pass the triggers of Postgres; SQLite has none on these rows."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
