"""An event between the codec and a database: the row, and the chain that writes rows. Counterpart of `reader`.

Both stores share this, so the same events with the same salts give the same links wherever they lie.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from spectrace.core.digest import first_link, header_bytes, next_link
from spectrace.core.events import MAX_SEQ, EpisodeEnded, Event, GenerateRequested, Unknown
from spectrace.errors import NewerSchema, StoreError
from spectrace.store.blobs import TextReferences
from spectrace.store.codec import BodyEncoder, Lifted
from spectrace.store.event_store import Pending, StoredEvent
from spectrace.store.messages import MessageWriter

SALT_BYTES = 16
Salts = Callable[[], bytes]


def random_salt() -> bytes:
    """Return a fresh salt: without it, an erased body could be guessed from its proof."""
    return os.urandom(SALT_BYTES)


class Damage(StoreError):
    """Something stored cannot be read; the text names it. Caught by whoever knows better where it belongs."""


def unreadable(episode: str, seq: int, error: Exception) -> StoreError:
    """Return the error that names an event which cannot be read, and why."""
    said = f"event {seq} of {episode} cannot be read: {error}"
    return NewerSchema(said) if isinstance(error, NewerSchema) else Damage(said)


@dataclass(frozen=True, slots=True)
class Row:
    """One event with names spelled out; erased when body and salt are None."""

    seq: int
    lane: str
    type: str
    version: int
    at: int
    lifted: Lifted
    body: bytes | None
    salt: bytes | None
    link: bytes

    def header(self, episode: str) -> bytes:
        """Return the canonical header."""
        return header_bytes(episode, self.seq, self.lane, self.type, self.version, self.at, *self.lifted)

    def stored(self, episode: str) -> StoredEvent:
        """Return the bytes that the chain covers."""
        return StoredEvent(self.seq, self.header(episode), self.body, self.salt, self.link)


class EpisodeChain:
    """The growing end of one episode: next number, last link, message ordinals.

    `stage` moves it on; `rollback` undoes everything since the last `commit`.
    """

    def __init__(
        self, episode: str, texts: TextReferences, encoder: BodyEncoder, salts: Salts, messages: MessageWriter
    ) -> None:
        """Start an episode."""
        self.episode = episode
        self.seq = 0
        self.link = first_link(episode)
        self._texts = texts
        self._encoder = encoder
        self._salts = salts
        self._messages = messages
        self.told: list[Event] = []
        """Every event so far, without the messages of model calls: what the projections are made of at the end."""
        self.ended = False
        """Whether `episode.ended` is among them; only a person's later word may follow it."""
        self._mark = (self.seq, self.link, messages.mark())

    def resume(self, link: bytes, told: Iterable[Event]) -> None:
        """Go on after the events that are there already."""
        self.told = [_without_messages(event) for event in told]
        self.ended = any(isinstance(event.body, EpisodeEnded) for event in self.told)
        self.seq, self.link = len(self.told), link
        self._mark = (self.seq, link, self._messages.mark())

    def stage(self, events: Sequence[Pending]) -> list[Row]:
        """Encode, salt and link the events; their numbers must follow on."""
        return [self._row(pending) for pending in events]

    def commit(self) -> None:
        """Keep what was staged."""
        self._texts.committed()
        self._mark = (self.seq, self.link, self._messages.mark())

    def rollback(self) -> None:
        """Forget what was staged."""
        self._texts.rolled_back()
        self.seq, self.link, mark = self._mark
        self._messages.rewind(mark)
        self.ended &= not any(isinstance(event.body, EpisodeEnded) for event in self.told[self.seq :])
        del self.told[self.seq :]

    def _row(self, pending: Pending) -> Row:
        if pending.seq != self.seq:
            raise StoreError(f"event {self.seq} of {self.episode} was expected, event {pending.seq} was offered.")
        if pending.seq > MAX_SEQ:
            raise StoreError(
                f"{self.episode} is full: an episode holds {MAX_SEQ + 1:,} events. End it and start another."
            )
        lifted, body = self._encoder.encode(pending.body, self._messages)
        cls, salt = type(pending.body), self._salts()
        header = header_bytes(self.episode, self.seq, pending.lane, cls.TYPE, cls.VERSION, pending.at, *lifted)
        self.link = next_link(self.link, header, salt, body)
        self.seq += 1
        event = Event(self.episode, pending.seq, pending.lane, pending.at, pending.body)
        self.told.append(_without_messages(event))
        self.ended |= isinstance(pending.body, EpisodeEnded)
        return Row(pending.seq, pending.lane, cls.TYPE, cls.VERSION, pending.at, lifted, body, salt, self.link)


def _without_messages(event: Event) -> Event:
    """Drop the lists that would grow with the square of the calls."""
    if not isinstance(event.body, GenerateRequested):
        return event
    return Event(event.episode, event.seq, event.lane, event.at, replace(event.body, messages=()))


def messages_of(events: Iterable[Event]) -> MessageWriter:
    """Return the message ordinals of an episode that somebody wants to go on writing."""
    messages = MessageWriter()
    for event in events:
        match event.body:
            case GenerateRequested(messages=sent):
                messages.refer(sent, lambda message: message)
            case Unknown(type=GenerateRequested.TYPE):
                raise StoreError(
                    f"event {event.seq} of {event.episode} was erased or is of a newer version, so what later calls "
                    "repeat is not known: this episode cannot be gone on with; fork it before that event."
                )
            case _:
                pass
    return messages
