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
    """A text seen lately: its reference and its digest."""

    reference: dict[str, str]
    digest: bytes


class Fresh:
    """The blobs that one transaction must insert: digest -> bytes."""

    def __init__(self, sent: set[bytes]) -> None:
        """Start empty; `sent` are the blobs that need not be sent again."""
        self.blobs: dict[bytes, bytes] = {}
        self.sent = sent

    def committed(self) -> None:
        """Note that these blobs are in the database: they need not be sent again."""
        self.sent.update(self.blobs)


class TextReferences:
    """Turn texts into what a body holds, remembering the long ones so that each is hashed once.

    `take` gives the blobs that the texts since the last `take` need. Each episode sends a blob once: one that another
    episode sent may have been erased with it meanwhile, one that this episode refers to stays while it is written.
    """

    def __init__(self, capacity_chars: int = 32 << 20) -> None:
        """Bound the memory by the characters of the remembered texts."""
        self._capacity = capacity_chars
        self._size = 0
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._fresh = Fresh(set())
        self.lock = threading.Lock()
        """Held from the first `refer` to the `take` of one transaction: episodes are encoded by several threads."""

    def begin(self, sent: set[bytes]) -> None:
        """Begin the texts of one episode's transaction; `sent` are the blobs that it sent before."""
        self._fresh = Fresh(sent)

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
            if known.digest not in self._fresh.sent:
                self._fresh.blobs[known.digest] = data
        else:
            self._known.move_to_end(text)
            if known.digest not in self._fresh.sent and known.digest not in self._fresh.blobs:
                self._fresh.blobs[known.digest] = text_bytes(text)[0]
        return known.reference

    def take(self) -> Fresh:
        """Return the blobs to send and start over."""
        fresh, self._fresh = self._fresh, Fresh(set())
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
