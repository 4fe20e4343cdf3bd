"""One event in full, as people read it and as the chain covers it. Counterpart of `lines`: the same in one line."""

import json
from typing import cast

from spectrace.audit.answers import EventDetail
from spectrace.audit.lines import plain
from spectrace.core.events import Event, Unknown
from spectrace.store.erasures import Erasure
from spectrace.store.event_store import StoredEvent
from spectrace.store.validation import unknown_fields


def _unknown(header: list[object], stored: bytes) -> tuple[tuple[str, str], ...]:
    """Return the fields that are kept and that no version here has."""
    found = unknown_fields(str(header[3]), cast("int", header[4]), header, json.loads(stored))
    return tuple((path, json.dumps(value, ensure_ascii=False)) for path, value in found.items())


def detail(event: Event, stored: StoredEvent, erasure: Erasure | None = None) -> EventDetail:
    """Return an event in full; `erasure` is the record of one that is erased."""
    header = json.loads(stored.header)
    effect, authority, outcome, tool = header[6:]
    return EventDetail(
        episode=event.episode,
        seq=event.seq,
        type=event.type,
        version=event.version,
        at=event.at,
        lane=event.lane,
        effect=effect,
        authority=authority,
        outcome=outcome,
        tool=tool,
        body=json.dumps(plain(event.body), indent=2, ensure_ascii=False),
        link=stored.link.hex(),
        stored_header=stored.header.decode(),
        stored_body=None if stored.body is None else stored.body.decode("utf-8", "replace"),
        salt=None if stored.salt is None else stored.salt.hex(),
        unknown=() if isinstance(event.body, Unknown) else _unknown(header, stored.body or b"{}"),
        erasure=erasure,
    )
