"""One entry of a foreign file becomes one episode, once: what all importers share.

An episode's id is made from the file's digest and the entry, so that the same entry of the same file is found again by
one look-up and never recorded twice.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from spectrace.core.events import EpisodeStarted
from spectrace.errors import EpisodeNotFound
from spectrace.redaction.filing import require_plain
from spectrace.redaction.redactor import Redactor
from spectrace.redaction.values import redacted
from spectrace.store.begun import Arrivals, arrivals
from spectrace.store.event_store import EpisodeRow, EventStore, Pending
from spectrace.store.sql import SqlEventStore
from spectrace.store.transfer import STORED, Arrival

T = TypeVar("T")

Progress = Callable[[int, int], None]
"""Told after each entry: how many are done, of how many."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of one entry."""

    episode: str
    losses: tuple[str, ...]
    task: str = ""
    unfit: str | None = None
    skipped: str | None = None
    """Why nothing was recorded: the episode is there already."""


@dataclass(frozen=True, slots=True)
class Filing:
    """How an entry is filed here, and why it is not a run of its task, if so."""

    project: str
    run: str | None
    unfit: str | None = None
    redactor: Redactor | None = None
    """Each episode gets a fresh one of the same rules and key."""


def episode_id(format_: str, file_digest: str, entry: str) -> str:
    """Return the id of an entry's episode: as long as one drawn at random, and the same every time."""
    return hashlib.sha256(f"{format_}\n{file_digest}\n{entry}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def import_each(  # noqa: PLR0913 - a file, where it goes and how one of its entries does
    store: EventStore,
    file: str,
    digest: str,
    entries: Sequence[T],
    record_one: Callable[[T, Arrivals | None], Imported],
    progress: Progress | None,
) -> list[Imported]:
    """Record every entry of a file, in order, and that it was imported; a store in memory keeps no such record."""
    found = []
    record = None
    if isinstance(store, SqlEventStore):
        record = arrivals(store, "imported", file, len(entries), digest=digest)
    for number, entry in enumerate(entries, 1):
        found.append(record_one(entry, record))
        if progress is not None:
            progress(number, len(entries))
    if record is not None:
        record.end()
    return found


def require_filed(redactor: Redactor | None, project: str, run: str | None, tasks: Iterable[str]) -> None:
    """Raise UsageError where an entry would be filed under a name that holds a secret; its numbers count from 1."""
    if redactor is not None:
        numbered = {f"the task id of entry {number}": task for number, task in enumerate(tasks, 1)}
        require_plain(redactor.rules, {"the project": project, "the run": run} | numbered)


def there_already(store: EventStore, episode: str, entry: str, file: str) -> str | None:
    """Say that an entry's episode is in the log; None where it is not, or an import was killed as it began it."""
    row = _row(store, episode)
    if row is None or _begun(row):
        return None
    return f"entry {entry} of {file} is here already, as episode {episode} ({_how(row)})"


def write_episode(  # noqa: PLR0913 - an episode, where it goes and how
    store: EventStore,
    episode: str,
    first: EpisodeStarted,
    pending: Sequence[Pending],
    record: Arrivals | None,
    redactor: Redactor | None = None,
) -> None:
    """Record an entry's episode, which begins when its second event happened, and that it arrived.

    Bodies are redacted in their order, before any of them is written.
    """
    if redactor is not None:
        fresh = redactor.fresh()
        first = redacted(fresh, replace(first, versions=replace(first.versions, redactor=fresh.version)))
        pending = [replace(one, body=redacted(fresh, one.body)) for one in pending]
    if record is not None:
        record.begin()
    row = _row(store, episode)
    # An import killed between the two left event 0 alone, and this is the very episode that it began.
    writer = store.reopen(episode) if row is not None and _begun(row) else store.create(episode, first, pending[0].at)
    try:
        writer.append(pending, durable=True)
    finally:
        writer.close()
    if record is not None:
        now = store.row(episode)
        record.add(Arrival(episode, STORED, now.events, now.head, now.ended_at is not None))


def _begun(row: EpisodeRow) -> bool:
    return row.state == "interrupted" and row.events == 1


def _how(row: EpisodeRow) -> str:
    if row.state == "interrupted":
        return f"cut off after {row.events} events"
    return "whole" if row.state == "ended" else "being written now"


def _row(store: EventStore, episode: str) -> EpisodeRow | None:
    try:
        return store.row(episode)
    except EpisodeNotFound:
        return None
