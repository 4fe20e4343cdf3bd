"""What `db upgrade` would do: the revisions, their statements, whether a backup would be made. Nothing is changed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import sqlalchemy as sa

from spectrace.store import admin, migrate, revisions
from spectrace.store.database import Database, parse_url
from spectrace.store.evidence import peeking
from spectrace.store.triggers import missing_triggers, restore_triggers


@dataclass(frozen=True, slots=True)
class Plan:
    """What an upgrade would do."""

    before: str | None
    after: str
    revisions: tuple[tuple[str, str], ...]
    """(revision, what it is) of those that would run, in order."""
    statements: tuple[str, ...]
    triggers: tuple[str, ...]
    """Those that would be put back."""
    backup: bool


def plan(url: str) -> Plan:
    """Say what `upgrade` would do; nothing is changed."""
    database = Database(parse_url(url), read_only=True)
    try:
        found, missing = _found(database)
        if found is not None:
            migrate.refuse_newer(database, found)
        backup = found is not None and database.sqlite and found != revisions.head()
        return Plan(found, revisions.head(), revisions.missing(found), _statements(database, found), missing, backup)
    finally:
        database.close()


def _found(database: Database) -> tuple[str | None, tuple[str, ...]]:
    """Return the database's revision, and which triggers it lacks."""
    if database.sqlite and not database.path.exists():
        return None, ()
    migrate.check_place(database)
    with peeking(database.path) if database.sqlite else database.reading() as connection, database.explained():
        found = revisions.of(connection)
        if found is not None:
            return found, tuple(missing_triggers(connection))
    migrate.check_empty(database)
    return None, ()


def _statements(database: Database, found: str | None) -> tuple[str, ...]:
    """Return what the migrations would run: on SQLite in an empty database, on Postgres in a transaction taken back."""
    said: list[str] = []
    with TemporaryDirectory(prefix="spectrace-plan-") as directory:
        url = parse_url(str(Path(directory) / "plan.db")) if database.sqlite else database.url
        rehearsal = Database(url, read_only=False)
        try:
            with rehearsal.writing(durable=False) as connection:
                admin.lock(connection)
                if found is not None and database.sqlite:
                    revisions.run(connection, found)
                elif found is not None:
                    restore_triggers(connection)
                with _listening(connection, said):
                    revisions.run(connection)
                connection.rollback()
        finally:
            rehearsal.close()
    return tuple(said)


@contextmanager
def _listening(connection: sa.Connection, said: list[str]) -> Iterator[None]:
    """Note every statement that is not a question."""

    def note(_: object, __: object, statement: str, *___: object) -> None:
        if not statement.lstrip().upper().startswith(("SELECT", "PRAGMA")):
            said.append(statement.strip())

    sa.event.listen(connection, "before_cursor_execute", note)
    try:
        yield
    finally:
        sa.event.remove(connection, "before_cursor_execute", note)
