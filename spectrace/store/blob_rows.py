"""Whether the rows of `blobs` are as long as they say, and which no event names (`db check`).

That a blob's bytes are what its digest says is `spectrace verify`'s: it names the events that need it.
"""

import re

import sqlalchemy as sa

from spectrace.errors import StoreError
from spectrace.store import compression, tables

_REFERENCE = re.compile(rb'"\$blob":"sha256:([0-9a-f]{64})"')
_BATCH = 2000
_PAGE = 200
"""Of blobs at once: one may have a gigabyte, few have more than a page of text."""
_NAMED = 3


def wrong_lengths(connection: sa.Connection) -> str | None:
    """Find blobs that are longer or shorter than is said; those that cannot be unpacked, `spectrace verify` names."""
    column, last, wrong = tables.blobs.c, b"", list[str]()
    while True:
        rows = connection.execute(
            tables.blobs.select().where(column.digest > last).order_by(column.digest).limit(_PAGE)
        )
        page = rows.all()
        if not page:
            break
        for last, length, codec, data in page:
            try:
                found = len(compression.unpack(codec, data))
            except StoreError:
                continue
            if found != length:
                wrong.append(f"{bytes(last).hex()[:16]} has {found:,} bytes, not {length!r:.20}")
    if not wrong:
        return None
    more = f" and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
    return f"blobs of another length than is said: {'; '.join(wrong[:_NAMED])}{more}. Somebody altered that"


def unused(connection: sa.Connection) -> str | None:
    """Count the blobs that no event names: an append that was refused may leave some, they harm nobody."""
    used: set[bytes] = set()
    unreadable, last = 0, None
    columns = sa.select(tables.events.c.key, tables.events.c.codec, tables.events.c.payload)
    while True:
        query = columns if last is None else columns.where(tables.events.c.key > last)
        rows = connection.execute(query.order_by(tables.events.c.key).limit(_BATCH)).all()
        if not rows:
            break
        for last, codec, payload in rows:  # noqa: B007 - where the next batch begins
            try:
                body = compression.unpack(codec, payload) if payload is not None else b""
            except StoreError:
                unreadable += 1
                continue
            used.update(bytes.fromhex(name.decode()) for name in _REFERENCE.findall(body))
    orphans = sum(digest not in used for digest in connection.scalars(sa.select(tables.blobs.c.digest)))
    said = [f"{orphans} are named by no event"] if orphans else []
    said += [f"{unreadable} events cannot be unpacked, see `spectrace verify --all`"] if unreadable else []
    return "; ".join(said) or None
