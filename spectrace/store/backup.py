"""Copies of a SQLite file: the backup before an upgrade, and the one that a restore puts in its place.

A copy gets its name only when it is whole and flushed; no file is ever overwritten. Postgres has its own tools.
"""

import hashlib
import os
import shutil
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from spectrace.store import private
from spectrace.store.database import Database

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup, whole and flushed to disk."""

    path: Path
    digest: str
    """`sha256:<hex>` of the file."""


def take(database: Database, revision: str) -> Backup:
    """Copy a SQLite database, its write-ahead log included, beside itself; called while its lock is held."""
    target = free_name(database.path, f"{revision}.{stamp()}", "backup")
    partial = target.with_name(target.name + ".partial")
    private.make(partial)
    try:
        with closing(sqlite3.connect(database.path)) as source, closing(sqlite3.connect(partial)) as copy:
            source.backup(copy)
        shutil.copymode(database.path, partial)
        settle(partial, target)
    except BaseException:
        with suppress(FileNotFoundError):
            partial.unlink()
        raise
    return Backup(target, file_digest(target))


def copied(source: Path, target: Path) -> str:
    """Copy a file byte by byte, over an earlier try; return the digest of what was copied."""
    digest = hashlib.sha256()
    with source.open("rb") as reading, open(target, "wb", opener=private.opener) as writing:
        while chunk := reading.read(_CHUNK):
            digest.update(chunk)
            writing.write(chunk)
    return f"sha256:{digest.hexdigest()}"


def settle(partial: Path, target: Path) -> None:
    """Flush a finished copy to disk and give it its name."""
    flush(partial)
    partial.replace(target)
    flush(target.parent)


def flush(path: Path) -> None:
    """Flush a file, or a directory's entries, to disk."""
    if os.name == "nt" and path.is_dir():  # Windows has no such thing
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def free_name(beside: Path, middle: str, kind: str) -> Path:
    """Return `NAME.MIDDLE.KIND`, or `NAME.MIDDLE-2.KIND` and so on: one that no file has."""
    count = 1
    while True:
        more = f"-{count}" if count > 1 else ""
        path = beside.with_name(f"{beside.name}.{middle}{more}.{kind}")
        if not path.exists():
            return path
        count += 1


def stamp() -> str:
    """Return the time as part of a file's name."""
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")


def file_digest(path: Path) -> str:
    """Return `sha256:<hex>` of a file."""
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
