"""Bring a database to this package's revision: create it, check it, upgrade it after a backup.

The migrations travel inside the wheel (`spectrace/_migrations`) and lie at the root of a checkout. They go up only:
to go back, restore the backup.
"""

import hashlib
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from spectrace.errors import NewerSchema, StoreError
from spectrace.store import compression, tables, triggers
from spectrace.store.database import Database, parse_url, shown

_PACKAGE = Path(__file__).resolve().parents[1]
_PLACES = (_PACKAGE / "_migrations", _PACKAGE.parent / "migrations")


def head() -> str:
    """Return the newest revision that this package carries."""
    newest = ScriptDirectory.from_config(_config()).get_current_head()
    if newest is None:
        raise StoreError(f"no migrations in {_directory()}: this installation is damaged.")
    return newest


def revision(database: Database) -> str | None:
    """Return the database's revision; None when it is empty."""
    with database.reading() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def prepare(database: Database) -> None:
    """Make a new database, or refuse one of another revision saying what to do; called when a store is opened."""
    _check_place(database)
    found = revision(database)
    if found is None and not database.read_only:
        _check_empty(database)
        _run(database)
        _keep_dictionary(database)
    elif found is None:
        raise StoreError(_no_log(database))
    elif found != head():
        _refuse(database, found)


def upgrade(url: str) -> tuple[str | None, str, Path | None]:
    """Upgrade to the newest revision; return (from, to, backup file). SQLite is copied first if it holds anything."""
    database = Database(parse_url(url), read_only=False)
    try:
        _check_place(database)
        found, backup = revision(database), None
        if found is None:
            _check_empty(database)
        if found is not None and found != head():
            _refuse_newer(database, found)
            backup = _backup(database, found)
        if found is not None:
            _restore(database)
        if found != head():
            _run(database)
            _keep_dictionary(database)
        return found, head(), backup
    finally:
        database.close()


def restore_triggers(url: str) -> list[str]:
    """Put back the triggers that keep events append-only; return the names of those that were not as they should be."""
    database = Database(parse_url(url), read_only=False)
    try:
        _check_place(database)
        found = revision(database)
        if found is None:
            return []
        _refuse_newer(database, found)
        return _restore(database)
    finally:
        database.close()


def _restore(database: Database) -> list[str]:
    with database.writing(durable=True) as connection:
        return triggers.restore_triggers(connection)


def _no_log(database: Database) -> str:
    if database.sqlite and _table_names(database):
        return f"{shown(database.url)} holds no log: spectrace did not make it. Check the path given with --db."
    return f"there is no log in {shown(database.url)} yet: `spectrace run` makes it, or give another with --db."


def _refuse(database: Database, found: str) -> None:
    _refuse_newer(database, found)
    raise StoreError(
        f"{shown(database.url)} is at revision {found}, this spectrace needs {head()}: run "
        f"`spectrace db upgrade --db {shown(database.url)}` (it makes a backup first)."
    )


def _refuse_newer(database: Database, found: str) -> None:
    carried = {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}
    if found not in carried:
        raise NewerSchema(
            f"{shown(database.url)} is at revision {found}, written by a newer spectrace; this one carries revisions "
            f"up to {head()}. Install the newer spectrace to read it."
        )


def _check_place(database: Database) -> None:
    """Say early, in words, what SQLite would say as `unable to open database file`."""
    if not database.sqlite:
        return
    if database.path.is_dir():
        raise StoreError(f"database {database.path} is a directory; a file was expected.")
    if not database.path.exists() and database.read_only:
        raise StoreError(
            f"there is no database {database.path} yet: `spectrace run` makes it, or give another with --db."
        )
    if not database.path.parent.is_dir():
        raise StoreError(
            f"database {database.path}: the directory {database.path.parent} does not exist; make it first."
        )


def _check_empty(database: Database) -> None:
    """Never build the log inside somebody else's SQLite file; a Postgres schema may be shared."""
    tables = _table_names(database)
    if "events" in tables or (database.sqlite and tables):
        named = ", ".join(sorted(tables)[:5])
        raise StoreError(
            f"{shown(database.url)} already holds tables that spectrace did not make ({named}): give another with --db."
        )


def _table_names(database: Database) -> list[str]:
    with database.reading() as connection:
        return sa.inspect(connection).get_table_names()


def _run(database: Database) -> None:
    """Run the missing migrations in one transaction; a process that waited for its turn finds nothing to do."""
    with database.writing(durable=True) as connection:
        if not database.sqlite:
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7307218)")  # SQLite's lock file does it there
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def _keep_dictionary(database: Database) -> None:
    """Lay the dictionary that rows are packed with beside them."""
    data = compression.dictionary(compression.CURRENT)
    row = {"id": compression.CURRENT, "digest": hashlib.sha256(data).digest(), "bytes": data}
    with database.writing(durable=True) as connection:
        held = set(connection.scalars(sa.select(tables.dictionaries.c.id)))
        if compression.CURRENT not in held:
            connection.execute(tables.dictionaries.insert(), row)


def _backup(database: Database, found: str) -> Path | None:
    if not database.sqlite:
        return None
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    target = database.path.with_name(f"{database.path.name}.{found}.{stamp}.backup")
    with database.locked(), closing(sqlite3.connect(database.path)) as source, closing(sqlite3.connect(target)) as copy:
        source.backup(copy)
    return target


def _directory() -> Path:
    found = next((place for place in _PLACES if (place / "env.py").exists()), None)
    if found is None:
        raise StoreError(f"the migrations are missing ({_PLACES[0]}): this installation is damaged; install it again.")
    return found


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(_directory()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
