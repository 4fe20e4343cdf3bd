"""What was erased, by whose order, and what proves that it was there. Counterpart of `erasing`, which erases.

Of an erased event its header, its link and its *proof* stay, SHA-256(salt || body), of which the link is made. Which
events were erased say the records of the administrative logs (`core.admin_events.AdminErased`): those of this database,
and those that came along from another. A body that is missing without a record is damage.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import orjson
import sqlalchemy as sa

from spectrace.core.admin_events import AdminErased, ErasedRange
from spectrace.core.events import Event
from spectrace.store import tables
from spectrace.store.columns import whole_number
from spectrace.store.event_store import EventStore
from spectrace.store.statements import SEQ_MASK, key


@dataclass(frozen=True, slots=True)
class Erasure:
    """A record of an erasure: `EP:SEQ` of an administrative log, when, and what it says."""

    record: str
    at: int
    body: AdminErased

    @property
    def by(self) -> str:
        """Who did it by the operating system's word, and who ordered it by their own."""
        ordered = f", ordered by {self.body.person}" if self.body.person else ""
        return f"{self.body.by.user}@{self.body.by.host}{ordered}"


Covered = Mapping[str, Sequence[tuple[int, int, Erasure]]]
"""Episode -> what was erased of it: first event, last event, the record."""


def proofs(connection: sa.Connection, number: int) -> dict[int, bytes]:
    """Return the proofs of an episode's erased events; what SQLite holds there may be anything."""
    column = tables.erasures.c
    held = sa.select(column.key, column.proof).where(column.key.between(key(number, 0), key(number, SEQ_MASK)))
    return {whole_number(place) & SEQ_MASK: proof for place, proof in connection.execute(held)}


def records(store: EventStore) -> list[Erasure]:
    """Return every record of an erasure that this log holds, in the order of the administrative logs and their events.

    They are as told: `verify` says whether those logs are intact.
    """
    return [one for log in store.administrative() for one in told(store.read(log))]


def told(events: Iterable[Event]) -> list[Erasure]:
    """Return the records of erasures among an administrative log's events."""
    return [
        Erasure(f"{event.episode}:{event.seq}", event.at, event.body)
        for event in events
        if isinstance(event.body, AdminErased)
    ]


def covered(found: Iterable[Erasure]) -> Covered:
    """Return what those records cover, by episode."""
    by_episode: dict[str, list[tuple[int, int, Erasure]]] = {}
    for one in found:
        for part in one.body.events:
            by_episode.setdefault(part.episode, []).append((part.first, part.last, one))
    return by_episode


def record_of(erased: Covered, episode: str, seq: int) -> Erasure | None:
    """Return the record that says that an event was erased; None where there is none."""
    return next((one for first, last, one in erased.get(episode, ()) if first <= seq <= last), None)


def ranges_in(body: bytes) -> list[tuple[str, int, int]]:
    """Return what the body of a record says was erased: episode, first event, last event."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return []
    parts = value.get("events") if isinstance(value, dict) else None
    found = []
    for part in parts if isinstance(parts, list) else ():
        match part:
            case {"episode": str(episode), "first": int(first), "last": int(last)}:
                found.append((episode, first, last))
            case _:
                pass
    return found


def logs_of(store: EventStore, episodes: Iterable[str]) -> list[str]:
    """Return the administrative logs that say of any of these episodes what was erased: whoever takes them needs it."""
    wanted = set(episodes)
    found = (one for one in records(store) if any(part.episode in wanted for part in one.body.events))
    return list(dict.fromkeys(one.record.rpartition(":")[0] for one in found))


def ranges(episode: str, seqs: Iterable[int]) -> list[ErasedRange]:
    """Return events of one episode as ranges, in their order."""
    found: list[ErasedRange] = []
    for seq in sorted(set(seqs)):
        if found and found[-1].last + 1 == seq:
            found[-1] = ErasedRange(episode, found[-1].first, seq)
        else:
            found.append(ErasedRange(episode, seq, seq))
    return found
