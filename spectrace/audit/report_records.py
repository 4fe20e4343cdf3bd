"""What was done to the database itself, for a report: every record of its administrative logs, in words."""

from collections.abc import Iterable
from dataclasses import dataclass

from spectrace.audit.reading import Unread, read_events
from spectrace.audit.records import record_text
from spectrace.core.admin_events import AdminErased
from spectrace.errors import StoreError
from spectrace.store.event_store import EventStore


@dataclass(frozen=True, slots=True)
class Record:
    """One record: `EP:SEQ`, when, what kind (`erased`, `key_changed`), who by the operating system's word, the text."""

    event: str
    at: int
    kind: str
    by: str
    text: str
    episodes: tuple[str, ...] = ()
    """Of an erasure: which episodes it took something of, each once."""


def records(store: EventStore, logs: Iterable[str], lost: list[Unread] | None = None) -> list[Record]:
    """Return the records of these administrative logs, the oldest first; `lost` is told which cannot be read."""
    found: list[Record] = []
    for log in logs:
        try:
            for event in read_events(store, log):
                by = getattr(event.body, "by", None)
                who = "not said" if by is None else f"{by.user}@{by.host}"
                kind = event.type.removeprefix("admin.")
                found.append(
                    Record(f"{log}:{event.seq}", event.at, kind, who, record_text(event.body), _episodes(event.body))
                )
        except StoreError as error:
            if lost is None:
                raise
            lost.append(Unread(log, None, str(error)))
    return sorted(found, key=lambda one: one.at)


def _episodes(body: object) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.episode for one in body.events)) if isinstance(body, AdminErased) else ()
