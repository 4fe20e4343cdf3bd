"""After an erasure: what was erased leaves the free space of the database too. Counterpart of `erasing`.

SQLite: the file is written anew (VACUUM), the write-ahead log folded in and cut to nothing. Postgres: the tables are
written anew (VACUUM FULL) and their statistics, which hold samples of what stood in columns, taken again. Either can
be held up, by a reader that still sees the old state or for want of rights: then it says so, the database stays marked,
and the next erasure does it. On Postgres only the owner may leave that mark: anybody else is told what to run instead.
"""

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress

import sqlalchemy as sa

from spectrace.errors import StoreError
from spectrace.store.database import Database

TABLES = ("events", "blobs", "summaries", "segments", "actions", "search")
"""Those that an erasure changes."""

WAIT_S = 10.0
"""How long readers are waited for."""

_MARKED = 1
_MARK = "spectrace: erased, and not yet cleaned"


def mark(connection: sa.Connection) -> None:
    """Note, inside the transaction that erases, that the database is to be cleaned."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(f"PRAGMA user_version = {_MARKED}")
        return
    with suppress(sa.exc.DBAPIError), connection.begin_nested():  # only its owner may; who does not own it cannot clean
        connection.exec_driver_sql(f"COMMENT ON TABLE erasures IS '{_MARK}'")


def is_due(database: Database) -> bool:
    """Whether something was erased and the database not cleaned since."""
    with database.reading() as connection:
        return marked(connection)


def marked(connection: sa.Connection) -> bool:
    """Whether a database is marked so."""
    if connection.dialect.name == "sqlite":
        return bool(connection.exec_driver_sql("PRAGMA user_version").scalar_one() == _MARKED)
    return connection.exec_driver_sql("SELECT obj_description('erasures'::regclass, 'pg_class')").scalar() == _MARK


def clean(database: Database, wait_s: float = WAIT_S) -> tuple[str, ...]:
    """Let nothing of what was erased stay in the database's files; return what kept it from that."""
    return tuple(_sqlite(database, wait_s) if database.sqlite else _postgres(database, wait_s))


def _sqlite(database: Database, wait_s: float) -> Iterator[str]:
    database.checkpoint()
    with database.locked(), closing(_alone(database, wait_s)) as connection:
        try:
            connection.execute("VACUUM")
        except sqlite3.OperationalError as error:
            yield (
                f"{database.path.name} could not be written anew ({error}), so its free pages may hold what was "
                "erased. It takes about as much free space as the file has; then run the same erasure again"
            )
            return
        if _cut(connection):
            connection.execute("PRAGMA user_version = 0")
            _cut(connection)
            return
    yield (
        f"{database.path.name}-wal could not be cut: a process reads the database as it was, so both files still hold "
        "what was erased. End it (a viewer, a listing that waits, another program), then run the same erasure again"
    )


def _alone(database: Database, wait_s: float) -> sqlite3.Connection:
    connection = sqlite3.connect(database.path, timeout=wait_s, isolation_level=None)
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("PRAGMA secure_delete = ON")
    return connection


def _cut(connection: sqlite3.Connection) -> bool:
    """Fold the write-ahead log in and cut it to nothing; whether that could be done."""
    busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy


def _postgres(database: Database, wait_s: float) -> Iterator[str]:
    with database.reading() as connection:
        pinned = _old_snapshots(connection, wait_s)
        connection.exec_driver_sql(f"SET lock_timeout = '{int(wait_s * 1000)}'")
        try:
            before = _files(connection)
            held = [name for name in TABLES if not _written_anew(connection, name)]
            after = _files(connection)
        finally:
            connection.exec_driver_sql("RESET lock_timeout")
        denied = [name for name in TABLES if name not in held and before[name] == after[name]]
        again = "run the same erasure again"
        if not marked(connection):  # only the owner may leave a mark; without one, nothing tells the next erasure
            again = (
                f"run `VACUUM (FULL, ANALYZE) {', '.join(TABLES)}`, as this role or as the owner: this role can leave "
                "no mark that it is still to be done, so the same erasure again does nothing"
            )
        if held:
            yield (
                f"{', '.join(held)} could not be written anew within {wait_s:g} s: somebody reads or writes there. "
                f"When they have ended, {again}"
            )
        if denied:
            yield (
                f"{', '.join(denied)} could not be written anew: that is the owner's to do. As the owner run "
                f"`VACUUM (FULL, ANALYZE) {', '.join(denied)}`"
            )
        if pinned:
            yield (
                f"transactions that began before the erasure still see what was erased, so it is kept for them (server "
                f"processes {', '.join(map(str, pinned))}). End them, then {again}"
            )
        if not (held or denied or pinned):
            with suppress(sa.exc.ProgrammingError):  # the owner's: an eraser's own erasures left no mark
                connection.exec_driver_sql("COMMENT ON TABLE erasures IS NULL")


def _written_anew(connection: sa.Connection, name: str) -> bool:
    try:
        connection.exec_driver_sql(f"VACUUM (FULL, ANALYZE) {name}")
    except sa.exc.OperationalError as error:
        if "lock timeout" in str(error.orig) or getattr(error.orig, "sqlstate", "") == "55P03":
            return False
        raise StoreError(f"VACUUM FULL of {name} failed: {error.orig}") from error
    return True


def _files(connection: sa.Connection) -> dict[str, int]:
    """Return which file each table lies in: a table that was written anew lies in another."""
    text = "SELECT pg_relation_filenode(%s::regclass)"
    return {name: int(connection.exec_driver_sql(text, (name,)).scalar_one()) for name in TABLES}


def _old_snapshots(connection: sa.Connection, wait_s: float) -> Sequence[int]:
    """Wait a while for transactions that still see the old rows; return the processes of those that stay."""
    here = connection.exec_driver_sql("SELECT txid_current()").scalar_one()
    text = (
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
        "AND backend_xmin IS NOT NULL AND backend_type = 'client backend' AND txid_current() - age(backend_xmin) < %s"
    )
    veiled = _veiled(connection)
    until = time.monotonic() + wait_s
    while True:
        found = {int(pid) for pid in connection.exec_driver_sql(text, (here,)).scalars()}
        veiled &= _veiled(connection)
        if not (found or veiled) or time.monotonic() > until:
            return sorted(found | {pid for pid, _ in veiled})
        time.sleep(0.1)


def _veiled(connection: sa.Connection) -> set[tuple[int, str]]:
    """Return others' transactions of which this role is not told what they see: any that is open now may see old rows.

    Who is neither superuser nor of pg_read_all_stats is told of its own sessions alone; locks are told to everybody.
    """
    text = (
        "SELECT a.pid, l.virtualxid FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid "
        "WHERE l.locktype = 'virtualxid' AND a.datname = current_database() AND a.pid <> pg_backend_pid() "
        "AND a.backend_type IS NULL AND a.usesysid IS NOT NULL"
    )
    return {(int(pid), str(name)) for pid, name in connection.exec_driver_sql(text)}
