"""Which recorded events this spectrace may interpret, by type and version. Counterpart of `store.upcasts`.

An event of a type that is not known is a fact that it has no word for: it is shown, kept and passed over. A newer
version of a type that it *does* know is something else: the very thing that a fold, a replay or an audit is made of,
said in a way that it may misread. Whatever interprets refuses it, naming the version; what only carries bytes (`show`,
`verify`, `pack`) does not ask. So is an event that cannot have followed those before it: no account is made of it.
"""

from collections.abc import Iterable, Mapping

from spectrace.core.events import TYPE_NUMBERS, Body, Event, Unknown
from spectrace.errors import NewerSchema, StoreError

CLASSES: Mapping[str, type[Body]] = {cls.TYPE: cls for cls in TYPE_NUMBERS}
"""Type name -> the class of its newest version."""


IMPOSSIBLE = (LookupError, ValueError)
"""What interpreting raises where an event speaks of what was never said before it, or in words that there are not."""


def impossible(event: Event, error: Exception) -> StoreError:
    """Return the error for an event that does not fit those before it."""
    return StoreError(
        f"event {event.seq} ({event.type}) of {event.episode} does not follow from the events before it ({error!r}): "
        f"they were altered, or are in no order that can have been. `spectrace verify {event.episode}` says more."
    )


def is_newer(event: Event) -> bool:
    """Whether an event is of a known type, in a version that this spectrace does not know."""
    body = event.body
    return isinstance(body, Unknown) and body.type in CLASSES and body.version > CLASSES[body.type].VERSION


def is_foreign(event: Event) -> bool:
    """Whether an event is of a type that this spectrace does not have."""
    return isinstance(event.body, Unknown) and event.body.type not in CLASSES


def newer_version(event: Event) -> NewerSchema:
    """Return the error for a newer event: which version, which are known, what to do."""
    return NewerSchema(
        f"event {event.seq} of {event.episode} is {event.type} version {event.version}; this spectrace knows version "
        f"{CLASSES[event.type].VERSION}. Read it with the spectrace that wrote it (its version is in "
        f"`spectrace show {event.episode}:0`), or a newer one."
    )


def require_readable(event: Event) -> None:
    """Raise NewerSchema for an event that this spectrace may misread."""
    if is_newer(event):
        raise newer_version(event)


def first_newer(events: Iterable[Event]) -> Event | None:
    """Return the first event that this spectrace may misread, or None."""
    return next((event for event in events if is_newer(event)), None)
