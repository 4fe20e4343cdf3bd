"""`db restore`: a backup takes the place of a SQLite log, and a new epoch begins.

The backup itself is only read. A copy of it is checked, brought to this revision and given its record before anything
else is touched; then the file that stood there steps aside under another name and the copy takes its place. Nobody may
have the old file open: who has a SQLite file open would fold its write-ahead log into the new one.
"""

import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import sqlalchemy as sa

from spectrace.core.admin_events import AdminRestored, EpochHead
from spectrace.errors import NewerSchema, StoreError, UsageError
from spectrace.store import admin, migrate, revisions
from spectrace.store.address import is_bundle, refuse_bundle
from spectrace.store.backup import copied, file_digest, flush, free_name, stamp
from spectrace.store.database import BUSY_S, Database, explain, parse_url, shown
from spectrace.store.evidence import peeking
from spectrace.store.lock import TurnLock
from spectrace.store.process import operator

_PATIENCE_S = 0.3
"""Who has the file open has it open for long; only a glance is waited for."""

Check = Callable[[str], Sequence[str]]
"""Says what is wrong with the episodes of the database at that URL."""

_SIDES = ("-wal", "-shm", ".lock")


@dataclass(frozen=True, slots=True)
class Restored:
    """What was restored, and under which name what stood there before was kept."""

    path: Path
    digest: str
    """Of the backup."""
    revision: str
    """Of the backup; the database is at this package's."""
    replaced: Path | None
    record: str
    """The record of it in the administrative log, `EP:SEQ`."""


@dataclass(frozen=True, slots=True)
class _Old:
    """The file that steps aside."""

    path: Path
    digest: str
    epoch: EpochHead | None
    """None where there was none, or it could not be read: to be damaged is a reason to be replaced."""


def restore(url: str, backup: Path, check: Check) -> Restored:
    """Put a backup in the place of a SQLite log; raise StoreError, and change nothing, for one that is not sound."""
    parsed = parse_url(url)
    if parsed.get_backend_name() != "sqlite":
        raise UsageError(f"{shown(parsed)} is Postgres: restore it with pg_restore, then run `spectrace db upgrade`.")
    refuse_bundle(parsed)
    target = Path(parsed.database or "")
    _require_backup(backup, target)
    partial = free_name(target, stamp(), "partial")
    try:
        digest = copied(backup, partial)
        revision = _sound(partial, backup, check)
        with closing(TurnLock(target.with_name(target.name + ".lock"), BUSY_S)) as lock, lock:
            old = _old(target)
            record = _record(
                partial,
                old,
                AdminRestored(
                    by=operator(),
                    spectrace=admin.VERSION,
                    backup=backup.name,
                    backup_digest=digest,
                    backup_revision=revision,
                    replaced=old.path.name if old else None,
                    replaced_digest=old.digest if old else None,
                    replaced_epoch=old.epoch if old else None,
                ),
            )
            _exchange(partial, target, old)
        return Restored(target, digest, revision, old.path if old else None, record)
    except OSError as error:
        raise StoreError(explain(parsed, str(error))) from error
    finally:
        for side in ("", *_SIDES):
            with suppress(FileNotFoundError):
                partial.with_name(partial.name + side).unlink()


def _require_backup(backup: Path, target: Path) -> None:
    if not backup.is_file():
        raise UsageError(f"there is no backup {backup}: `spectrace db upgrade` makes them beside the database.")
    if target.is_dir() or not target.parent.is_dir():
        raise UsageError(f"{target} cannot be a database: give a file in a directory that is there with --db.")
    if target.exists() and backup.samefile(target):
        raise UsageError(f"{backup} is the database itself: a backup was expected.")
    if is_bundle(backup):
        raise UsageError(
            f"{backup} is a bundle and no backup: `spectrace unpack {backup}` stores its episodes in a database."
        )
    log = backup.with_name(backup.name + "-wal")
    if log.exists() and log.stat().st_size:
        raise UsageError(f"{log} lies beside it, so {backup} is a database in use and no backup: copy it first.")


def _sound(partial: Path, backup: Path, check: Check) -> str:
    """Refuse a backup that is damaged, newer or altered; bring its copy up to date and return its own revision."""
    try:
        with peeking(partial) as connection:
            found = revisions.of(connection)
            said = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check(5)")]
            broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
    except sa.exc.DBAPIError as error:
        raise StoreError(f"{backup} cannot be restored: {error.orig}. Nothing was changed.") from error
    if found is None:
        raise StoreError(f"{backup} holds no log: a backup that spectrace made was expected. Nothing was changed.")
    if found not in revisions.carried():
        raise NewerSchema(
            f"{backup} is at revision {found}, written by a newer spectrace; this one carries revisions up to "
            f"{revisions.head()}. Restore it with the newer one. Nothing was changed."
        )
    wrong = [] if said == ["ok"] else said
    wrong += [f"rows that name a parent which is missing: {len(broken)}"] if broken else []
    if not wrong:
        migrate.migrate_copy(partial)
        wrong = list(check(str(partial)))
    if wrong:
        more = f" (and {len(wrong) - 3} more)" if len(wrong) > 3 else ""  # noqa: PLR2004 - enough to see what it is
        first = "; ".join(one.rstrip(".") for one in wrong[:3])
        raise StoreError(f"{backup} is not sound: {first}{more}. Nothing was changed.")
    return found


def _old(target: Path) -> _Old | None:
    """Look at the file that stands there; its write-ahead log is folded into it."""
    if not target.exists():
        return None
    log, kept = target.with_name(target.name + "-wal"), free_name(target, stamp(), "wal")
    if log.exists():
        copied(log, kept)
    try:
        epoch = _epoch(target)
        if kept.exists() and kept.stat().st_size and not log.exists() and _is_damaged(target):
            kept.rename(log)  # SQLite throws away a log that it cannot fold in
    finally:
        kept.unlink(missing_ok=True)
    return _Old(free_name(target, stamp(), "replaced"), file_digest(target), epoch)


def _is_damaged(target: Path) -> bool:
    try:
        with peeking(target) as connection:
            connection.exec_driver_sql("SELECT count(*) FROM sqlite_schema")
    except sa.exc.DatabaseError:
        return True
    return False


def _epoch(target: Path) -> EpochHead | None:
    """Return the administrative log's head, having made sure that nobody else has the file open."""
    engine = sa.create_engine("sqlite://", creator=lambda: alone(target), poolclass=sa.NullPool)
    try:
        with engine.connect() as connection:
            epoch = admin.current(connection)
    except sa.exc.OperationalError as error:
        if "locked" in str(error.orig):
            raise StoreError(
                f"another process has {target} open: end it (viewers too), then restore. Nothing was changed."
            ) from error
        return None
    except sa.exc.DatabaseError:  # damaged, or no database at all
        return None
    return epoch.told if epoch is not None else None


def alone(path: Path) -> sqlite3.Connection:
    """Open the file as its only user; closing it folds the write-ahead log in."""
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?mode=rw", uri=True, timeout=_PATIENCE_S, isolation_level=None
    )
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    return connection


def _record(partial: Path, old: _Old | None, body: AdminRestored) -> str:
    database = Database(parse_url(str(partial)), read_only=False)
    try:
        with database.writing(durable=True) as connection:
            admin.open_epoch(connection, "restored", previous=old.epoch if old else None)
            return admin.append(connection, body)
    finally:
        database.close()


def _exchange(partial: Path, target: Path, old: _Old | None) -> None:
    """Let the old file step aside and the new one take its place; each is whole under some name at every moment."""
    if old is not None:
        shutil.copymode(target, partial)
    flush(partial)
    if old is not None:
        log = target.with_name(target.name + "-wal")
        if log.exists() and log.stat().st_size:  # it could not be folded into a damaged file, so it stays with it
            log.rename(old.path.with_name(old.path.name + "-wal"))
        target.rename(old.path)
    for side in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            target.with_name(target.name + side).unlink()
    partial.replace(target)
    flush(target.parent)
