"""Which texts that events refer to are not there: looked up by their digests, no bytes are read."""

from collections.abc import Iterator

import orjson
import sqlalchemy as sa

from spectrace.errors import StoreError
from spectrace.store import tables
from spectrace.store.blobs import digest_bytes, references
from spectrace.store.memory import MemoryEventStore
from spectrace.store.sql import SqlEventStore

_IN_A_QUERY = 500
_TYPE = 3
"""Where a header has its type."""
_KNOWN = 200_000
"""Digests that are remembered as being there: most episodes share their prompts and policies."""


class Presence:
    """Looks for the blobs of one episode after the other."""

    def __init__(self, store: SqlEventStore | MemoryEventStore) -> None:
        """Nothing is known yet."""
        self._store = store
        self._there: set[str] = set()

    def missing(self, episode: str) -> Iterator[tuple[int, str, str]]:
        """Yield (event, its type, digest) of each reference that leads nowhere; a digest is named once."""
        wanted: dict[str, tuple[int, str]] = {}
        for event in self._store.stored(episode):
            try:
                body = orjson.loads(event.body or b"null")
            except orjson.JSONDecodeError:  # `verify` names it
                continue
            for digest in references(body):
                if digest not in self._there:
                    wanted.setdefault(digest, (event.seq, str(orjson.loads(event.header)[_TYPE])))
        there = self._look(list(wanted))
        if len(self._there) > _KNOWN:
            self._there.clear()
        self._there |= there
        for digest, (seq, type_) in wanted.items():
            if digest not in there:
                yield seq, type_, digest

    def _look(self, digests: list[str]) -> set[str]:
        if isinstance(self._store, MemoryEventStore):
            return set(self._store.blobs(set(digests)))
        column, found = tables.blobs.c.digest, set[str]()
        names = {_bytes(digest): digest for digest in digests}
        keys = [key for key in names if key is not None]
        with self._store.database.reading() as connection:
            for first in range(0, len(keys), _IN_A_QUERY):
                some = keys[first : first + _IN_A_QUERY]
                query = sa.select(column).where(column.in_(some))
                found.update(names[bytes(one)] for one in connection.scalars(query))
        return found


def _bytes(digest: str) -> bytes | None:
    try:
        return digest_bytes(digest)
    except StoreError:  # what is no digest is nowhere
        return None
