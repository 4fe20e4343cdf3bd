"""Episodes in which every text that their events may hold is out to get its reader: made by generation, field by field.

An event's fields come from the event itself; whichever take any text (their schema says so) are given the hostile one.
"""

import dataclasses
from collections.abc import Iterator, Sequence

from spectrace.core.events import Event
from spectrace.errors import SpectraceError
from spectrace.store.event_store import EventStore, Pending
from spectrace.store.memory import MemoryEventStore

TEXTS = {
    "markup": "[/bold][red]bold[/red][b :smile: {p}/{t}[/{n}...]/read",
    "escape": "\x1b]0;owned\x07\x1b[2J\x1b[31m\x9b31m\x08\x7f",
    "link": "\x1b]8;;http://198.51.100.7/\x1b\\click\x1b]8;;\x1b\\",
    "bidi": "abc\u202egnp.exe\u2066\u200b\ufeff\u2028",
    "html": "<img src=x onerror=alert(1)></code></script><script>alert(1)</script>",
    "markdown": "![pixel](http://198.51.100.7/m.png) [x](javascript:alert(1)) `code` # head",
    "formula": "=1+1",
    "formulas": '\t=HYPERLINK("http://198.51.100.7/")\r\n@SUM(1)\n+1\n-1',
    "nul": "a\0b",
    "surrogate": "half \ud800 and \udcff",
    "long": "x" * 5_000,
    "names": "os:system",
    "path": "../../../../etc/passwd",
    "address": "http://198.51.100.7:9/v1",
}

_Leaf = tuple[object, ...]
"""Where a text is in a body: field names and places in tuples."""


def leaves(value: object, at: _Leaf = ()) -> Iterator[_Leaf]:
    """Yield where each text of a body is."""
    if isinstance(value, str) or value is None:  # what may be left out may be said
        yield at
    elif isinstance(value, tuple):
        for number, one in enumerate(value):
            yield from leaves(one, (*at, number))
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from leaves(getattr(value, field.name), (*at, field.name))


def put(value: object, at: Sequence[object], text: str) -> object:
    """Return a body with a text in that place."""
    if not at:
        return text
    first, rest = at[0], at[1:]
    if isinstance(value, tuple) and isinstance(first, int):
        return (*value[:first], put(value[first], rest, text), *value[first + 1 :])
    return dataclasses.replace(value, **{str(first): put(getattr(value, str(first)), rest, text)})


def spoiled(events: Sequence[Event], text: str) -> list[object]:
    """Return the bodies of an episode's events with the text wherever one takes it."""
    bodies: list[object] = []
    for event in events:
        body: object = event.body
        for at in leaves(body):
            changed = put(body, at, text)
            if _is_written(events, event, changed):
                body = changed
        bodies.append(body)
    return bodies


def _is_written(events: Sequence[Event], event: Event, body: object) -> bool:
    store = MemoryEventStore()
    try:
        if event.seq == 0:
            store.create("try", body, 0)
        else:
            store.create("try", events[0].body, 0).append([Pending(1, event.lane, 0, body)], durable=False)
    except (SpectraceError, ValueError, LookupError, TypeError, AttributeError):
        return False
    return True


def record(store: EventStore, episode: str, events: Sequence[Event], text: str) -> int:
    """Record an episode of spoiled events; return how many texts are in it that the first one had not."""
    bodies = spoiled(events, text)
    writer = store.create(episode, bodies[0], events[0].at)
    for event, body in zip(events[1:], bodies[1:], strict=True):
        writer.append([Pending(event.seq, event.lane, event.at, body)], durable=False)
    writer.close()
    return sum(before != after.body for before, after in zip(bodies, events, strict=True))
