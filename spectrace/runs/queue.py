"""Many machines: the worker that takes shards of runs from a queue (the port: `store.jobs`) and judges their episodes.

N episodes are judged at once, each from its first review to its last. Shards overlap: once a slot is free and no
episode of the shards at hand waits, the next shard is taken, so that no slot waits for the slowest episode of a shard.
Stalled shards (their worker died) are looked for by whoever has nothing else to do. What is judged twice, because a
worker was thought dead that only slept, counts once: the run's items say so.
"""

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from spectrace.errors import SpectraceError, StoreError, UsageError
from spectrace.runs.shards import episodes_of
from spectrace.store.jobs import Job, Jobs, queue_key

MOST_ATTEMPTS = 5
"""A shard that so many workers began and did not finish fails."""
_AGAIN_S, _LONGEST_AGAIN_S = 10.0, 600.0
"""How long a shard with trouble is left alone: doubled at each attempt, up to the second."""

_SHOWN = 3
"""Troubles of a shard that are told."""

State = Literal["doing", "done", "given_back", "taken_over", "cancelled", "failed"]


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of one episode, and what its trouble means.

    `then`: later may help, never will, this worker should stop, or the run is cancelled and its shard to be dropped.
    """

    verdicts: int
    trouble: str | None = None
    then: Literal["again", "never", "stop", "drop"] = "again"


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard that a worker took, as it stands."""

    number: int
    run: str
    episodes: int
    judged: int = 0
    verdicts: int = 0
    state: State = "doing"
    detail: str = ""
    attempts: int = 0
    """How often it was begun before, here or by others, and not finished."""


class Work(Protocol):
    """What a worker can do: which runs are its own, and how an episode of one is judged."""

    def runs(self) -> Collection[str]:
        """Return the runs whose shards this worker may take now: asked before each."""

    def selection(self, run: str) -> Collection[str]:
        """Return the episodes of a run."""

    async def judge(self, run: str, episode: str) -> Judged:
        """Judge what is left of an episode."""


@dataclass(slots=True)
class _Held:
    job: Job
    shard: Shard
    left: int
    troubles: list[Judged] = field(default_factory=list)


class Worker:
    """Takes shards and judges them until it is stopped, or (without `wait`) until no shard of its runs is left.

    Cancelled, it gives back what it has. `shards` is what it took, in the order in which each came to its end.
    """

    def __init__(  # noqa: PLR0913 - what a worker is made of
        self,
        jobs: Jobs,
        work: Work,
        *,
        concurrency: int = 1,
        wait: bool = False,
        silent_s: float = 30.0,
        poll_s: float = 2.0,
        told: Callable[[Shard], None] = lambda _: None,
    ) -> None:
        """`silent_s`: a worker that said nothing for so long is dead; it must be the same for all workers of a log."""
        self._jobs, self._work = jobs, work
        self._slots = concurrency
        self._wait = wait
        self._silent_s, self._poll_s = silent_s, min(poll_s, silent_s / 3)
        self._told = told
        self._waiting: deque[tuple[_Held, str]] = deque()
        self._tasks: dict[asyncio.Task[Judged], tuple[_Held, str]] = {}
        self._held: dict[int, _Held] = {}
        self._looked = self._checked = -math.inf
        """When it last looked for stalled shards, and for runs that were cancelled."""
        self.shards: list[Shard] = []
        self.stopped: str | None = None
        """Why it stopped before the queue was empty, if not because it was asked to."""

    async def run(self) -> None:
        """Work."""
        beating = asyncio.create_task(self._beat())
        try:
            while self.stopped is None:
                await self._drop_cancelled()
                await self._fill()
                if self._tasks:
                    await self._progress()
                elif self._wait or await self._is_more():
                    await asyncio.sleep(self._poll_s)
                else:
                    break
        finally:
            await self._leave()
            beating.cancel()
            await asyncio.gather(beating, return_exceptions=True)

    async def _fill(self) -> None:
        """Begin episodes while slots are free, taking shards as they are needed."""
        while len(self._tasks) < self._slots:
            if self._waiting:
                held, episode = self._waiting.popleft()
                self._tasks[asyncio.create_task(self._judge(held.job.run, episode))] = held, episode
            elif not await self._take():
                return

    async def _take(self) -> bool:
        """Take a shard, one of a dead worker if there is no other; False where there is none."""
        runs = sorted(self._work.runs())
        job = await self._jobs.fetch(runs)
        if job is None and await self._look_for_stalled(runs):
            job = await self._jobs.fetch(runs)
        if job is None:
            return False
        shard = Shard(job.number, job.run, 0, attempts=job.attempts)
        try:
            episodes = episodes_of(job, self._work.selection(job.run))
        except UsageError as error:
            await self._jobs.finish(job, failed=True)
            self._end(shard, "failed", f"not a shard of ours: {error}")
            return True
        held = _Held(job, replace(shard, episodes=len(episodes)), len(episodes))
        if job.attempts >= MOST_ATTEMPTS:
            await self._jobs.finish(job, failed=True)
            self._end(held.shard, "failed", f"{job.attempts} workers began it and none finished it")
            return True
        self._held[job.number] = held
        self._waiting.extend((held, episode) for episode in episodes)
        self._told(held.shard)
        return True

    async def _look_for_stalled(self, runs: Sequence[str]) -> bool:
        if time.monotonic() < self._looked + self._silent_s / 3:
            return False
        self._looked = time.monotonic()
        return bool(await self._jobs.retry_stalled(runs, self._silent_s))

    async def _judge(self, run: str, episode: str) -> Judged:
        try:
            return await self._work.judge(run, episode)
        except SpectraceError as error:
            return Judged(0, str(error))
        except Exception as error:  # noqa: BLE001 - one episode that we cannot bear must not stop the others; it is told
            return Judged(0, f"inside spectrace: {type(error).__name__}: {error}. This is a bug", "never")

    async def _progress(self) -> None:
        """Wait until an episode ends, but no longer than until it is time to look around again."""
        timeout = self._poll_s if len(self._tasks) < self._slots else self._silent_s / 3
        ended, _ = await asyncio.wait(self._tasks, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        for task in ended:
            if task in self._tasks:  # not stopped meanwhile, with its shard
                held, episode = self._tasks.pop(task)
                await self._count(held, episode, task.result())

    async def _count(self, held: _Held, episode: str, judged: Judged) -> None:
        held.left -= 1
        done = int(judged.trouble is None)
        held.shard = replace(
            held.shard, judged=held.shard.judged + done, verdicts=held.shard.verdicts + judged.verdicts
        )
        if judged.trouble is not None:
            held.troubles.append(replace(judged, trouble=f"{episode}: {judged.trouble}"))
            if judged.then == "stop":
                self.stopped = judged.trouble
            elif judged.then == "drop" and held.job.number in self._held:
                await self._drop(held)
                return
        self._told(held.shard)
        if not held.left and held.job.number in self._held and self.stopped is None:
            await self._settle(held)

    async def _settle(self, held: _Held) -> None:
        """End a shard whose episodes have all been tried."""
        detail = _in_words([str(one.trouble) for one in held.troubles])
        lasting = any(one.then == "never" for one in held.troubles) or held.job.attempts + 1 >= MOST_ATTEMPTS
        if not held.troubles or lasting:
            ours = await self._jobs.finish(held.job, failed=bool(held.troubles))
            state: State = "failed" if held.troubles else "done"
        else:
            ours = await self._jobs.give_back(held.job, min(_AGAIN_S * 2**held.job.attempts, _LONGEST_AGAIN_S))
            state = "given_back"
        del self._held[held.job.number]
        self._end(held.shard, state if ours else "taken_over", detail)

    async def _is_more(self) -> bool:
        """Whether a shard waits, or is worked on by somebody who may still die."""
        found = await self._jobs.standings()
        mine = [found[key] for run in self._work.runs() if (key := queue_key(run)) in found]
        return any(one.queued or one.doing for one in mine)

    async def _beat(self) -> None:
        """Say regularly that this worker lives."""
        while True:
            await asyncio.sleep(self._silent_s / 3)
            try:
                await self._jobs.beat()
            except StoreError:
                # A server that restarts is back for the next beat; one that does not is told by what is recorded there.
                continue

    async def _drop_cancelled(self) -> None:
        """Drop the shards of runs that were cancelled; looked for now and then."""
        if not self._held or time.monotonic() < self._checked + self._silent_s / 3:
            return
        self._checked, runs = time.monotonic(), set(self._work.runs())
        for held in [one for one in self._held.values() if one.job.run not in runs]:
            await self._drop(held)

    async def _drop(self, held: _Held) -> None:
        await self._stop(held)
        await self._jobs.finish(held.job)
        del self._held[held.job.number]
        self._end(held.shard, "cancelled", "its run was cancelled")

    async def _stop(self, held: _Held) -> None:
        """Stop judging the episodes of a shard; each pass gets its end, its verdicts stay."""
        self._waiting = deque(one for one in self._waiting if one[0] is not held)
        tasks = [task for task, (of, _) in self._tasks.items() if of is held]
        for task in tasks:
            del self._tasks[task]
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _leave(self) -> None:
        """Give back what is at hand."""
        for held in self._held.values():
            await self._stop(held)
        while self._held:
            _, held = self._held.popitem()
            if await self._jobs.give_back(held.job):
                detail = f"{held.left} episodes left; what those under way were given stays"
                self._end(held.shard, "given_back", detail)
            else:
                self._end(held.shard, "taken_over", "")

    def _end(self, shard: Shard, state: State, detail: str) -> None:
        self.shards.append(replace(shard, state=state, detail=detail))
        self._told(self.shards[-1])


def _in_words(troubles: Sequence[str]) -> str:
    more = f"; and {len(troubles) - _SHOWN} more" if len(troubles) > _SHOWN else ""
    return "; ".join(troubles[:_SHOWN]) + more
