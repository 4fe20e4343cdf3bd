"""An event between the codec and a database: the row, and the chain that writes rows. Counterpart of `reader`.

Both stores share this, so the same events with the same salts give the same links wherever they lie.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from spectrace.core.digest import checked_canonical, first_link, header_bytes, next_link
from spectrace.core.events import MAX_SEQ, Body, EpisodeEnded, Event, GenerateRequested, Unknown
from spectrace.errors import NewerSchema, StoreError
from spectrace.store.blobs import Fresh, TextReferences
from spectrace.store.codec import BodyEncoder, Lifted
from spectrace.store.event_store import Pending, StoredEvent
from spectrace.store.messages import MessageWriter
from spectrace.store.validation import check

SALT_BYTES = 16
Salts = Callable[[], bytes]


_DRAWN_AT_ONCE = 64


def random_salts() -> Salts:
    """Return a source of fresh salts: without them, an erased body could be guessed from its proof.

    Many are drawn at once, for a call of the system costs as much as encoding a small event.
    """
    drawn: list[bytes] = []

    def salt() -> bytes:
        try:
            return drawn.pop()  # one step of the interpreter: no two threads get the same
        except IndexError:
            pool = os.urandom(SALT_BYTES * _DRAWN_AT_ONCE)
            drawn.extend(pool[at : at + SALT_BYTES] for at in range(SALT_BYTES, len(pool), SALT_BYTES))
            return pool[:SALT_BYTES]

    return salt


class Damage(StoreError):
    """Something stored cannot be read; the text names it. Caught by whoever knows better where it belongs."""


def unreadable(episode: str, seq: int, error: Exception) -> StoreError:
    """Return the error that names an event which cannot be read, and why."""
    said = f"event {seq} of {episode} cannot be read: {error}"
    return NewerSchema(said) if isinstance(error, NewerSchema) else Damage(said)


class Row(NamedTuple):
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
        self._told: list[Pending] = []
        self._fresh: list[Fresh] = []
        self._sent: set[bytes] = set()
        self.ended = False
        """Whether `episode.ended` is among them; only a person's later word may follow it."""
        self._mark = (self.seq, self.link, messages.mark())

    @property
    def told(self) -> list[Event]:
        """Every event so far, without the messages of model calls: what the projections are made of at the end."""
        return [Event(self.episode, pending.seq, pending.lane, pending.at, pending.body) for pending in self._told]

    @property
    def fresh(self) -> dict[bytes, bytes]:
        """The blobs that what is staged needs in the database: digest -> bytes."""
        return {digest: data for fresh in self._fresh for digest, data in fresh.blobs.items()}

    def resume(self, link: bytes, told: Iterable[Event]) -> None:
        """Go on after the events that are there already."""
        events = list(told)
        self._told = [
            Pending(event.seq, event.lane, event.at, _without_messages(event.body))  # type: ignore[arg-type]
            for event in events
        ]
        self.ended = any(event.type == EpisodeEnded.TYPE for event in events)
        self.seq, self.link = len(self._told), link
        self._mark = (self.seq, link, self._messages.mark())

    def stage(self, events: Sequence[Pending]) -> list[Row]:
        """Encode, salt and link the events; their numbers must follow on."""
        with self._texts.lock:
            self._texts.begin(self._sent)
            try:
                return [self._row(pending) for pending in events]
            finally:
                self._fresh.append(self._texts.take())

    def commit(self) -> None:
        """Keep what was staged."""
        for fresh in self._fresh:
            fresh.committed()
        self._fresh = []
        self._mark = (self.seq, self.link, self._messages.mark())

    def rollback(self) -> None:
        """Forget what was staged."""
        self._fresh = []
        self.seq, self.link, mark = self._mark
        self._messages.rewind(mark)
        self.ended &= not any(isinstance(pending.body, EpisodeEnded) for pending in self._told[self.seq :])
        del self._told[self.seq :]

    def _row(self, pending: Pending) -> Row:
        seq, lane, at, body = pending.seq, pending.lane, pending.at, pending.body
        if seq != self.seq:
            raise StoreError(f"event {self.seq} of {self.episode} was expected, event {seq} was offered.")
        if seq > MAX_SEQ:
            raise StoreError(
                f"{self.episode} is full: an episode holds {MAX_SEQ + 1:,} events. End it and start another."
            )
        lifted, value = self._encoder.value(body, self._messages)
        cls, salt = type(body), self._salts()
        header = [self.episode, seq, lane, cls.TYPE, cls.VERSION, at, *lifted]
        data = self._encoder.written(body, value)
        check(cls.TYPE, cls.VERSION, header, value)
        self.link = next_link(self.link, checked_canonical(header), salt, data)
        self.seq += 1
        if cls is GenerateRequested:
            pending = Pending(seq, lane, at, _without_messages(body))  # type: ignore[arg-type]
        elif cls is EpisodeEnded:
            self.ended = True
        self._told.append(pending)
        return Row(seq, lane, cls.TYPE, cls.VERSION, at, lifted, data, salt, self.link)


def _without_messages(body: Body | Unknown) -> Body | Unknown:
    """Drop the lists that would grow with the square of the calls."""
    return replace(body, messages=()) if isinstance(body, GenerateRequested) else body


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
