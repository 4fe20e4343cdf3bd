"""MemoryEventStore: the twin of SqlEventStore for tests and throw-away runs. The same codec, the same bytes.

It keeps encoded rows, not events, so that whatever the codec would refuse or lose shows here too.
"""

import os
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from spectrace.core.digest import first_link
from spectrace.core.events import EpisodeEnded, EpisodeStarted, Event, GenerateRequested
from spectrace.errors import Conflict, EpisodeNotFound, StoreError
from spectrace.store.blobs import TextReferences, digest_bytes
from spectrace.store.codec import BodyEncoder
from spectrace.store.event_store import FULL_EPISODE, EpisodeRow, Glance, Link, Pending, Prompt, StoredEvent
from spectrace.store.messages import MessageWriter
from spectrace.store.names import check_run_id, not_found
from spectrace.store.reader import EpisodeReader
from spectrace.store.rows import EpisodeChain, Row, Salts, messages_of, random_salts
from spectrace.store.texts import HEAD_BYTES, Head


@dataclass(slots=True)
class _Log:
    """One episode's rows and whether somebody writes it."""

    started_at: int
    rows: list[Row] = field(default_factory=list)
    ended_at: int | None = None
    held: bool = True


class MemoryWriter:
    """The one writer of an episode in memory."""

    def __init__(self, log: _Log, chain: EpisodeChain, blobs: dict[bytes, bytes]) -> None:
        """Write to `log` through `chain`."""
        self._log = log
        self._chain = chain
        self._blobs = blobs

    def append(self, events: Sequence[Pending], *, durable: bool) -> None:  # noqa: ARG002 - memory has one class
        """Keep the events; all of them or none."""
        if not self._log.held:
            raise StoreError(
                f"the writer of {self._chain.episode} was closed; nothing more can be appended through it."
            )
        if self._chain.seq != len(self._log.rows):
            raise Conflict(f"{self._chain.episode} was written by somebody else since event {self._chain.seq}.")
        try:
            rows = self._chain.stage(events)
        except BaseException:
            self._chain.rollback()
            raise
        self._blobs.update(self._chain.fresh)
        self._log.rows.extend(rows)
        self._chain.commit()
        ends = [pending.at for pending in events if isinstance(pending.body, EpisodeEnded)]
        if ends:
            self._log.ended_at = ends[-1]

    def append_at_once(self, events: Sequence[Pending]) -> bool:
        """Keep the events: memory is never waited for."""
        self.append(events, durable=False)
        return True

    def renew(self) -> None:
        """Do nothing: memory dies with its writer."""

    def close(self) -> None:
        """Let the episode go."""
        self._log.held = False


class MemoryEventStore:
    """A log of episodes in this process's memory."""

    def __init__(self, salts: Salts | None = None) -> None:
        """Start empty."""
        self._salts = salts or random_salts()
        self._logs: dict[str, _Log] = {}
        self._blobs: dict[bytes, bytes] = {}
        self._texts = TextReferences()
        self._encoder = BodyEncoder(self._texts)

    def create(self, episode: str, started: EpisodeStarted, at: int) -> MemoryWriter:
        """Begin an episode with its event 0."""
        check_run_id(episode)
        if episode in self._logs:
            raise Conflict(f"{episode} exists already; an episode id is used once.")
        log = _Log(at)
        chain = EpisodeChain(episode, self._texts, self._encoder, self._salts, MessageWriter())
        writer = MemoryWriter(log, chain, self._blobs)
        writer.append([Pending(0, "", at, started)], durable=True)
        self._logs[episode] = log
        return writer

    def reopen(self, episode: str) -> MemoryWriter:
        """Go on writing an episode that nobody writes; raise Conflict while somebody does."""
        log = self._log(episode)
        if log.held and log.ended_at is None:
            raise Conflict(f"{episode} is being written: wait, or end it.")
        told = list(self.read(episode))
        chain = EpisodeChain(episode, self._texts, self._encoder, self._salts, messages_of(told))
        chain.resume(log.rows[-1].link, told)
        log.held = True
        return MemoryWriter(log, chain, self._blobs)

    def resolve(self, prefix: str) -> str:
        """Return the one episode whose id starts so."""
        if prefix in self._logs:
            return prefix
        found = sorted(episode for episode in self._logs if prefix and episode.startswith(prefix))
        if len(found) != 1:
            raise not_found(prefix, found)
        return found[0]

    def row(self, episode: str) -> EpisodeRow:
        """Return an episode's row."""
        log = self._log(episode)
        state = "ended" if log.ended_at is not None else "running" if log.held else "interrupted"
        head = log.rows[-1].link if log.rows else first_link(episode)
        host, pid = socket.gethostname(), os.getpid()
        return EpisodeRow(episode, state, log.started_at, log.ended_at, len(log.rows), head, host, pid)

    def read(self, episode: str, start: int = 0, stop: int = FULL_EPISODE, *, prompts: bool = True) -> Iterator[Event]:
        """Yield the events from `start` on and before `stop`."""
        rows = self._log(episode).rows

        def earlier() -> list[Row]:
            return [row for row in reversed(rows[:start]) if row.type == GenerateRequested.TYPE]

        yield from EpisodeReader(episode, self._fetch, earlier, prompts=prompts).events(rows[start:stop])

    def prompt(self, episode: str, seq: int, part: slice = slice(None)) -> Prompt | None:
        """Return a part of a model call's messages; None where event `seq` is no readable call."""
        rows = self._log(episode).rows
        earlier = [row for row in reversed(rows[:seq]) if row.type == GenerateRequested.TYPE]
        reader = EpisodeReader(episode, self._fetch, lambda: earlier, part=part)
        return reader.prompt(rows[seq]) if seq < len(rows) else None

    def glance(self, episode: str, start: int = 0, stop: int = FULL_EPISODE) -> Iterator[Glance]:
        """Yield the events without prompts, of each long text only the beginning."""
        reader = EpisodeReader(episode, self._fetch, prompts=False, heads=self._heads)
        yield from reader.glances(self._log(episode).rows[start:stop])

    def stored(self, episode: str, start: int = 0, stop: int = FULL_EPISODE) -> Iterator[StoredEvent]:
        """Yield an episode's events as their bytes."""
        for row in self._log(episode).rows[start:stop]:
            yield row.stored(episode)

    def links(self, episode: str) -> Iterator[list[Link]]:
        """Yield an episode's events as the chain covers them."""
        rows = self._log(episode).rows
        yield [(row.seq, row.type, row.header(episode), row.body, row.salt, row.link) for row in rows]

    def blobs(self, digests: set[str]) -> dict[str, bytes]:
        """Return those blobs that are there."""
        return self._fetch(digests)

    def blob(self, digest: str) -> bytes | None:
        """Return the bytes of a blob, or None."""
        return self._blobs.get(digest_bytes(digest))

    def proofs(self, episode: str) -> dict[int, bytes]:
        """Return none: nothing is erased here."""
        self._log(episode)
        return {}

    def administrative(self) -> Sequence[str]:
        """Return none: nothing is done to memory as a whole."""
        return ()

    def close(self) -> None:
        """Keep everything: the store may be read after it is closed."""

    def _log(self, episode: str) -> _Log:
        if episode not in self._logs:
            raise EpisodeNotFound(f"no episode {episode!r} here; `spectrace ls` lists them.")
        return self._logs[episode]

    def _fetch(self, digests: set[str]) -> dict[str, bytes]:
        found = {digest: self._blobs.get(digest_bytes(digest)) for digest in digests}
        return {digest: data for digest, data in found.items() if data is not None}

    def _heads(self, digests: set[str]) -> dict[str, Head]:
        return {digest: Head(data[:HEAD_BYTES], len(data)) for digest, data in self._fetch(digests).items()}
