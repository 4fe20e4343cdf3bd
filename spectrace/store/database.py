"""One database, SQLite or Postgres: connections, transactions, flushes, checkpoints. All dialect differences are here.

SQLite: WAL; the lock beside the file is held for every write transaction and every checkpoint, by all processes
(versions before 3.51.3 can corrupt when two connections do these at once), so the automatic checkpoint is off. A
flushed commit is `synchronous=FULL`, an unflushed one NORMAL: it survives the process, not the machine. Postgres: the
same two classes are `synchronous_commit` on and off.
"""

import os
import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from urllib.parse import quote, unquote

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.pool import StaticPool

from spectrace.errors import MissingExtra, StoreError, UsageError
from spectrace.store.lock import TurnLock

BUSY_S = 30.0
CHECKPOINT_BYTES = 4 << 20
"""A write-ahead log above this is folded in when an episode ends, never inside a commit (p99 of an append)."""


def parse_url(text: str) -> sa.URL:
    """Return the URL of `sqlite:///x.db`, `postgresql://...` or a bare path; raise UsageError for anything else."""
    url = sa.URL.create("sqlite", database=text) if "://" not in text and text else _parsed(text)
    match url.get_backend_name():
        case "sqlite" if url.database and url.database != ":memory:":
            return sa.URL.create("sqlite", database=str(Path(url.database).expanduser().resolve()))
        case "postgresql" | "postgres":
            return url.set(drivername="postgresql+psycopg")
        case _:
            raise UsageError(
                f"a database is a path, sqlite:///FILE or postgresql://USER@HOST/NAME, not {shown(url)}. "
                "Give one with --db or SPECTRACE_DB."
            )


def _parsed(text: str) -> sa.URL:
    try:
        return sa.make_url(text)
    except (sa.exc.ArgumentError, ValueError) as error:
        raise UsageError(f"--db {text!r} is not a database URL: try sqlite:///spectrace.db.") from error


def shown(url: sa.URL) -> str:
    """Return the URL for a message, as it may be typed again: never its password."""
    if url.drivername == "sqlite" and url.database:
        return url.database
    hidden = {name: "***" for name in url.query if "password" in name}
    url = url.set(drivername=url.get_backend_name()).update_query_dict(hidden)
    if not url.password:
        url = url._replace(password=None)
    address, mark, query = url.render_as_string(hide_password=True).partition("?")
    return address + mark + unquote(query)


class Database:
    """Connections to one database. Reads run side by side; writes take turns."""

    def __init__(self, url: sa.URL, *, read_only: bool) -> None:
        """Make engines; nothing is contacted before the first use."""
        self.url = url
        self.read_only = read_only
        self.sqlite = url.get_backend_name() == "sqlite"
        self._turn = threading.RLock()
        self._writer: sa.Connection | None = None
        self._opened_file: os.stat_result | None = None
        """The SQLite file that is written to; the path may come to name another."""
        self._flushing: bool | None = None
        self._connected = False
        try:
            self._read_engine = self._engine(writing=False)
            self._write_engine = self._read_engine if read_only else self._engine(writing=True)
        except ImportError as error:
            raise MissingExtra("Postgres", "postgres") from error

    @property
    def path(self) -> Path:
        """The SQLite file."""
        return Path(self.url.database or "")

    @property
    def dialect(self) -> sa.Dialect:
        """The SQL dialect."""
        return self._read_engine.dialect

    def insert(self, table: sa.Table) -> "postgresql.Insert | sqlite.Insert":
        """Return the dialect's own insert, which knows ON CONFLICT."""
        return sqlite.insert(table) if self.sqlite else postgresql.insert(table)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Keep this process's other threads from writing meanwhile."""
        with self._turn:
            yield

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Lend a connection for one or a few statements."""
        with self.explained(), self._read_engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self, *, durable: bool) -> Iterator[sa.Connection]:
        """Lend the writing connection for one transaction; flushed to stable storage on leaving if `durable`."""
        if self.read_only:
            raise StoreError(f"{shown(self.url)} was opened read-only: nothing can be written through it.")
        with self._turn, self.explained(), self._there(), self.locked():
            connection = self._writing_connection()
            self._flush_on_commit(connection, durable)
            with connection.begin():
                if not self.sqlite:
                    connection.exec_driver_sql(f"SET LOCAL synchronous_commit = {'on' if durable else 'off'}")
                yield connection

    def _writing_connection(self) -> sa.Connection:
        if self._writer is None:
            self._writer = self._write_engine.connect()
            self._opened_file = self.path.stat() if self.sqlite else None
        return self._writer

    @contextmanager
    def _there(self) -> Iterator[None]:
        """Refuse to write into a file that nobody finds any more; asked before the lock, whose folder may be gone."""
        if self._is_gone():
            raise StoreError(
                f"database {self.path}: the file was deleted, moved or replaced while it was being written. Nothing "
                f"more is written to it. What was recorded is in that file and in {self.path.name}-wal, which stayed "
                "here: put the file back, and the log is whole up to here."
            )
        yield

    def _is_gone(self) -> bool:
        """Whether the path no longer names the SQLite file that is being written."""
        if self._opened_file is None:
            return False
        try:
            return not os.path.samestat(self.path.stat(), self._opened_file)
        except FileNotFoundError:
            return True

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock that all processes share on a SQLite file; Postgres needs none."""
        if not self.sqlite or self.read_only:
            yield
            return
        with self._turn, self._file_lock:
            yield

    def checkpoint(self, *, above: int = 0) -> None:
        """Fold SQLite's write-ahead log into the file if it is larger; readers are not waited for."""
        if not self.sqlite or self.read_only or self._is_gone():
            return
        log = self.path.with_name(self.path.name + "-wal")
        if not log.exists() or log.stat().st_size <= above:
            return
        with self._turn, self.explained(), self.locked(), self._read_engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA busy_timeout = 0")
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").close()
            connection.exec_driver_sql(f"PRAGMA busy_timeout = {int(BUSY_S * 1000)}")

    def close(self) -> None:
        """Release connections. The last one to leave a SQLite file checkpoints it, so under the lock."""
        if self._writer is not None:
            self.checkpoint()
        with self.locked() if self._connected and not self._is_gone() else nullcontext():
            if self._writer is not None:
                self._writer.close()
                self._writer = None
            self._write_engine.dispose()
            self._read_engine.dispose()
        if self.sqlite:
            self._file_lock.close()

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn a driver's error into one paragraph; integrity errors pass for the caller to judge."""
        try:
            yield
        except sa.exc.IntegrityError:
            raise
        except sa.exc.DBAPIError as error:
            lost = LOST if error.connection_invalidated else ""
            raise StoreError(explain(self.url, f"{lost}{error.orig}")) from error
        except OSError as error:
            raise StoreError(explain(self.url, str(error))) from error

    def _engine(self, *, writing: bool) -> sa.Engine:
        if not self.sqlite:
            isolation = "READ COMMITTED" if writing else "AUTOCOMMIT"
            return sa.create_engine(self.url, isolation_level=isolation, connect_args={"connect_timeout": 10})
        self._file_lock = TurnLock(self.path.with_name(self.path.name + ".lock"), BUSY_S)
        if not writing:
            return sa.create_engine(
                "sqlite://", creator=self._connect, poolclass=sa.QueuePool, isolation_level="AUTOCOMMIT"
            )
        engine = sa.create_engine("sqlite://", creator=self._connect, poolclass=StaticPool)
        # The driver begins nothing by itself (isolation_level None): a write takes its lock at once or waits for it.
        sa.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
        return engine

    def _connect(self) -> sqlite3.Connection:
        name = f"file:{quote(str(self.path))}?mode={'ro' if self.read_only else 'rwc'}"
        connection = self._opened(name)
        self._connected = True
        if self.read_only:
            return connection
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

    def _opened(self, name: str) -> sqlite3.Connection:
        connection = sqlite3.connect(name, uri=True, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("SELECT count(*) FROM sqlite_schema")
        except sqlite3.OperationalError:
            connection.close()
            # A reader of WAL makes the -shm file; where it may not and there is no WAL, the file is all there is.
            if not self.read_only or self.path.with_name(self.path.name + "-wal").exists() or not self.path.exists():
                raise
            return sqlite3.connect(
                f"{name}&immutable=1", uri=True, timeout=BUSY_S, isolation_level=None, check_same_thread=False
            )
        except sqlite3.DatabaseError:
            connection.close()
            raise
        return connection

    def _flush_on_commit(self, connection: sa.Connection, durable: bool) -> None:  # noqa: FBT001
        """SQLite cannot change `synchronous` inside a transaction; change it only when the class changes."""
        if self.sqlite and self._flushing is not durable:
            driver = connection.connection.driver_connection
            if driver is None:
                raise StoreError(f"{shown(self.url)}: the connection was lost.")
            driver.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._flushing = durable


LOST = "the connection was lost: "

_ADVICE = (
    (LOST, "Is the server still there, and did somebody end the session? What was committed before is kept."),
    ("unable to open database file", "Does the directory exist, and may this user write there?"),
    ("readonly database", "This user may not write there: choose another place with --db, or change the permissions."),
    ("Permission denied", "This user may not write there: choose another place with --db, or change the permissions."),
    ("Read-only file system", "The file system is read-only: choose another place with --db."),
    ("not a database", "The file is something else, or encrypted: check the path given with --db."),
    ("malformed", "The file is damaged or cut short: restore a backup, or try `sqlite3 FILE .recover` on a copy."),
    ("disk is full", "Free some space; nothing of this transaction was kept."),
    ("locked", f"Another process held the database for over {BUSY_S:.0f} s."),
    ("connection failed", "Is Postgres running there, and are host, port, user and password right?"),
    ("could not be acquired", f"Another process held the lock beside the database for over {BUSY_S:.0f} s."),
)


_POSTGRES_ASKS = re.compile(r"\s*Is the server running[^?]*\?")
"""Its own advice, in the middle of what it says; ours stands at the end."""


def explain(url: sa.URL, error: str) -> str:
    """Return one paragraph: which database, what its driver said, what to do."""
    said = " ".join(_POSTGRES_ASKS.sub("", error).split())
    advice = next((advice for sign, advice in _ADVICE if sign in said), "")
    return f"database {shown(url)}: {said.rstrip('.')}. {advice}".rstrip()
