"""What an unfinished episode has done so far, counted by the database: a listing must not read what it lists.

Counts what `core.tally` counts, of rows instead of events. Bodies are fetched of the few types whose headers do
not say what counts. What a resumed episode took over was done, and is counted, in the one that it goes on from.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import orjson
import sqlalchemy as sa

from spectrace.core.deeds import FORK, FROM_THE_RECORD, RESUME
from spectrace.core.events import (
    TYPE_NUMBERS,
    ActCompleted,
    GenerateCompleted,
    GenerateRequested,
    RepairMade,
    SegmentClosed,
    StepDrafted,
    StepsDiscarded,
    Totals,
    VerdictGiven,
)
from spectrace.core.taken import Taken
from spectrace.core.types import Effect
from spectrace.errors import StoreError
from spectrace.store import tables
from spectrace.store.compression import unpack
from spectrace.store.database import Database
from spectrace.store.statements import SEQ_MASK, key

_TOLD_BY_BODY = [TYPE_NUMBERS[cls] for cls in (GenerateRequested, RepairMade, StepsDiscarded)]


def totals_so_far(database: Database, number: int) -> Totals:
    """Return an episode's totals by its number; of a body that cannot be read nothing is counted."""
    column = tables.events.c
    here = (column.key >= key(number, 0), column.key <= key(number, SEQ_MASK))
    what = (column.type, column.effect, column.outcome)
    counted = sa.select(*what, sa.func.count()).where(*here).group_by(*what)
    bodies = sa.select(column.type, column.codec, column.payload).where(*here, column.type.in_(_TOLD_BY_BODY))
    acts = sa.select(column.effect, column.codec, column.payload).where(
        *here, column.type == TYPE_NUMBERS[ActCompleted]
    )
    with database.reading() as connection:
        totals = Totals()
        parent = _parent(connection, number)
        if parent.get("kind") == RESUME:
            told = Counter(
                effect
                for effect, codec, payload in connection.execute(acts)
                if _body(codec, payload).get("source") in FROM_THE_RECORD
            )
            totals = Totals(reads=-told[Effect.READ], writes=-told[Effect.WRITE])
        for type_, effect, outcome, count in connection.execute(counted):
            totals = _with_headers(totals, type_, effect, outcome, count)
        for outcome in _reviewed_in_parent(connection, number, parent):
            totals = _with_headers(totals, TYPE_NUMBERS[VerdictGiven], None, outcome, -1)
        for type_, codec, payload in connection.execute(bodies):
            totals = _with_body(totals, type_, _body(codec, payload))
    return totals


def _parent(connection: sa.Connection, number: int) -> dict[str, object]:
    first = sa.select(tables.events.c.codec, tables.events.c.payload).where(tables.events.c.key == key(number, 0))
    for codec, payload in connection.execute(first):
        parent = _body(codec, payload).get("parent")
        return parent if isinstance(parent, dict) else {}
    return {}


def _reviewed_in_parent(connection: sa.Connection, number: int, parent: dict[str, object]) -> Iterator[str | None]:
    """Yield the outcome of each verdict that the episode took over from its parent."""
    kind, until = parent.get("kind"), parent.get("seq")
    if kind not in {FORK, RESUME}:
        return
    taken, column = Taken(), tables.events.c
    taken.begin(str(kind), until if isinstance(until, int) else None)
    here = (column.key >= key(number, 0), column.key <= key(number, SEQ_MASK))
    query = sa.select(column.key, column.type, column.outcome, column.codec, column.payload)
    told = query.where(*here, column.type.in_([TYPE_NUMBERS[GenerateCompleted], TYPE_NUMBERS[VerdictGiven]]))
    for key_, type_, outcome, codec, payload in connection.execute(told.order_by(column.key)):
        body, seq = _body(codec, payload), key_ & SEQ_MASK
        asked = body.get("review" if type_ == TYPE_NUMBERS[VerdictGiven] else "request")
        if not isinstance(asked, int):
            continue
        if type_ == TYPE_NUMBERS[GenerateCompleted]:
            taken.answered(seq, asked, body.get("source"))
        elif taken.has(seq, asked):
            yield outcome


def _with_headers(totals: Totals, type_: int, effect: str | None, outcome: str | None, count: int) -> Totals:
    if type_ == TYPE_NUMBERS[StepDrafted]:
        return replace(totals, steps=totals.steps + count)
    if type_ == TYPE_NUMBERS[SegmentClosed]:
        return replace(totals, segments=totals.segments + count)
    if type_ == TYPE_NUMBERS[VerdictGiven]:
        return replace(
            totals,
            reviews=totals.reviews + count,
            rejections=totals.rejections + count * (outcome == "reject"),
            unusable=totals.unusable + count * (outcome == "unusable"),
        )
    if type_ == TYPE_NUMBERS[ActCompleted] and effect == Effect.READ:
        return replace(totals, reads=totals.reads + count)
    if type_ == TYPE_NUMBERS[ActCompleted] and effect == Effect.WRITE:
        return replace(totals, writes=totals.writes + count)
    return totals


def _with_body(totals: Totals, type_: int, body: dict[str, object]) -> Totals:
    match body:
        case {"who": "strong"} if type_ == TYPE_NUMBERS[GenerateRequested]:
            return replace(totals, strong_calls=totals.strong_calls + 1)
        case {"who": "weak"} if type_ == TYPE_NUMBERS[GenerateRequested]:
            return replace(totals, weak_calls=totals.weak_calls + 1)
        case {"who": str()} if type_ == TYPE_NUMBERS[GenerateRequested]:
            return replace(totals, user_calls=totals.user_calls + 1)
        case {"actions": list(actions)}:
            return replace(totals, repairs=totals.repairs + 1, steps=totals.steps + len(actions))
        case {"start": int(start), "end": int(end)}:
            return replace(totals, discarded=totals.discarded + end - start + 1)
        case _:
            return totals


def _body(codec: int, payload: bytes | None) -> dict[str, object]:
    try:
        value = orjson.loads(unpack(codec, payload or b""))
    except (StoreError, ValueError, TypeError):  # `verify` says what is wrong with it; a listing goes on
        return {}
    return value if isinstance(value, dict) else {}
