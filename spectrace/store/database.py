"""One database, SQLite or Postgres: connections, transactions, flushes, checkpoints. All dialect differences are here.

SQLite: WAL; the lock beside the file is held for every write transaction and every checkpoint, by all processes
(versions before 3.51.3 can corrupt when two connections do these at once), so the automatic checkpoint is off. A
flushed commit is `synchronous=FULL`, an unflushed one NORMAL: it survives the process, not the machine. Postgres: the
same two classes are `synchronous_commit` on and off.

The write-ahead log is folded in and cut to nothing when an episode ends and it is over CHECKPOINT_BYTES, when a commit
leaves it over LOG_BYTES, and on closing. While a reader is in the middle of a transaction it only grows; our readers,
the viewer too, hold none between questions. Afterwards it falls back at the next of these, at the latest once
CHECKPOINT_BYTES more are written.
"""

import os
import sqlite3
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.pool import StaticPool

from spectrace.errors import MissingExtra, StoreError
from spectrace.store import private
from spectrace.store.address import BUSY_S, LOST, explain, parse_url, shown
from spectrace.store.autocommit import Autocommit, Rows
from spectrace.store.forks import keep_from_children
from spectrace.store.interruptions import interruption_of, unmasked
from spectrace.store.lock import TurnLock
from spectrace.store.sqlite_files import open_file

__all__ = ["BUSY_S", "CHECKPOINT_BYTES", "LOG_BYTES", "Database", "explain", "parse_url", "shown"]

LOOK_S = 0.05
"""Unflushed appends look this often whether the file is still there; flushed ones always do."""
CHECKPOINT_BYTES = 4 << 20
"""A write-ahead log above this is folded in when an episode ends, never inside a commit (p99 of an append)."""
LOG_BYTES = 16 << 20
"""Above this it is folded in after a commit, in the middle of an episode too: its bound while no reader pins it."""


class Database:
    """Connections to one database. Reads run side by side; writes take turns."""

    def __init__(self, url: sa.URL, *, read_only: bool) -> None:
        """Make engines; nothing is contacted before the first use."""
        self.url = url
        self.read_only = read_only
        self.sqlite = url.get_backend_name() == "sqlite"
        self._turn = threading.RLock()
        self._writer: sa.Connection | None = None
        self._writer_of_driver: Any = None
        self._file = url.database or ""
        self._pid = os.getpid()
        self._looked = 0.0
        """When the file was last seen at its path, on the monotonic clock."""
        self._opened_file: os.stat_result | None = None
        """The SQLite file that is written to; the path may come to name another."""
        self._flushing: bool | None = None
        self._connected = False
        self._wal = True
        """False where the file system has no write-ahead logging: every commit is flushed there."""
        self._log_limit = LOG_BYTES
        keep_from_children(self)
        try:
            self._read_engine = self._engine(writing=False)
            self._write_engine = self._read_engine if read_only else self._engine(writing=True)
            self._single = Autocommit(self._read_engine)
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

    def turn(self) -> AbstractContextManager[bool]:
        """Return the lock that keeps this process's other threads from writing meanwhile."""
        return self._turn

    @contextmanager
    def turn_at_once(self) -> Iterator[bool]:
        """Take the turn to write a SQLite file if nobody has it; say whether. A server is always waited for."""
        if not self.sqlite or self.read_only or os.getpid() != self._pid or not self._turn.acquire(blocking=False):
            yield False
            return
        try:
            ours = self._file_lock.acquire_now()
            try:
                yield ours
            finally:
                if ours:
                    self._file_lock.release()
        finally:
            self._turn.release()

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Lend a connection for one or a few statements."""
        self._refuse_after_fork()
        with self.explained(), self._read_engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self, *, durable: bool) -> Iterator[sa.Connection]:
        """Lend the writing connection for one transaction; flushed to stable storage on leaving if `durable`."""
        with self._turn, self.explained(), self._written_by_us(), self.locked():
            connection = self._writing_connection()
            if self.sqlite:
                self._flush_on_commit(self._driver(connection), durable)
            try:
                with connection.begin():
                    if not self.sqlite:
                        connection.exec_driver_sql(f"SET LOCAL synchronous_commit = {'on' if durable else 'off'}")
                    yield connection
            except BaseException as error:
                if interruption_of(error) is not None:
                    self._drop_writer()
                raise
        self._relieve()

    def driver_transaction(self, work: Callable[[sqlite3.Connection], None], *, durable: bool) -> None:
        """Do `work` on SQLite's own connection in one transaction: of an append's time, SQLAlchemy would take half."""
        with self._turn:
            self._refuse_to_write(look=durable or time.monotonic() > self._looked + LOOK_S)
            try:
                with self._file_lock:
                    connection = self._driver(self._writing_connection())
                    self._flush_on_commit(connection, durable)
                    connection.execute("BEGIN IMMEDIATE")
                    try:
                        work(connection)
                        connection.execute("COMMIT")
                    except BaseException:
                        if connection.in_transaction:
                            connection.execute("ROLLBACK")
                        raise
            except sqlite3.IntegrityError:
                raise
            except (sqlite3.Error, OSError) as error:
                raise StoreError(explain(self.url, str(error))) from error
        self._relieve()

    def statement(self, text: str, values: Sequence[object], *, durable: bool) -> Rows:
        """Run one statement on Postgres, as one transaction; flushed if `durable`. Return its rows."""
        with self._turn, self.explained():
            self._refuse_to_write()
            return self._single.run(text, values, durable=durable)

    def is_integrity_error(self, error: Exception) -> bool:
        """Whether the database refused a row that breaks its rules."""
        driver = self.dialect.dbapi
        return isinstance(error, sa.exc.IntegrityError) or (
            driver is not None and isinstance(error, driver.IntegrityError)
        )

    def _writing_connection(self) -> sa.Connection:
        if self._writer is None:
            self._writer = self._write_engine.connect()
            self._writer_of_driver = self._writer.connection.driver_connection
            if self.sqlite and self._opened_file is None:
                self._opened_file = self.path.stat()
        return self._writer

    def _drop_writer(self) -> None:
        """Close a connection that was interrupted at any point, with its transaction; the next write opens another.

        The driver's own: SQLAlchemy, interrupted as it gives it up, no longer knows it, and it is still open.
        """
        writer, self._writer, self._flushing = self._writer, None, None
        if writer is not None:
            self._writer_of_driver.close()
            writer.invalidate()

    @contextmanager
    def _written_by_us(self) -> Iterator[None]:
        self._refuse_to_write()
        yield

    def _refuse_to_write(self, *, look: bool = True) -> None:
        """Refuse what could not be undone; asked before the lock, whose folder may be gone.

        `look` for the file too: that is a call of the system, and an unflushed append is but a tenth of a millisecond.
        """
        if self.read_only:
            raise StoreError(f"{shown(self.url)} was opened read-only: nothing can be written through it.")
        self._refuse_after_fork()
        if not look:
            return
        self._looked = time.monotonic()
        if self._is_gone():
            raise StoreError(
                f"database {self.path}: the file was deleted, moved or replaced while it was being written. Nothing "
                f"more is written to it. What was recorded is in that file and in {self.path.name}-wal, which stayed "
                "here: put the file back, and the log is whole up to here."
            )

    def _refuse_after_fork(self) -> None:
        """Refuse a connection that a fork copied: two processes on one would mix their replies or damage the file."""
        if os.getpid() != self._pid:
            raise StoreError(
                f"database {shown(self.url)} was opened by process {self._pid}, which forked this one: "
                "open the store again in the child process."
            )

    def _is_gone(self) -> bool:
        """Whether the path no longer names the SQLite file that is being written."""
        if self._opened_file is None:
            return False
        try:
            return not os.path.samestat(os.stat(self._file), self._opened_file)  # noqa: PTH116 - asked at every append
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
        """Fold SQLite's write-ahead log into the file if it is larger; readers are not waited for.

        Where that cannot be done (a full disk), the log stays as it is: what it holds is committed and is read there.
        The next checkpoint tries again, and an append that cannot be made says why.
        """
        if not self.sqlite or self.read_only or self._is_gone():
            return
        if self._log_size() <= above:
            return
        with (
            suppress(StoreError),
            self._turn,
            self.explained(),
            self.locked(),
            self._read_engine.connect() as connection,
        ):
            connection.exec_driver_sql("PRAGMA busy_timeout = 0")
            try:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").close()
            finally:
                connection.exec_driver_sql(f"PRAGMA busy_timeout = {int(BUSY_S * 1000)}")

    def _relieve(self) -> None:
        """Fold in a log that has outgrown its bound; one that a reader pins, again only when it has grown further."""
        if self.sqlite and self._log_size() > self._log_limit:
            self.checkpoint()
            self._log_limit = max(LOG_BYTES, self._log_size() + CHECKPOINT_BYTES)

    def _log_size(self) -> int:
        try:
            return os.stat(self._file + "-wal").st_size  # noqa: PTH116 - asked at every commit
        except FileNotFoundError:
            return 0

    def left_to_the_parent(self) -> None:
        """In a forked child: close the lock's descriptor, and nothing else of what was inherited."""
        if self.sqlite:
            self._file_lock.abandon()

    def close(self) -> None:
        """Release connections. The last one to leave a SQLite file checkpoints it, so under the lock.

        In a forked child it does nothing: the connections are its parent's.
        """
        if os.getpid() != self._pid:
            return
        if self._writer is not None:
            self.checkpoint()
        with self.locked() if self._connected and not self._is_gone() else nullcontext():
            if self._writer is not None:
                self._writer.close()
                self._writer = None
            self._single.close()
            self._write_engine.dispose()
            self._read_engine.dispose()
        if self.sqlite:
            self._file_lock.close()

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn a driver's error into one paragraph; integrity errors pass for the caller to judge.

        Ctrl-C stays what it is: SQLAlchemy, interrupted half-way, fails as it closes what it was at.
        """
        try:
            with unmasked():
                yield
        except (sa.exc.IntegrityError, sqlite3.IntegrityError):
            raise
        except sqlite3.Error as error:
            raise StoreError(explain(self.url, str(error))) from error
        except sa.exc.DBAPIError as error:
            lost = LOST if error.connection_invalidated else ""
            raise StoreError(explain(self.url, f"{lost}{error.orig}")) from error
        except OSError as error:
            raise StoreError(explain(self.url, str(error))) from error

    def _engine(self, *, writing: bool) -> sa.Engine:
        """Make an engine; parameters, which are what was recorded, stay out of errors and their tracebacks."""
        if not self.sqlite:
            isolation = "READ COMMITTED" if writing else "AUTOCOMMIT"
            server = sa.create_engine(
                self.url, isolation_level=isolation, connect_args={"connect_timeout": 10}, hide_parameters=True
            )
            if self.read_only:
                sa.event.listen(server, "connect", _take_no_writes)
            return server
        self._file_lock = TurnLock(self.path.with_name(self.path.name + ".lock"), BUSY_S)
        if not writing:
            return sa.create_engine(
                "sqlite://",
                creator=self._connect,
                poolclass=sa.QueuePool,
                isolation_level="AUTOCOMMIT",
                hide_parameters=True,
            )
        engine = sa.create_engine("sqlite://", creator=self._connect, poolclass=StaticPool, hide_parameters=True)
        # The driver begins nothing by itself (isolation_level None): a write takes its lock at once or waits for it.
        sa.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
        return engine

    def _connect(self) -> sqlite3.Connection:
        if not self.read_only:
            private.make(self.path)
        connection = open_file(self.path, read_only=self.read_only)
        self._connected = True
        if self.read_only:
            return connection
        (journal,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if journal != "wal":
            self._without_wal(journal)
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

    def _without_wal(self, journal: str) -> None:
        """Say once what a file system without write-ahead logging (a network share, as a rule) means."""
        if self._wal:
            self._wal = False
            warnings.warn(
                f"database {self.path}: SQLite cannot keep a write-ahead log there and uses its {journal} journal: "
                "every commit is flushed, and readers and writers wait for each other. Put the database on a local "
                "disk, or use Postgres.",
                RuntimeWarning,
                stacklevel=2,
            )

    def _driver(self, connection: sa.Connection) -> sqlite3.Connection:
        driver = connection.connection.driver_connection
        if not isinstance(driver, sqlite3.Connection):
            raise StoreError(f"{shown(self.url)}: the connection was lost.")
        return driver

    def _flush_on_commit(self, driver: sqlite3.Connection, durable: bool) -> None:  # noqa: FBT001
        """SQLite cannot change `synchronous` inside a transaction; change it only when the class changes."""
        durable = durable or not self._wal
        if self._flushing is not durable:
            driver.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._flushing = durable


def _take_no_writes(driver: Any, record: object) -> None:
    """Let the server refuse whatever would write, from a connection's beginning on."""
    del record
    before, driver.autocommit = driver.autocommit, True
    driver.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
    driver.autocommit = before
