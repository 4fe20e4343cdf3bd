"""Whether the rows of `blobs` are as long as they say, and are those that events name (`db check`).

That a blob's bytes are what its digest says is `spectrace verify`'s: it names the events that need it.
"""

import sqlalchemy as sa

from spectrace.errors import StoreError
from spectrace.store import compression, tables
from spectrace.store.bodies import names_in
from spectrace.store.statements import SEQ_MASK

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


def named(connection: sa.Connection) -> tuple[str | None, str | None]:
    """Find texts that events name and that are not there; count those that none names: a refused append may leave some.

    The first is a problem, the second harms nobody.
    """
    used: dict[bytes, int] = {}
    unreadable, last = 0, None
    columns = sa.select(tables.events.c.key, tables.events.c.codec, tables.events.c.payload)
    while True:
        query = columns if last is None else columns.where(tables.events.c.key > last)
        rows = connection.execute(query.order_by(tables.events.c.key).limit(_BATCH)).all()
        if not rows:
            break
        for last, codec, payload in rows:
            try:
                body = compression.unpack(codec, payload) if payload is not None else b""
            except StoreError:
                unreadable += 1
                continue
            for digest in names_in(body):
                used.setdefault(digest, last)
    there = {bytes(digest) for digest in connection.scalars(sa.select(tables.blobs.c.digest))}
    orphans = len(there - used.keys())
    said = [f"{orphans} are named by no event"] if orphans else []
    said += [f"{unreadable} events cannot be unpacked, see `spectrace verify --all`"] if unreadable else []
    return _missing(connection, {digest: at for digest, at in used.items() if digest not in there}), (
        "; ".join(said) or None
    )


def _missing(connection: sa.Connection, missing: dict[bytes, int]) -> str | None:
    if not missing:
        return None
    shown = []
    for digest, at in list(missing.items())[:_NAMED]:
        number = at >> tables.SEQ_BITS
        query = sa.select(tables.episodes.c.episode).where(tables.episodes.c.number == number)
        episode = connection.scalar(query) or f"number {number}"
        shown.append(f"{digest.hex()[:16]}, first named by {episode}:{at & SEQ_MASK}")
    more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
    return (
        f"texts that events name and that are not there: {len(missing)} ({'; '.join(shown)}{more}). Somebody deleted "
        "them; `spectrace verify --all` names every event that needs them"
    )
