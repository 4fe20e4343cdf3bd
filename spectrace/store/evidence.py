"""Reading evidence without altering it: what a reader is given in place of a file that it could not read as it lies.

A log of an older revision is copied, with its write-ahead log, into a temporary directory and brought up to date
there; the file itself is only ever opened immutable, so its bytes, its times and its directory stay as they are. A log
of this revision is read in place. A bundle is verified and unpacked into a temporary database.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import sqlalchemy as sa

from spectrace.errors import StoreError
from spectrace.store import migrate, revisions, stand_ins
from spectrace.store.backup import copied
from spectrace.store.bundle_reader import is_zip
from spectrace.store.database import parse_url
from spectrace.store.sql import open_store
from spectrace.store.unpacking import unpack

_TRIES = 5
_SIDES = ("-wal", "-journal")
"""What may lie beside a SQLite file and holds part of it."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A database to read; `close` removes what was made for it."""

    url: str
    note: str | None = None
    """What whoever reads should know: that it is a copy, of what, and the digest of that; None for the thing itself."""
    lacking: tuple[str, ...] = ()
    """The triggers that the file itself lacks; the copy has them."""
    close: Callable[[], None] = lambda: None


@contextmanager
def opened(url: str) -> Iterator[Evidence]:
    """Lend a database to read for a `with` block."""
    evidence = lend(url)
    try:
        yield evidence
    finally:
        evidence.close()


def lend(url: str) -> Evidence:
    """Return the database itself, or a temporary one made of what the path names; `close` it after reading."""
    parsed = parse_url(url)
    path = Path(parsed.database or "")
    if parsed.get_backend_name() != "sqlite" or not path.is_file():
        return Evidence(url)
    if is_zip(path):
        return _unpacked(path)
    stand_ins.refuse(path, evidence=True)
    return _older(url, path)


@contextmanager
def _directory() -> Iterator[TemporaryDirectory[str]]:
    """Make a temporary directory, kept unless something goes wrong."""
    directory = TemporaryDirectory(prefix="spectrace-evidence-")
    try:
        yield directory
    except OSError as error:
        directory.cleanup()
        raise StoreError(
            f"the temporary copy that is read could not be made: {error}. The environment variable TMPDIR chooses "
            "another place, if room is what it lacks."
        ) from error
    except BaseException:
        directory.cleanup()
        raise


def _unpacked(path: Path) -> Evidence:
    """Verify a bundle and unpack it into a temporary database; raise StoreError for one that is not intact."""
    with _directory() as directory:
        log = Path(directory.name) / f"{path.stem}.db"
        store = open_store(str(log))
        try:
            found = unpack(path, store, on_record=False)
        finally:
            store.close()
    note = (
        f"{path} is a bundle: all of it was verified, and its episodes are read from a temporary database; the file is "
        f"left as it is. SHA-256 {found.sha256}."
    )
    return Evidence(str(log), note, (), directory.cleanup)


def _older(url: str, path: Path) -> Evidence:
    said = _revision(path)
    if not _is_older(said) and not (said is None and _waiting(path)):
        return Evidence(url)
    with _directory() as directory:
        copy, digests = Path(directory.name) / path.name, _all_copied(path, Path(directory.name))
        stand_ins.refuse(copy)  # with what its write-ahead log holds
        found = _revision(copy, immutable=False) if digests else None
        if _is_older(found):
            lacking = _upgraded(path, copy, found)
            return Evidence(str(copy), _note(path, found, digests, lacking), lacking, directory.cleanup)
    directory.cleanup()
    if said is not None and not digests:
        raise StoreError(f"{path} was written each time that it was copied: read it when nobody writes it.")
    return Evidence(url)  # its write-ahead log holds the upgrade, or the making of it


def _waiting(path: Path) -> bool:
    """Whether something beside the file is not yet in it."""
    beside = [_seen(path.with_name(path.name + side)) for side in _SIDES]
    return any(seen is not None and seen[1] for seen in beside)


def _upgraded(path: Path, copy: Path, found: str | None) -> tuple[str, ...]:
    """Bring the copy up to date; return the triggers that it lacked."""
    try:
        return tuple(migrate.migrate_copy(copy))
    except StoreError as error:
        raise StoreError(f"{path} is at revision {found}, and a copy of it cannot be upgraded: {error}") from error


def _note(path: Path, found: str | None, digests: list[tuple[str, str]], lacking: tuple[str, ...]) -> str:
    named = ", ".join(f"{name} {digest}" for name, digest in digests)
    triggers = f" It lacks the triggers {', '.join(lacking)}, so events could be changed." if lacking else ""
    return (
        f"{path} is at revision {found}: a temporary copy is read, upgraded to {revisions.head()}; the file is left as "
        f"it is. {named}.{triggers}"
    )


@contextmanager
def peeking(path: Path) -> Iterator[sa.Connection]:
    """Lend a connection to a SQLite file that leaves no trace beside it, unless something lies there already."""
    mode = "mode=ro" if _waiting(path) else "mode=ro&immutable=1"
    engine = sa.create_engine(
        "sqlite://",
        creator=lambda: sqlite3.connect(f"file:{quote(str(path))}?{mode}", uri=True),
        poolclass=sa.NullPool,
    )
    with engine.connect() as connection:
        yield connection


def _is_older(revision: str | None) -> bool:
    return revision != revisions.head() and revision in revisions.carried()


def _revision(path: Path, *, immutable: bool = True) -> str | None:
    """Return the revision that the file itself says, without what lies beside it if `immutable`; None for no answer."""
    name = f"file:{quote(str(path))}?mode={'ro&immutable=1' if immutable else 'rw'}"
    try:
        with closing(sqlite3.connect(name, uri=True)) as connection:
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.Error:  # no log, damaged, or being written just now: opening it for good says which
        return None
    return str(row[0]) if row is not None else None


def _all_copied(path: Path, directory: Path) -> list[tuple[str, str]]:
    """Copy the file and what lies beside it as of one moment; return their names and digests, nothing if none came."""
    sources = [path, *(path.with_name(path.name + side) for side in _SIDES)]
    for _ in range(_TRIES):
        before = [_seen(source) for source in sources]
        digests = [
            (source.name, copied(source, directory / source.name))
            for source, seen in zip(sources, before, strict=True)
            if seen is not None
        ]
        if [_seen(source) for source in sources] == before:
            return digests
    return []


def _seen(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
