"""Whether the rows of `episodes` say what their events say (`db check`): nothing guards these rows, and lists use them.

Looked up are the first event, the last and the end; what lies between, and the chain, are `spectrace verify`'s.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any

import orjson
import sqlalchemy as sa

from spectrace.core.events import TYPE_NUMBERS, EpisodeEnded, EpisodeStarted
from spectrace.errors import StoreError
from spectrace.store import projections
from spectrace.store.compression import unpack
from spectrace.store.statements import LEASE_US, SEQ_MASK

_PAGE = 2000
_NAMED = 3
"""Episodes that are named; of more, how many."""
_MOMENT_US = 60_000_000
"""A record may have waited for other writers."""
_AHEAD_US = 600_000_000
"""How far the clocks of two hosts may lie apart, beside a lease's length."""
_BEYOND = SEQ_MASK + 1
_ENDED = TYPE_NUMBERS[EpisodeEnded]
_QUERY = f"""
SELECT said.number, said.episode, said.project, said.started_at, said.ended_at, said.events, said.head,
       opening.type AS first_type, opening.at AS first_at, opening.codec, opening.payload,
       said.lease_until, latest.key AS last_key, latest.at AS last_at, latest.link, ending.at AS ending_at
FROM episodes AS said
LEFT JOIN events AS opening ON opening.key = said.number * {_BEYOND}
LEFT JOIN events AS latest ON latest.key = (
  SELECT max(key) FROM events WHERE key >= said.number * {_BEYOND} AND key < (said.number + 1) * {_BEYOND})
LEFT JOIN events AS ending ON ending.key = (
  SELECT max(key) FROM events
  WHERE key >= said.number * {_BEYOND} AND key < (said.number + 1) * {_BEYOND} AND type = {_ENDED})
"""  # noqa: S608 - our own numbers


def problems(connection: sa.Connection) -> str | None:
    """Return which rows say something else than their events, and what; None where all agree."""
    named: list[str] = []
    count = 0
    for episode, wrong in altered(connection):
        count += 1
        if len(named) < _NAMED:
            named.append(f"{episode} ({wrong})")
    if not count:
        return None
    more = f" and {count - _NAMED} more" if count > _NAMED else ""
    return (
        f"the rows of {count} episodes say something else than their events: {', '.join(named)}{more}. Somebody "
        "altered them; `spectrace verify --all` tells whether the events are whole"
    )


def altered(connection: sa.Connection) -> Iterator[tuple[str, str]]:
    """Yield each episode whose row says something else than its events, and what."""
    now = time.time_ns() // 1000
    for row in _rows(connection):
        wrong = _wrong(row, now)
        if wrong:
            yield str(row.episode), "; ".join(wrong)


def _rows(connection: sa.Connection) -> Iterator["sa.Row[Any]"]:
    query, last = f"{_QUERY} ORDER BY said.number LIMIT {_PAGE}", None
    while page := connection.exec_driver_sql(query).all():
        yield from page
        last = page[-1].number
        query = f"{_QUERY} WHERE said.number > {int(last)} ORDER BY said.number LIMIT {_PAGE}"


def _wrong(row: "sa.Row[Any]", now: int) -> Sequence[str]:
    """Return what a row says that its events do not; a missing first event, say, is not the row's fault."""
    if row.last_key is None:
        return ["no event is there"]
    found = []
    if row.first_at is not None and not _begun_a_moment_before(row):
        found += _differs("started_at", row.started_at, row.first_at)
    if row.number > 0 and row.first_at is not None:
        project = _project(row)
        found += [] if project is None else _differs("project", row.project, project)
    found += _differs("events", row.events, (row.last_key & SEQ_MASK) + 1)
    if row.head != row.link:
        found.append("head is not its last event's link")
    found += _differs("ended_at", row.ended_at, row.ending_at)
    if row.ended_at is None:
        found += _lease(row, now)
    return found


def _lease(row: "sa.Row[Any]", now: int) -> list[str]:
    """Say that a lease cannot be: one that no writer took hides for as long that the writer is gone.

    A writer's is at most LEASE_US longer than its clock, which its last event knows too.
    """
    most = max(now, row.last_at if type(row.last_at) is int else 0) + LEASE_US + _AHEAD_US
    if type(row.lease_until) is int and row.lease_until <= most:
        return []
    return [f"lease_until {row.lease_until!r:.40}, later than any writer's can be: it hides that the writer is gone"]


def _begun_a_moment_before(row: "sa.Row[Any]") -> bool:
    """Whether a row is of an administrative log, which gets it just before its first record; a copy has one time."""
    return bool(row.number <= 0 and row.first_at - _MOMENT_US <= row.started_at <= row.first_at)


def _differs(name: str, said: object, told: object) -> list[str]:
    return [] if said == told else [f"{name} {said!r:.40}, by its events {told!r:.40}"]


def _project(row: "sa.Row[Any]") -> str | None:
    """Return the project that event 0 names; None where it cannot be told from its bytes."""
    if row.first_type != TYPE_NUMBERS[EpisodeStarted] or row.payload is None:
        return None
    try:
        body = orjson.loads(unpack(row.codec, row.payload))
    except (StoreError, ValueError):  # `spectrace verify` names it
        return None
    project = body.get("project") if isinstance(body, dict) else None
    return projections.storable(project) if isinstance(project, str) else None
