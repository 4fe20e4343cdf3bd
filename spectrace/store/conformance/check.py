"""A check of an event store: its id, its claim, and how it asks. What several checks share stands here too.

`H` ids are those of the hard inputs that the design was tried with (NaN, half a pair, a killed writer, ...), `C` ids
the rest of the contract.
"""

import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from spectrace.core.digest import body_proof, first_link, link_over
from spectrace.core.events import Body, EpisodeStarted
from spectrace.errors import StoreError
from spectrace.store.event_store import EventStore, StoredEvent
from spectrace.store.memory import MemoryEventStore
from spectrace.store.samples import EPOCH_US, pending

Open = Callable[[], EventStore]
"""Opens the same log once more."""

PROJECT = "conformance"
"""What every episode of a check is filed under."""

OK, FAILED, NOT_APPLICABLE = "ok", "failed", "not applicable"


class NotApplicable(Exception):
    """The store has no such thing, or it is asked elsewhere; the text says which."""


@dataclass(frozen=True, slots=True)
class Check:
    """One claim about a store. `ask` returns a remark or None; it raises StoreError where the claim does not hold."""

    id: str
    claim: str
    ask: Callable[[Open], str | None]

    def __call__(self, open_store: Open) -> str | None:
        """Ask."""
        return self.ask(open_store)


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a check: ok, failed or not applicable."""

    id: str
    claim: str
    result: str
    detail: str


def check(id_: str) -> Callable[[Callable[[Open], str | None]], Check]:
    """Make a function a check; its name is the claim."""
    return lambda ask: Check(id_, ask.__name__.replace("_", " "), ask)


def new_id() -> str:
    """Return an episode id that nobody has used."""
    return f"conformance-{uuid.uuid4().hex}"


def started(bodies: Sequence[Body]) -> EpisodeStarted:
    """Return the first body, filed under the checks' own project."""
    if not isinstance(bodies[0], EpisodeStarted):
        raise StoreError("a sample episode begins with episode.started.")
    return replace(bodies[0], project=PROJECT)


def write(store: EventStore, bodies: Sequence[Body], episode: str | None = None) -> str:
    """Write an episode, five events at a time, and let it go; return its id."""
    episode = episode or new_id()
    writer = store.create(episode, started(bodies), EPOCH_US)
    events = pending(bodies)[1:]
    for first in range(0, len(events), 5):
        writer.append(events[first : first + 5], durable=first % 2 == 0)
    writer.close()
    return episode


def kept(open_store: Open, bodies: Sequence[Body]) -> list[StoredEvent]:
    """Insist that bodies come back equal through another connection, and lie there as the bytes of any other store.

    The twin in memory writes the same episode: equal headers and bodies are equal digests, on whatever database.
    """
    store, twin = open_store(), MemoryEventStore()
    bodies = [started(bodies), *bodies[1:]]
    episode = write(store, bodies)
    write(twin, bodies, episode)
    equal("bodies read back", [event.body for event in open_store().read(episode)], list(bodies))
    stored, other = list(store.stored(episode)), list(twin.stored(episode))
    equal("stored headers", [event.header for event in stored], [event.header for event in other])
    equal("stored bodies", [event.body for event in stored], [event.body for event in other])
    equal("chain", [event.link for event in stored], list(links(episode, stored)))
    return stored


def links(episode: str, stored: Sequence[StoredEvent]) -> Iterator[bytes]:
    """Yield the links that the stored bytes give."""
    link = first_link(episode)
    for event in stored:
        link = link_over(link, event.header, body_proof(event.salt or b"", event.body or b""))
        yield link


def equal(what: str, found: object, expected: object) -> None:
    """Insist that two values are equal, in type too; of lists, say where they first differ."""
    if isinstance(found, list) and isinstance(expected, list):
        for number, (one, other) in enumerate(zip(found, expected, strict=False)):
            if one != other:
                raise StoreError(f"{what}, number {number}: expected {other!r:.300}, found {one!r:.300}")
        if len(found) != len(expected):
            raise StoreError(f"{what}: expected {len(expected)}, found {len(found)}")
    elif found != expected or type(found) is not type(expected):
        raise StoreError(f"{what}: expected {expected!r:.300}, found {found!r:.300}")


def raises(kind: type[Exception], act: Callable[[], object]) -> Exception:
    """Insist that something is refused; return the error."""
    try:
        act()
    except kind as error:
        return error
    raise StoreError(f"{kind.__name__} was expected, nothing was raised.")
