"""A SQLite file opened by the driver: what its schema holds is not trusted, and what is cut short is rolled back."""

import sqlite3
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from spectrace.store.address import BUSY_S


class Connection(sqlite3.Connection):
    """SQLite keeps a closed connection, its transaction and its lock while a statement of it is not read to its end."""

    def close(self) -> None:
        """Roll back what was interrupted, then close."""
        with suppress(sqlite3.Error):  # closed before; or the disk is full, and closing rolls back
            if self.in_transaction:
                self.rollback()
        super().close()


def open_file(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """Open the file; the driver begins no transaction by itself."""
    name = f"file:{quote(str(path))}?mode={'ro' if read_only else 'rwc'}"
    connection = _connected(name)
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("SELECT count(*) FROM sqlite_schema")
    except sqlite3.OperationalError:
        connection.close()
        # A reader of WAL makes the -shm file; where it may not and there is no WAL, the file is all there is.
        if not read_only or path.with_name(path.name + "-wal").exists() or not path.exists():
            raise
        return _connected(f"{name}&immutable=1")
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection


def _connected(name: str) -> sqlite3.Connection:
    return sqlite3.connect(
        name, uri=True, timeout=BUSY_S, isolation_level=None, check_same_thread=False, factory=Connection
    )
