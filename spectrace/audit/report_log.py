"""Which log a report is about: the files and their digests, or the database, and its administrative logs with heads."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from spectrace.audit.queries import Reader
from spectrace.store.address import parse_url, shown

_SIDES = ("", "-wal", "-journal")
"""A SQLite database, and what may lie beside it and holds a part of it."""
_CHUNK = 1 << 20

Told = Callable[[int, int], None]
"""Is told how many bytes of how many were read."""


@dataclass(frozen=True, slots=True)
class File:
    """A file as it was read: its name without the directory, its length, its SHA-256 in hex."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Head:
    """An administrative log of the database: how many events, and the link of the last, in hex."""

    episode: str
    events: int
    head: str


@dataclass(frozen=True, slots=True)
class LogIdentity:
    """A database or bundle. One that is written to meanwhile has other digests a moment later; its heads only grow."""

    name: str
    """The file's name, or the database's address without credentials."""
    files: tuple[File, ...]
    """None of a database server."""
    administrative: tuple[Head, ...]
    """The newest epoch first; the last one of the database's own is who it is."""


def identity(reader: Reader, url: str, told: Told | None = None) -> LogIdentity:
    """Say which log `url` names; `reader` reads it."""
    parsed = parse_url(url)
    path = Path(parsed.database or "")
    local = parsed.get_backend_name() == "sqlite"
    sides = [path.with_name(path.name + side) for side in _SIDES] if local else []
    there = [one for one in sides if one.is_file() and one.stat().st_size]
    total, files, before = sum(one.stat().st_size for one in there), list[File](), 0
    for one in there:
        files.append(_file(one, before, total, told))
        before += files[-1].bytes
    rows = [reader.store.row(name) for name in reader.administrative()]
    heads = tuple(Head(row.episode, row.events, row.head.hex()) for row in rows)
    return LogIdentity(path.name if local else shown(parsed), tuple(files), heads)


def _file(path: Path, before: int, total: int, told: Told | None) -> File:
    digest, length = hashlib.sha256(), 0
    with path.open("rb") as file:
        while data := file.read(_CHUNK):
            digest.update(data)
            length += len(data)
            if told is not None:
                told(before + length, total)
    return File(path.name, length, digest.hexdigest())
