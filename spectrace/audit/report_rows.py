"""A table of actions that lies on disk until it is written: a log may hold more of them than memory.

All are counted; the first `limit` are kept. What is left out is known by number, so that a page can say it.
"""

import json
from collections.abc import Iterator
from dataclasses import fields
from operator import attrgetter
from tempfile import TemporaryFile

from spectrace.core.deeds import Deed

_FIELDS = tuple(field.name for field in fields(Deed))
_values = attrgetter(*_FIELDS)


class Deeds:
    """Actions in their order, in a file without a name; `close` gives its room back."""

    def __init__(self, limit: int | None) -> None:
        """Keep the first `limit`, or all."""
        self.total = 0
        self.kept = 0
        self._limit = limit
        self._file = TemporaryFile("w+b")  # noqa: SIM115 - it lives as long as the report

    @property
    def left_out(self) -> int:
        """How many were counted and not kept."""
        return self.total - self.kept

    def add(self, deed: Deed) -> None:
        """Count an action, and keep it while there is room."""
        self.total += 1
        if self._limit is not None and self.kept >= self._limit:
            return
        self._file.write(json.dumps(_values(deed)).encode() + b"\n")  # ASCII: lone surrogates come back as they were
        self.kept += 1

    def __iter__(self) -> Iterator[Deed]:
        """Read those that were kept."""
        self._file.seek(0)
        for line in self._file:
            yield Deed(**dict(zip(_FIELDS, json.loads(line), strict=True)))

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()
