"""The log of a live run: numbers events, stamps them and hands them to the store in the right durability class."""

import asyncio
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from spectrace.core.events import MAX_SEQ, Body, EpisodeEnded, EpisodeStarted, Totals
from spectrace.core.tally import Tally
from spectrace.core.types import Outcome
from spectrace.errors import Conflict, RecordingStopped, SchemaViolation, StoreError
from spectrace.runs.drive import LogEnds
from spectrace.store.event_store import EpisodeWriter, Pending

Watcher = Callable[[str, int, Body], None]
"""Told of every event as it is written: episode, seq, body. For progress; it must not raise."""


WRITERS = 64
"""Episodes that may wait for the log at once; the threads are there to wait, and what waits is flushed together."""

_executors: dict[int, ThreadPoolExecutor] = {}


def threads() -> ThreadPoolExecutor:
    """Return the threads that append: asyncio has too few (6 on two cores) to share a flush. A fork gets new ones."""
    found = _executors.get(os.getpid())
    if found is None:
        found = _executors[os.getpid()] = ThreadPoolExecutor(WRITERS, thread_name_prefix="spectrace-log")
    return found


class LogFull(LogEnds):
    """The last event number is kept for the end."""


def now_us() -> int:
    """Return the wall clock in UTC microseconds."""
    return time.time_ns() // 1000


class Recorder:
    """Writes one episode's events. Counterpart of the replay's Comparison."""

    def __init__(
        self, episode: str, writer: EpisodeWriter, watch: Watcher | None = None, first: EpisodeStarted | None = None
    ) -> None:
        """Go on after event 0, `first`, which the store has already."""
        self.episode = episode
        self._tally = Tally()
        self._tally.count(first)
        self._writer = writer
        self._watch = watch
        self._next = 1
        self._pending: deque[Pending] = deque()
        """Written and not stored; a deque, because the loop adds to it while a thread takes from it."""
        self._flushing = threading.Lock()
        self._ending = threading.Lock()
        self._ended = False
        self._kept = 1
        """How many events the store has said that it holds."""
        self._flushed = 1
        """How many of them it has said to be on stable storage."""
        self._stopped: Exception | None = None
        """Why a batch was not stored: nothing may follow it, and every later call says this again."""

    @property
    def totals(self) -> Totals:
        """Counts over the events written so far."""
        return self._tally.totals

    def write(self, lane: str, body: Body) -> int:
        """Number and stamp one event; it is committed when the log is next settled."""
        if self._stopped is not None:
            raise self._stopped
        seq = self._next
        if seq >= MAX_SEQ and not isinstance(body, EpisodeEnded):
            raise LogFull
        self._next += 1
        self._pending.append(Pending(seq, lane, now_us(), body))
        self._tally.count(body)
        if self._watch is not None:
            self._watch(self.episode, seq, body)
        return seq

    async def settle(self, *, durable: bool) -> None:
        """Commit what is pending; `durable` flushes it, and all before it, to stable storage.

        An unflushed commit that nobody is in the way of is made here and now: it takes a tenth of a millisecond, and
        a thread's two hand-overs would cost as much again, at times thirty times that. What waits, waits in a thread.
        Another lane may have stored these events meanwhile, unflushed: what counts is what the store has said of them.
        """
        if (self._flushed if durable else self._kept) >= self._next or (not durable and self._flush_at_once()):
            return
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(threads(), partial(self._flush, durable=durable))

    def _flush_at_once(self) -> bool:
        if not self._flushing.acquire(blocking=False):
            return False
        try:
            return self._append(self._writer.append_at_once, durable=False)
        finally:
            self._flushing.release()

    def _flush(self, *, durable: bool) -> None:
        """Take and append in one critical section: a cancelled await can neither lose a batch nor let two overtake."""

        def append(batch: list[Pending]) -> bool:
            self._writer.append(batch, durable=durable)
            return True

        with self._flushing:
            self._append(append, durable=durable)

    def _append(self, append: Callable[[list[Pending]], bool], *, durable: bool) -> bool:
        """Append what is pending; keep it pending where `append` says that it did nothing."""
        if self._stopped is not None:
            raise self._stopped
        batch = [self._pending.popleft() for _ in range(len(self._pending))]
        if not batch and (not durable or self._flushed == self._kept):
            return True
        try:
            done = append(batch)
        except StoreError as error:
            self._stopped = self._stop(error)
            raise self._stopped from error
        except Exception as error:
            self._stopped = error
            raise
        if not done:
            self._pending.extendleft(reversed(batch))
            return False
        self._kept += len(batch)
        if durable:
            self._flushed = self._kept
        return True

    def _stop(self, cause: StoreError) -> RecordingStopped:
        """Return the error of this append and of every later one: the cause, what is recorded, what to do."""
        match cause:
            case Conflict():
                todo = "Only one process may write an episode: find the other, then run the task again."
            case SchemaViolation():
                todo = "No event that does not fit is ever written: this is a fault of spectrace, please report it."
            case _:
                todo = "Mend what is wrong with the database, then run the task again."
        return RecordingStopped(
            f"Episode {self.episode} was stopped, because its log cannot be gone on with: {cause} "
            f"Its first {self._kept} events had been recorded; without an end it shows as interrupted. {todo}"
        )

    def act_key(self, position: str) -> str:
        """Return the action's idempotency key: the same action of the same episode always has the same one."""
        return f"{self.episode}:{position}"

    def end(self, outcome: Outcome) -> None:
        """Write `episode.ended` and flush, synchronously: it must also work while a cancelled loop winds down.

        An episode ends once: a Ctrl-C that comes while its end is written, in a thread, waits for it and adds none.
        """
        with self._ending:
            if self._ended:
                return
            self._ended = True
            ended = EpisodeEnded(
                outcome=outcome.status,
                reason=outcome.reason,
                answer=outcome.answer,
                reward=outcome.reward,
                totals=self.totals,
            )
            self.write("", ended)
            self._flush(durable=True)
