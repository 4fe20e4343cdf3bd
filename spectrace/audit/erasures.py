"""Erased events in words: which, by which record, when, by whose order. Counterpart of `erased`, which proves it."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from spectrace.core.events import Event, Unknown
from spectrace.store.erasures import Erasure, covered, ranges, record_of, records
from spectrace.store.event_store import EventStore

_SHOWN = 8


def erased_seqs(events: Iterable[Event]) -> list[int]:
    """Return the events that have no body."""
    return [event.seq for event in events if isinstance(event.body, Unknown) and event.body.erased]


def on_record(store: EventStore, episode: str, seqs: Iterable[int]) -> dict[int, Erasure]:
    """Return the record of each of those events whose erasure is on record."""
    wanted = list(seqs)
    known = covered(records(store)) if wanted else {}
    return {seq: record for seq in wanted if (record := record_of(known, episode, seq)) is not None}


def erased_words(store: EventStore, episode: str, seqs: Sequence[int]) -> tuple[str | None, set[int]]:
    """Say what was erased, by which records; return also which events that tells of: the others lack a record."""
    found = on_record(store, episode, seqs)
    if not found:
        return None, set()
    by = dict.fromkeys(found.values())
    are = "event" if len(found) == 1 else "events"
    verb = "is" if len(found) == 1 else "are"
    where = "; ".join(record_words(one) for one in by)
    return f"{are} {numbers(episode, found)} of {episode} {verb} erased, as is on record in {where}", set(found)


def record_words(one: Erasure) -> str:
    """Return a record with its time and who it names."""
    at = datetime.fromtimestamp(one.at / 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return f"{one.record} ({at}, by {one.by})"


def numbers(episode: str, seqs: Iterable[int]) -> str:
    """Return event numbers as people write them: `0, 2-3 and 5 more`."""
    parts = ranges(episode, seqs)
    said = [str(one.first) if one.first == one.last else f"{one.first}-{one.last}" for one in parts[:_SHOWN]]
    left = sum(one.last - one.first + 1 for one in parts[_SHOWN:])
    return ", ".join(said) + (f" and {left} more" if left else "")
