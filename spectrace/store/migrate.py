"""Bring a database to this package's revision: create it, check it, upgrade it after a backup.

Migrations go up only: to go back, restore the backup. An upgrade is one transaction, its record in the administrative
log included, and is made under the lock that all writers take, from the backup on: a second upgrader waits and finds
nothing to do.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from spectrace.core.admin_events import AdminUpgraded
from spectrace.errors import NewerSchema, StoreError
from spectrace.store import admin, compression, revisions, stand_ins, tables, triggers
from spectrace.store.address import refuse_bundle
from spectrace.store.backup import Backup, take
from spectrace.store.database import Database, parse_url, shown
from spectrace.store.process import operator
from spectrace.store.revisions import head


@dataclass(frozen=True, slots=True)
class Upgraded:
    """What an upgrade did. `before` is None where it made the database."""

    before: str | None
    after: str
    triggers: tuple[str, ...] = ()
    """Those that were not as they should be, and were put back."""
    backup: Backup | None = None


def revision(database: Database) -> str | None:
    """Return the database's revision; None when it is empty."""
    with database.reading() as connection:
        return revisions.of(connection)


def prepare(database: Database) -> None:
    """Make a new database, or refuse one of another revision saying what to do; called when a store is opened."""
    check_place(database)
    found = revision(database)
    if found is None and not database.read_only:
        _create(database)
    elif found is None:
        raise StoreError(_no_log(database))
    elif found != head():
        _refuse(database, found)
    elif not database.read_only:
        _check_guarded(database)


def upgrade(url: str, *, backup: bool = True) -> Upgraded:
    """Upgrade to the newest revision, or make the database; put back lost triggers. SQLite is copied first."""
    database = Database(parse_url(url), read_only=False)
    try:
        check_place(database)
        with database.explained(), database.locked():
            found, kept = revision(database), None
            if found is None:
                _create(database)
                return Upgraded(None, head())
            refuse_newer(database, found)
            if found != head() and database.sqlite and backup:
                kept = take(database, found)
            return _upgrade(database, kept)
    finally:
        database.close()


def migrate_copy(path: Path) -> list[str]:
    """Bring a temporary copy of a SQLite file up to date, without a record; return the triggers that it lacked."""
    database = Database(parse_url(str(path)), read_only=False)
    try:
        found = revision(database)
        if found is None:
            raise StoreError(_no_log(database))
        refuse_newer(database, found)
        with database.writing(durable=False) as connection:
            missing = triggers.restore_triggers(connection)
            revisions.run(connection)
            _keep_dictionaries(database, connection)
        return missing
    finally:
        database.close()


def refuse_newer(database: Database, found: str) -> None:
    """Raise NewerSchema for a revision that this package does not carry."""
    if found not in revisions.carried():
        raise NewerSchema(
            f"{shown(database.url)} is at revision {found}, written by a newer spectrace; this one carries revisions "
            f"up to {head()}. Install the newer spectrace to read it."
        )


def _create(database: Database) -> None:
    """Make the log in an empty database and begin its first epoch; whoever comes second finds both."""
    check_empty(database)
    with database.writing(durable=True) as connection:
        admin.lock(connection)
        revisions.run(connection)
        _keep_dictionaries(database, connection)
        if admin.current(connection) is None:
            admin.open_epoch(connection, "created")


def _upgrade(database: Database, backup: Backup | None) -> Upgraded:
    """Do all of it in one transaction: a failure leaves the old state, which can be read and upgraded again."""
    with database.writing(durable=True) as connection:
        admin.lock(connection)
        before = revisions.of(connection) or head()
        missing = tuple(triggers.restore_triggers(connection))
        revisions.run(connection)
        _keep_dictionaries(database, connection)
        done = Upgraded(before, head(), missing, backup)
        if before != head() or missing:
            admin.append(connection, _record(done))
        elif admin.current(connection) is None:
            admin.open_epoch(connection, "upgraded")
        return done


def _record(done: Upgraded) -> AdminUpgraded:
    return AdminUpgraded(
        by=operator(),
        spectrace=admin.VERSION,
        from_revision=done.before or "",
        to_revision=done.after,
        triggers=done.triggers,
        backup=done.backup.path.name if done.backup else None,
        backup_digest=done.backup.digest if done.backup else None,
    )


def _check_guarded(database: Database) -> None:
    """Refuse to write where events could be changed; lay the dictionaries that rows are packed with beside them."""
    with database.reading() as connection:
        missing = triggers.missing_triggers(connection)
        dictionaries = _missing_dictionaries(connection)
    if missing:
        raise StoreError(
            f"{shown(database.url)} is not append-only any more: the triggers {', '.join(missing)} are missing, "
            "altered or switched off, so nothing is written to it. Find out who did that; `spectrace verify --all` "
            "tells whether events were changed, "
            f"`spectrace db upgrade --db {shown(database.url)}` puts the triggers back and makes a note of it."
        )
    if dictionaries:
        with database.writing(durable=True) as connection:
            _keep_dictionaries(database, connection)


def _no_log(database: Database) -> str:
    if database.sqlite and _table_names(database):
        return f"{shown(database.url)} holds no log: spectrace did not make it. Check the path given with --db."
    said = f"there is no log in {shown(database.url)} yet: `spectrace run` makes it, or give another with --db."
    if database.sqlite and database.path.is_file() and database.path.stat().st_size == 0:
        return f"{said} The file is there with 0 bytes: if it ever held a log, that is lost."
    return said


def _refuse(database: Database, found: str) -> None:
    refuse_newer(database, found)
    backup = " (it makes a backup first)" if database.sqlite else ""
    raise StoreError(
        f"{shown(database.url)} is at revision {found}, this spectrace needs {head()}: run "
        f"`spectrace db upgrade --db {shown(database.url)}`{backup}."
    )


def check_place(database: Database) -> None:
    """Say early, in words, what SQLite would say as `unable to open database file`."""
    if not database.sqlite:
        return
    if database.path.is_dir():
        raise StoreError(f"database {database.path} is a directory; a file was expected.")
    if database.path.exists() and not database.path.is_file():  # to open a pipe waits for who writes it
        raise StoreError(f"database {database.path} is a pipe, a device or a socket; a file was expected.")
    refuse_bundle(database.url)
    stand_ins.refuse(database.path)
    if not database.path.exists() and database.read_only and database.path.suffix == ".zip":
        raise StoreError(f"there is no bundle {database.path}: check the path given with --db.")
    if not database.path.exists() and database.read_only:
        raise StoreError(
            f"there is no database {database.path} yet: `spectrace run` makes it, or give another with --db."
        )
    if not database.path.parent.is_dir():
        raise StoreError(
            f"database {database.path}: the directory {database.path.parent} does not exist; make it first."
        )


def check_empty(database: Database) -> None:
    """Never build the log inside somebody else's SQLite file; a Postgres schema may be shared."""
    names = _table_names(database)
    if revision(database) is None and ("events" in names or (database.sqlite and names)):
        named = ", ".join(sorted(names)[:5])
        raise StoreError(
            f"{shown(database.url)} already holds tables that spectrace did not make ({named}): give another with --db."
        )


def _table_names(database: Database) -> list[str]:
    with database.reading() as connection:
        return sa.inspect(connection).get_table_names()


def _missing_dictionaries(connection: sa.Connection) -> list[int]:
    """Return the numbers of the dictionaries that new rows need and the database does not hold."""
    held = set(connection.scalars(sa.select(tables.dictionaries.c.id)))
    return [number for number in compression.CURRENT if number not in held]


def _keep_dictionaries(database: Database, connection: sa.Connection) -> None:
    """Lay the dictionaries that rows are packed with beside them; those of older rows stay."""
    for number in _missing_dictionaries(connection):
        data = compression.dictionary(number)
        row = {"id": number, "digest": hashlib.sha256(data).digest(), "bytes": data}
        connection.execute(database.insert(tables.dictionaries).on_conflict_do_nothing(), row)
