"""Long texts as content-addressed blobs. Counterpart of `codec`, which decides nothing about length.

A text of 256 UTF-8 bytes or more, and any text with lone surrogates (half a pair, or a byte that is no UTF-8), leaves
its body: the body holds `{"$blob": "sha256:..."}`, the blob holds the bytes once, whoever says them again. That is safe
to tell apart from a value because bodies hold no dictionaries of the user's: foreign JSON is always kept as text.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from spectrace.core.digest import text_bytes
from spectrace.errors import StoreError

INLINE_BYTES = 256
"""Texts below this stay in their body. Measured: smaller bodies cost more as rows than they save."""

REFERENCE = "$blob"
_PREFIX = "sha256:"
_UTF8 = "utf-8"


@dataclass(slots=True)
class _Known:
    """A text seen lately: its reference, its digest, and whether its blob is committed."""

    reference: dict[str, str]
    digest: bytes
    committed: bool = False


class Fresh:
    """The blobs that one transaction must insert: digest -> bytes."""

    def __init__(self) -> None:
        """Start empty."""
        self.blobs: dict[bytes, bytes] = {}
        self._known: list[_Known] = []

    def add(self, known: _Known, data: bytes) -> None:
        """Send this text's blob."""
        self.blobs[known.digest] = data
        self._known.append(known)

    def committed(self) -> None:
        """Note that these blobs are in the database: they need not be sent again."""
        for known in self._known:
            known.committed = True


class TextReferences:
    """Turn texts into what a body holds, remembering the long ones so that each is hashed and sent once.

    `take` gives the blobs that the texts since the last `take` need; what is never `committed` is sent again.
    """

    def __init__(self, capacity_chars: int = 32 << 20) -> None:
        """Bound the memory by the characters of the remembered texts."""
        self._capacity = capacity_chars
        self._size = 0
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._fresh = Fresh()
        self.lock = threading.Lock()
        """Held from the first `refer` to the `take` of one transaction: episodes are encoded by several threads."""

    def refer(self, text: str) -> str | dict[str, str]:
        """Return the text itself, or a reference to its blob."""
        if len(text) < INLINE_BYTES and text.isascii():
            return text
        known = self._known.get(text)
        if known is None:
            data, codec = text_bytes(text)
            if len(data) < INLINE_BYTES and codec == _UTF8:
                return text
            known = self._remember(text, data, codec)
            self._fresh.add(known, data)
        else:
            self._known.move_to_end(text)
            if not known.committed and known.digest not in self._fresh.blobs:
                self._fresh.add(known, text_bytes(text)[0])
        return known.reference

    def take(self) -> Fresh:
        """Return the blobs to send and start over."""
        fresh, self._fresh = self._fresh, Fresh()
        return fresh

    def _remember(self, text: str, data: bytes, codec: str) -> _Known:
        digest = hashlib.sha256(data).digest()
        reference = {REFERENCE: _PREFIX + digest.hex()}
        if codec != _UTF8:
            reference["codec"] = codec
        known = self._known[text] = _Known(reference, digest)
        self._size += len(text)
        while self._size > self._capacity:
            self._size -= len(self._known.popitem(last=False)[0])
        return known


def digest_bytes(digest: str) -> bytes:
    """Return the 32 bytes of `sha256:<hex>`; raise StoreError for anything else."""
    try:
        data = bytes.fromhex(digest.removeprefix(_PREFIX)) if digest.startswith(_PREFIX) else b""
    except ValueError:
        data = b""
    if len(data) != hashlib.sha256().digest_size:
        raise StoreError(f"a digest is `sha256:` and 64 hex digits, not {digest[:80]!r}.")
    return data


def references(value: object) -> Iterable[str]:
    """Yield the digest of every blob that a decoded body refers to."""
    match value:
        case {"$blob": str(digest)}:
            yield digest
        case dict():
            for item in value.values():
                yield from references(item)
        case list():
            for item in value:
                yield from references(item)
        case _:
            return
