"""The beginnings of blobs, so that a field of many megabytes costs a list or a timeline no more than any other.

Counterpart of `log.LogReader.blobs`, which reads them whole. A beginning cannot be checked against its blob's name.
"""

import sqlalchemy as sa

from spectrace.errors import StoreError
from spectrace.store import sight
from spectrace.store.compression import unpack_head
from spectrace.store.rows import Damage
from spectrace.store.texts import HEAD_BYTES, Head

SMALL_BYTES = 64 << 10
"""Packed blobs up to this come with the others."""
_PACKED = 160 << 10
"""What is read of a larger one: more than the first block of zstd, which holds at most 128 KiB."""

FOUND = f"digest, codec, length, CASE WHEN length(bytes) <= {SMALL_BYTES} THEN bytes END"
"""The columns that `head` wants."""


def head(connection: sa.Connection, name: str, found: tuple[bytes, int, int, bytes | None]) -> Head:
    """Return the beginning of a blob; of a large one no more than that is read."""
    digest, codec, length, data = found
    try:
        return Head(unpack_head(codec, _begun(connection, digest) if data is None else data, HEAD_BYTES), length)
    except StoreError as error:
        raise Damage(f"blob {name}: {error}") from error


def _begun(connection: sa.Connection, digest: bytes) -> bytes:
    if connection.dialect.name != "sqlite":
        text = f"SELECT substring(bytes FROM 1 FOR %s) FROM {sight.texts(connection, '%s')}"  # noqa: S608 - our own
        return bytes(connection.exec_driver_sql(text, (_PACKED, digest)).scalar_one())
    rowid = connection.exec_driver_sql("SELECT rowid FROM blobs WHERE digest = ?", (digest,)).scalar_one()
    driver = connection.connection.driver_connection
    if driver is None:
        raise StoreError("the connection was lost.")
    # SQLite's substr() would read all of the value.
    with driver.blobopen("blobs", "bytes", rowid, readonly=True) as blob:
        return bytes(blob.read(_PACKED))
