"""A store to put episodes into, whose file goes again if nothing came: what failed leaves no empty log behind.

Only a SQLite file that was made for it, and only while nobody else has it open: who opened it meanwhile will write.
On Postgres the schema stays; an empty one harms nobody, and it may be the administrator's.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from spectrace.store.address import BUSY_S, parse_url
from spectrace.store.lock import TurnLock
from spectrace.store.restore import alone
from spectrace.store.sql import SqlEventStore, open_store


@contextmanager
def filling(url: str) -> Iterator[SqlEventStore]:
    """Lend a store to write to for a `with` block."""
    parsed = parse_url(url)
    path = Path(parsed.database or "")
    is_new = parsed.get_backend_name() == "sqlite" and not path.exists()
    store = open_store(url)
    try:
        yield store
    finally:
        store.close()
        if is_new and path.exists():
            _remove_if_empty(path)


def _remove_if_empty(path: Path) -> None:
    lock_path = path.with_name(path.name + ".lock")
    with closing(TurnLock(lock_path, BUSY_S)) as lock, lock:
        if not _is_empty(path):
            return
        for side in ("", "-wal", "-shm"):
            path.with_name(path.name + side).unlink(missing_ok=True)
        with suppress(PermissionError):  # Windows removes no file that is open
            lock_path.unlink()  # while it is held: who waits for it finds that it is another one now


def _is_empty(path: Path) -> bool:
    """Whether nobody has it open, and it holds the first record of its own administrative log alone."""
    try:
        with closing(alone(path)) as connection:
            (events,) = connection.execute("SELECT count(*) FROM (SELECT 1 FROM events LIMIT 2)").fetchone()
            (runs,) = connection.execute("SELECT count(*) FROM runs").fetchone()
    except sqlite3.OperationalError:  # locked: somebody has it open
        return False
    return bool(events <= 1 and runs == 0)
