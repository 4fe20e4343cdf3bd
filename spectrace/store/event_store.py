"""The EventStore port: append events, read them back. `sql.py` implements it on SQLite and Postgres.

An episode has one writer. `append` takes what the driver knows (lane, time, body); the store encodes it,
salts it, links it into the episode's chain and commits. `durable` asks for a flush to stable storage; without it
the commit survives the process but perhaps not the machine.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from spectrace.core.events import MAX_SEQ, Body, EpisodeStarted, Event
from spectrace.core.types import Message

FULL_EPISODE = MAX_SEQ + 1
"""A `stop` behind the last event that an episode can have."""


@dataclass(frozen=True, slots=True)
class Pending:
    """An event on its way into the log."""

    seq: int
    lane: str
    at: int
    body: Body


class Glance(NamedTuple):
    """An event for a timeline: without prompt, of each long text only the beginning. Nothing is to be made from it."""

    event: Event
    messages: int
    """How many messages the prompt of a model call has."""


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event as it lies in the log: the bytes that the chain covers. Erased: `body` and `salt` are None."""

    seq: int
    header: bytes
    """Canonical header (see `core.digest.header_bytes`)."""
    body: bytes | None
    """Canonical body, decompressed."""
    salt: bytes | None
    link: bytes


class Prompt(NamedTuple):
    """The messages of a model call, or a part of them."""

    total: int
    """How many there are in all."""
    messages: tuple[Message, ...]


Link = tuple[int, str, bytes, bytes | None, bytes | None, bytes]
"""A stored event made ready to be verified, without a look into its bytes: seq, type, header, body, salt, link.

A bare tuple: a named one costs as much as a hash."""


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """An episode's row: identity and writer. `state` is running, interrupted or ended."""

    episode: str
    state: str
    started_at: int
    ended_at: int | None
    events: int
    head: bytes
    """The chain's last link."""
    writer_host: str
    writer_pid: int


class EpisodeWriter(Protocol):
    """The one writer of an episode."""

    def append(self, events: Sequence[Pending], *, durable: bool) -> None:
        """Commit the events, in order, in one transaction; raise Conflict if somebody else wrote this episode.

        `durable` flushes what was appended before too, also where there is nothing new.
        """
        ...

    def append_at_once(self, events: Sequence[Pending]) -> bool:
        """Commit the events, unflushed, if nobody has to be waited for; return False, nothing done, otherwise."""
        ...

    def renew(self) -> None:
        """Renew the writer's lease."""
        ...

    def close(self) -> None:
        """Let the episode go; without an `episode.ended` it is interrupted from now on."""
        ...


class EventStore(Protocol):
    """A log of episodes."""

    def create(self, episode: str, started: EpisodeStarted, at: int) -> EpisodeWriter:
        """Begin an episode; its `episode.started` is event 0, durable on return."""
        ...

    def reopen(self, episode: str) -> EpisodeWriter:
        """Go on writing an episode that nobody writes; raise Conflict while somebody does."""
        ...

    def resolve(self, prefix: str) -> str:
        """Return the one episode whose id starts so; raise EpisodeNotFound with the candidates otherwise."""
        ...

    def row(self, episode: str) -> EpisodeRow:
        """Return an episode's row."""
        ...

    def read(self, episode: str, start: int = 0, stop: int = FULL_EPISODE, *, prompts: bool = True) -> Iterator[Event]:
        """Yield the events from `start` on and before `stop`, decoded and upcast, every text resolved.

        Without `prompts` the messages of model calls are left out: they grow with the square of an episode.
        """
        ...

    def prompt(self, episode: str, seq: int, part: slice = slice(None)) -> Prompt | None:
        """Return a part of a model call's messages, reading no others; None where event `seq` is no readable call."""
        ...

    def glance(self, episode: str, start: int = 0, stop: int = FULL_EPISODE) -> Iterator[Glance]:
        """Yield the events as a timeline needs them: no prompts, of each long text only the beginning."""
        ...

    def stored(self, episode: str, start: int = 0, stop: int = FULL_EPISODE) -> Iterator[StoredEvent]:
        """Yield an episode's events as their bytes."""
        ...

    def links(self, episode: str) -> Iterator[list[Link]]:
        """Yield an episode's events as the chain covers them, a batch at a time, for verification."""
        ...

    def blobs(self, digests: set[str]) -> Mapping[str, bytes]:
        """Return those blobs that are there, not checked against their digests."""
        ...

    def blob(self, digest: str) -> bytes | None:
        """Return the bytes of a blob by its digest, or None where it is missing."""
        ...

    def proofs(self, episode: str) -> Mapping[int, bytes]:
        """Return SHA-256(salt || body) of each erased event of an episode, by its number."""
        ...

    def administrative(self) -> Sequence[str]:
        """Return the ids of the administrative logs that lie here, the oldest first: they say what was erased."""
        ...

    def close(self) -> None:
        """Release connections; checkpoint SQLite's write-ahead log."""
        ...
