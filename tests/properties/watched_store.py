"""A store that notes how far each append went, so that a test sees what lay on stable storage when an action began."""

from collections.abc import Sequence
from dataclasses import dataclass

from spectrace.core.events import EpisodeStarted
from spectrace.store.event_store import EpisodeWriter, EventStore, Pending


@dataclass(slots=True)
class WatchedStore:
    """Passes everything on; `committed` and `flushed` are the last events of one episode that were."""

    inner: EventStore
    episode: str = ""
    committed: int = -1
    flushed: int = -1

    def create(self, episode: str, started: EpisodeStarted, at: int) -> EpisodeWriter:
        writer = self.inner.create(episode, started, at)
        self.episode, self.committed, self.flushed = episode, 0, 0
        return _WatchedWriter(self, writer)


@dataclass(slots=True)
class _WatchedWriter:
    store: WatchedStore
    inner: EpisodeWriter

    def append(self, events: Sequence[Pending], *, durable: bool) -> None:
        self.inner.append(events, durable=durable)
        self._went(events)
        if durable:  # and all before it
            self.store.flushed = self.store.committed

    def append_at_once(self, events: Sequence[Pending]) -> bool:
        done = self.inner.append_at_once(events)
        if done:
            self._went(events)
        return done

    def _went(self, events: Sequence[Pending]) -> None:
        for event in events:
            assert event.seq == self.store.committed + 1, "events leave no gap and come in order"
            self.store.committed = event.seq

    def renew(self) -> None:
        self.inner.renew()

    def close(self) -> None:
        self.inner.close()
