"""A file on its way: written and hashed together, kept after an interruption, renamed when it is whole.

Each source has its own `NAME.SOURCE.part`. Beside it lies `NAME.SOURCE.part.json` with the parts appended and the size
up to which the bytes are good; whatever is longer is cut off before going on.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import BinaryIO, Self

CHUNK = 1 << 20


def sha256_of(path: Path) -> str:
    """Return the hex SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Partial:
    """The part of a file that has arrived; a context manager that keeps its place however the block ends."""

    def __init__(self, target: Path, source: str, *, stream: bool) -> None:
        """Continue what this source left behind, else begin. A stream is good up to its last byte."""
        self.path = target.with_name(f"{target.name}.{source}.part")
        self.size = 0
        self.parts = 0
        self._stream = stream
        self._note = self.path.with_name(f"{self.path.name}.json")
        self._hash = hashlib.sha256()
        self._file: BinaryIO | None = None

    def __enter__(self) -> Self:
        """Open the file where the last fetch stopped."""
        self._recall()
        self._file = self.path.open("r+b" if self.size else "wb")
        self._file.truncate(self.size)
        for start in range(0, self.size, CHUNK):
            self._hash.update(self._file.read(min(CHUNK, self.size - start)))
        return self

    def _recall(self) -> None:
        try:
            note = json.loads(self._note.read_bytes())
            size, parts = int(note["size"]), int(note["parts"])
            kept = self.path.stat().st_size
        except (OSError, ValueError, KeyError, TypeError):
            return
        if 0 <= size <= kept:
            self.size, self.parts = size, parts

    def __exit__(self, *_: object) -> None:
        """Close the file and note how far a stream came; parts are noted when they are whole."""
        if self._file is not None:
            self._file.close()
        if self.size == 0:
            self.remove()
        elif self._stream:
            self._remember()

    @property
    def sha256(self) -> str:
        """The hex SHA-256 of what has arrived."""
        return self._hash.hexdigest()

    def write(self, data: bytes) -> None:
        """Append."""
        if self._file is None:
            raise ValueError("the file is not open")
        self._file.write(data)
        self._hash.update(data)
        self.size += len(data)

    def begin_again(self) -> None:
        """Forget what has arrived: the source cannot go on from there."""
        if self._file is not None:
            self._file.seek(0)
            self._file.truncate()
        self._hash = hashlib.sha256()
        self.size = self.parts = 0

    def part_done(self, number: int) -> None:
        """Note that the bytes up to here are good."""
        if self._file is not None:
            self._file.flush()
        self.parts = number
        self._remember()

    def _remember(self) -> None:
        note = {"parts": self.parts, "size": self.size}
        self._note.write_text(json.dumps(note), encoding="ascii")

    def become(self, target: Path) -> None:
        """Give the whole file its name; durable before that."""
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        self.path.replace(target)
        self._note.unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove what has arrived."""
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)
