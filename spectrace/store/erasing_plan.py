"""Which events an erasure takes, found before anything is changed: what `--dry-run` shows. Counterpart of `erasing`.

Copies go with what they were made of: an episode's children hold its record, a prompt the observation before it. What
is still being written is refused; what no erasure reaches is said.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import sqlalchemy as sa

from spectrace.core.admin_events import ErasedRange, is_admin
from spectrace.core.digest import bytes_text
from spectrace.errors import UsageError
from spectrace.store import tables
from spectrace.store.bodies import Stored, all_bodies, names_in, still_named, unpacked
from spectrace.store.erasures import ranges
from spectrace.store.kin import Kin, ids, kin
from spectrace.store.matching import Needle, Resolve
from spectrace.store.reach import headers_with, kept_beside
from spectrace.store.repeats import own_texts, repeats
from spectrace.store.sql import SqlEventStore
from spectrace.store.statements import SEQ_MASK, key

_BLOBS_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Named:
    """Episodes, or single events of them, by their whole ids."""

    targets: tuple[tuple[str, int | None], ...]
    how = "named"


@dataclass(frozen=True, slots=True)
class Matching:
    """Every event that says a text."""

    needle: Needle
    how = "matching"


@dataclass(frozen=True, slots=True)
class Before:
    """Episodes that ended before a time (UTC microseconds); `projects` have times of their own, None keeps them."""

    at: int | None
    projects: Mapping[str, int | None] = field(default_factory=dict)
    how: str = "before"
    """before, retention."""


Wanted = Named | Matching | Before


@dataclass(frozen=True, slots=True)
class Part:
    """What is taken of one episode, and why: named, `child of EP`, `repeats EP:SEQ`, matches, `ended before TIME`."""

    episode: str
    number: int
    events: tuple[ErasedRange, ...]
    why: str

    @property
    def count(self) -> int:
        """How many events."""
        return sum(one.last - one.first + 1 for one in self.events)

    def takes(self, seq: int) -> bool:
        """Whether an event is among them."""
        at = bisect_right(self.events, seq, key=lambda one: one.first)
        return at > 0 and seq <= self.events[at - 1].last


@dataclass(frozen=True, slots=True)
class Plan:
    """What an erasure would do."""

    how: str
    parts: tuple[Part, ...]
    blobs: Mapping[bytes, int]
    """Texts that nothing else refers to -> how many of the events that are taken do."""
    seen: Mapping[int, int]
    """Episode's number -> how many of its events were looked at for that."""
    refused: tuple[tuple[str, str], ...]
    """(episode, why)."""
    stays: tuple[str, ...]
    """Where what was looked for stands, and stays."""
    beyond: tuple[str, ...]
    """What may hold it, and is not reached."""


class _Chosen:
    """The events chosen so far, by episode's number."""

    def __init__(self) -> None:
        self.seqs: dict[int, set[int]] = {}
        self.why: dict[int, str] = {}

    def add(self, number: int, seqs: Iterable[int], why: str) -> None:
        self.seqs.setdefault(number, set()).update(seqs)
        self.why.setdefault(number, why)


def plan(store: SqlEventStore, wanted: Wanted) -> Plan:
    """Return what the erasure would take; nothing is changed."""
    chosen = _Chosen()
    stays: list[str] = []
    copies: list[str] = []
    match wanted:
        case Named(targets):
            _name(store, targets, chosen)
        case Matching(needle):
            stays = _match(store, needle, chosen)
            copies = [needle.not_found]
        case Before():
            copies = _ended_before(store, wanted, chosen)
    seqs = {number: some for number, some in chosen.seqs.items() if some}
    rows = {row.number: row for number in seqs for row in store.log.episodes("number = ?", (number,))}
    running = {number for number, row in rows.items() if store.state(row) == "running"}
    parts = tuple(
        Part(str(rows[number].episode), number, tuple(ranges(str(rows[number].episode), some)), chosen.why[number])
        for number, some in sorted(seqs.items())
        if number not in running
    )
    blobs, seen = _alone(store, parts)
    refused = tuple((str(rows[number].episode), _being_written(rows[number])) for number in sorted(running))
    beyond = (*copies, *kept_beside(store.database))
    return Plan(wanted.how, parts, blobs, seen, refused, tuple(stays), beyond)


def _being_written(row: object) -> str:
    pid, host = getattr(row, "writer_pid", "?"), getattr(row, "writer_host", "?")
    return f"it is being written by process {pid} on {host}: erase it when it has ended."


def _name(store: SqlEventStore, targets: Sequence[tuple[str, int | None]], chosen: _Chosen) -> None:
    known = kin(store.database)
    for episode, seq in targets:
        if is_admin(episode):
            raise UsageError(
                f"{episode} is an administrative log: it says what was done to the database, and is not erased."
            )
        number = store.log.number(episode)
        if seq is None:
            chosen.add(number, _whole(store, number), "named")
            for child in _here(store, known.descendants(episode)):
                chosen.add(child, _whole(store, child), f"child of {episode}")
        else:
            _repeated(store, known, episode, seq, chosen)


def _here(store: SqlEventStore, episodes: Iterable[str]) -> list[int]:
    return [row.number for one in episodes for row in store.log.episodes("episode = ?", (one,))]


def _whole(store: SqlEventStore, number: int) -> list[int]:
    column = tables.events.c
    mine = column.key.between(key(number, 0), key(number, SEQ_MASK))
    with store.database.reading() as connection:
        found = connection.scalars(sa.select(column.key).where(mine, column.payload.is_not(None)))
        return [place & SEQ_MASK for place in found]


def _repeated(store: SqlEventStore, known: Kin, episode: str, seq: int, chosen: _Chosen) -> None:
    """Choose one event, and those of its family that repeat what it said."""
    number = store.log.number(episode)
    row = store.log.at([key(number, seq)]).get(key(number, seq))
    mine = next(all_bodies(store.database, key(number, seq), key(number, seq) + 1), None)
    if mine is None:
        if row is None:
            raise UsageError(f"{episode} has no event {seq}.")
        return  # erased already; so is what repeated it
    chosen.add(number, [seq], "named")
    needles = [Needle(text) for text in own_texts(row.type if row is not None else "", mine.body, _texts(store))]
    if not needles:
        return
    for one in _here(store, known.family(episode)):
        found = [
            each.seq
            for each in all_bodies(store.database, key(one, 0), key(one + 1, 0))
            if (one, each.seq) != (number, seq) and repeats(needles, each.body, _texts(store))
        ]
        chosen.add(one, found, f"repeats {episode}:{seq}")


def _texts(store: SqlEventStore) -> Resolve:
    """Return what gives the texts of blobs, as far as they are there."""

    def resolve(digests: set[str]) -> dict[str, str]:
        return {name: bytes_text(data, "bytes") for name, data in store.log.blobs(digests).items()}

    return resolve


def _match(store: SqlEventStore, needle: Needle, chosen: _Chosen) -> list[str]:
    """Choose every event that says it; return where else it stands."""
    hit, resolve, records = _blobs_with(store, needle), _texts(store), 0
    for one in all_bodies(store.database):
        if not needle.in_body(one.body, hit, resolve):
            continue
        if one.number <= 0:
            records += 1
        else:
            chosen.add(one.number, [one.seq], "matches")
    stays = [f"{records} records of administrative logs say it: they are kept, as evidence"] if records else []
    return stays + headers_with(store.database, needle)


def _blobs_with(store: SqlEventStore, needle: Needle) -> set[str]:
    hit: set[str] = set()
    column, after = tables.blobs.c, b""
    query = sa.select(column.digest, column.codec, column.bytes).order_by(column.digest).limit(_BLOBS_AT_ONCE)
    while True:
        with store.database.reading() as connection:
            page = connection.execute(query.where(column.digest > after)).all()
        hit |= {f"sha256:{bytes(name).hex()}" for name, codec, data in page if needle.in_blob(unpacked(codec, data))}
        if len(page) < _BLOBS_AT_ONCE:
            return hit
        after = page[-1].digest


def _ended_before(store: SqlEventStore, wanted: Before, chosen: _Chosen) -> list[str]:
    """Choose the episodes whose time is over; one that was interrupted ended with its last event."""
    times = [at for at in (wanted.at, *wanted.projects.values()) if at is not None]
    if not times:
        return []
    for row in store.log.episodes("number > 0 AND started_at < ?", (max(times),)):
        at = wanted.projects.get(row.project, wanted.at)
        if at is None or store.state(row) == "running":
            continue
        ended = row.ended_at if row.ended_at is not None else _last_at(store, row.number)
        if ended is not None and ended < at:
            chosen.add(row.number, _whole(store, row.number), "ended before")
    taken = set(ids(store.database, chosen.seqs).values())
    copies = {child for one in taken for child in kin(store.database).descendants(one)} - taken if taken else set()
    if not copies:
        return []
    named = ", ".join(sorted(copies)[:3]) + (f" and {len(copies) - 3} more" if len(copies) > 3 else "")  # noqa: PLR2004 - enough to look
    return [f"episodes that ended later hold copies of what these recorded, until their own time: {named}"]


def _last_at(store: SqlEventStore, number: int) -> int | None:
    column = tables.events.c
    query = sa.select(sa.func.max(column.at)).where(column.key.between(key(number, 0), key(number, SEQ_MASK)))
    with store.database.reading() as connection:
        last: int | None = connection.scalar(query)
    return last


def _alone(store: SqlEventStore, parts: Sequence[Part]) -> tuple[dict[bytes, int], dict[int, int]]:
    """Return the texts that these events alone refer to, and how far each episode was looked at."""
    with store.database.reading() as connection:
        column = tables.episodes.c
        seen = {number: events for number, events in connection.execute(sa.select(column.number, column.events))}  # noqa: C416 - rows are no pairs to mypy
    candidates: dict[bytes, int] = {}
    for part in parts:
        for one in part.events:
            for each in all_bodies(store.database, key(part.number, one.first), key(part.number, one.last) + 1):
                for name in names_in(each.body):
                    candidates[name] = candidates.get(name, 0) + 1
    if not candidates:
        return {}, seen
    taken = {part.number: part for part in parts}

    def others() -> Iterable[Stored]:
        for one in all_bodies(store.database):
            part = taken.get(one.number)
            if part is None or not part.takes(one.seq):
                yield one

    named = still_named(others(), set(candidates))
    return {name: count for name, count in candidates.items() if name not in named}, seen
