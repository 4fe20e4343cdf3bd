"""A new file that is there whole or not at all: written beside its place, flushed, then renamed into it.

It is its owner's alone, as a log is, because it holds what the log does: a bundle, an export, a report. `public` is for
what is made to be given away and tells nothing of the log: a public key, a checkpoint's note. Whoever replaces a file
makes a new one, whatever mode the old one had.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from spectrace.errors import UsageError

_DATABASE = b"SQLite format 3\0"
_PARTS = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")
"""How a write-ahead log (of either byte order) and a rollback journal begin."""
_BESIDE = ("-wal", "-shm", "-journal", ".lock")
"""What belongs to a database under its name; SQLite would take a new file of that name for its own."""


@contextmanager
def new_file(target: Path, *, force: bool = False, public: bool = False) -> Iterator[BinaryIO]:
    """Lend a file to write; it gets its name on leaving without an error. Nothing is replaced unless `force`.

    `public` lets others read it, where the umask does; nobody else ever writes it.
    """
    _check(target, force)
    try:
        number, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".partial", dir=target.parent)
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}.") from error
    partial = Path(name)
    try:
        with os.fdopen(number, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.chmod(0o644 & ~_umask() if public else 0o600)
        _check(target, force)
        partial.replace(target)
    except BaseException:
        with suppress(FileNotFoundError):
            partial.unlink()
        raise
    _flush_directory(target.parent)


def _check(target: Path, force: bool) -> None:  # noqa: FBT001 - passed on
    of = next((target.with_name(target.name[: -len(end)]) for end in _BESIDE if target.name.endswith(end)), None)
    if of is not None and of.is_file() and _begins(of, _DATABASE):
        raise UsageError(f"{target} is a part of the database {of}: give another name with -o.")
    if not target.exists() and not target.is_symlink():
        return
    if not force:
        raise UsageError(f"{target} is there already: give another name with -o, or --force to replace it.")
    if target.is_dir():
        raise UsageError(f"{target} is a directory; a file name was expected.")
    if _begins(target, _DATABASE, *_PARTS):
        raise UsageError(f"{target} is a database, which --force does not replace: give another name with -o.")


def _begins(path: Path, *starts: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(_DATABASE)).startswith(starts)


def _umask() -> int:
    """Return the process's mask; the system only tells it to who sets it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _flush_directory(directory: Path) -> None:
    """Keep the name, too, through a power cut; systems that cannot open a directory keep it their own way."""
    with suppress(OSError):
        number = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
