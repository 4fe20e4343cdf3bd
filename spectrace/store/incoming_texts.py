"""The long texts that an arriving episode refers to, sent into the database a few at a time. Part of `transfer`.

A text that is there is not fetched again; one that comes is compared with its name. How many are fetched together
depends on how large the last ones were: one may have hundreds of megabytes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import sqlalchemy as sa

from spectrace.core.digest import digest
from spectrace.errors import StoreError
from spectrace.store import sight, tables
from spectrace.store.blobs import digest_bytes
from spectrace.store.compression import pack_blob
from spectrace.store.rows import Damage
from spectrace.store.statements import Statements
from spectrace.store.texts import FetchBlobs

_AT_ONCE = 32
_LARGE = 8 << 20
"""After texts that have more bytes than this together, they are fetched one after the other."""


@dataclass(slots=True)
class IncomingTexts:
    """Which texts of one episode are in the database by now."""

    episode: str
    fetch: FetchBlobs
    whole: bool
    """Whether a text that is missing or altered is damage; else it is left out."""
    at_once: int = 1
    sent: set[str] = field(default_factory=set)

    def send(self, connection: sa.Connection, wanted: Sequence[tuple[int, Sequence[str]]]) -> None:
        """Send what these events need: (seq, digests of its texts) each."""
        first_use = {name: seq for seq, names in reversed(wanted) for name in names}
        names = [name for name in first_use if name not in self.sent and self._is_digest(name, first_use[name])]
        while names:
            some, names = {digest_bytes(name): name for name in names[: self.at_once]}, names[self.at_once :]
            held = _held(connection, list(some))
            missing = {name for key, name in some.items() if key not in held}
            found = self.fetch(missing) if missing else {}
            sound = {name: self._sound(name, found, first_use[name]) for name in sorted(missing)}
            rows = [
                (digest_bytes(name), len(data), *pack_blob(data)) for name, data in sound.items() if data is not None
            ]
            Statements(connection.dialect).insert(connection, tables.blobs, rows, ignore=True)
            self.sent.update(some.values())
            large = sum(len(data) for data in found.values()) > _LARGE
            self.at_once = 1 if large else min(2 * self.at_once, _AT_ONCE)

    def _is_digest(self, name: str, seq: int) -> bool:
        try:
            digest_bytes(name)
        except StoreError as error:
            if self.whole:
                raise Damage(f"event {seq} of {self.episode} refers to a text by another name: {error}") from None
            return False
        return True

    def _sound(self, name: str, found: Mapping[str, bytes], seq: int) -> bytes | None:
        data = found.get(name)
        if data is not None and digest(data) == name:
            return data
        if not self.whole:
            return None
        what = "is missing" if data is None else "holds other bytes than its name says"
        raise Damage(f"the text {name} of event {seq} of {self.episode} {what}.")


def _held(connection: sa.Connection, wanted: Sequence[bytes]) -> set[bytes]:
    """Return those texts that are there."""
    marks = ", ".join("?" * len(wanted))
    text = f"SELECT digest FROM {sight.texts(connection, marks)}"  # noqa: S608 - our own names
    mark = "?" if connection.dialect.name == "sqlite" else "%s"
    return {bytes(found) for found in connection.exec_driver_sql(text.replace("?", mark), tuple(wanted)).scalars()}
