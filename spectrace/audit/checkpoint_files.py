"""What is kept of a checkpoint outside the database: FILE, the signed note, and FILE.leaves, one leaf a line.

FILE alone says whether a log is the one that was signed; with FILE.leaves, which the signed root covers and which so
needs no signature, it is also known of which episode what differs. Both are replaced as a whole or not at all, the
leaves first: a FILE.leaves with more leaves than FILE says is what an interruption between the two leaves behind.
Whoever writes both takes a turn, and a newer checkpoint of the log that came between stays.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from spectrace.audit.leaves import hashes
from spectrace.core import merkle
from spectrace.core.notes import MAX_BYTES, BadNote, Checkpoint, Note, parse_checkpoint, parse_note
from spectrace.errors import UsageError
from spectrace.store.new_file import new_file

if sys.platform != "win32":
    import fcntl


@dataclass(frozen=True, slots=True)
class Held:
    """A checkpoint as its file says it; `leaves` are those that its root is of."""

    path: Path
    note: Note
    checkpoint: Checkpoint
    leaves: tuple[bytes, ...] | None = None
    problem: str | None = None
    """Why there are no leaves."""


def leaves_file(path: Path) -> Path:
    """Return where the leaves of a checkpoint lie."""
    return path.with_name(f"{path.name}.leaves")


def read(path: Path) -> Held:
    """Read a checkpoint and its leaves; raise UsageError where no file is, BadNote where it holds no checkpoint."""
    note = parse_note(_text(path))
    checkpoint = parse_checkpoint(note.text)
    beside = leaves_file(path)
    if not beside.is_file():
        return Held(path, note, checkpoint, None, f"{beside.name} is not there")
    try:
        lines = beside.read_bytes().split(b"\n")
    except OSError as error:
        return Held(path, note, checkpoint, None, f"{beside.name} cannot be read: {error.strerror}")
    found, rest = tuple(lines[: checkpoint.size]), lines[checkpoint.size :]
    if len(found) < checkpoint.size or not rest or rest[-1] != b"":
        said = f"{beside.name} has {len(lines) - 1:,} whole lines, the checkpoint is of {checkpoint.size:,} leaves"
        return Held(path, note, checkpoint, None, f"{said}: it was altered or cut")
    if merkle.root(hashes(found)) != checkpoint.root:
        said = f"the leaves in {beside.name} do not have the signed root: it was altered, or belongs to another"
        return Held(path, note, checkpoint, None, f"{said} checkpoint")
    return Held(path, note, checkpoint, found)


def read_note(path: Path) -> Note:
    """Read a signed note; raise UsageError where no file is, BadNote where it holds none."""
    return parse_note(_text(path))


def write(path: Path, note: Note, leaves: Sequence[bytes]) -> int:
    """Write both files; return how many bytes the leaves take."""
    data = b"".join(b"%b\n" % leaf for leaf in leaves)
    with _turn(path.parent):
        if not _is_newer(path, parse_checkpoint(note.text)):
            with new_file(leaves_file(path), force=True) as file:
                file.write(data)
            write_note(path, note)
    return len(data)


def _is_newer(path: Path, than: Checkpoint) -> bool:
    """Whether the file holds a later checkpoint of the same log already, which somebody else made meanwhile."""
    try:
        there = parse_checkpoint(read_note(path).text)
    except (BadNote, UsageError):
        return False
    return there.origin == than.origin and there.size > than.size


@contextmanager
def _turn(directory: Path) -> Iterator[None]:
    """Keep other processes on this machine from writing a checkpoint there: the two files would be of two trees."""
    if sys.platform == "win32":  # which locks no folder; files of two trees are named when they are read
        yield
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system that locks nothing: as on Windows
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def write_note(path: Path, note: Note) -> None:
    """Write the note alone. It tells a size and a root, for anybody; the leaves beside it tell of episodes."""
    with new_file(path, force=True, public=True) as file:
        file.write(str(note).encode())


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"the checkpoint {path} cannot be read: {error.strerror}.") from None
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise BadNote("it is no UTF-8 text") from None
