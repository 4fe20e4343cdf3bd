"""What a queue costs: two workers judge a run's shards from Postgres, with a verifier that takes as long as a model.

    python -m tests.benchmarks.queueing [--episodes 512] [--latency-s 1.0] [--concurrency 8]

Measured are the slots of both workers from the first fetch to the moment when the queue is found empty, while there is
work for all: whatever a slot does not spend on judging an episode is coordination (fetching and ending shards,
heartbeats, waiting for the next). Beside it what the queue's own statements take, which hold up only a slot that is
free. Judging includes the log: each verdict is recorded as always.
"""

import argparse
import asyncio
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from spectrace.cli.own_runs import OwnRuns
from spectrace.core.rereviews import REVERIFY
from spectrace.core.review_request import ReviewRequest
from spectrace.models.functions import FunctionJudge
from spectrace.runs.pass_plan import Plan
from spectrace.runs.queue import Judged, Worker
from spectrace.runs.shards import SHARD, enqueue
from spectrace.runs.verifiers import JudgePool
from spectrace.store import runs
from spectrace.store.jobs import Job
from spectrace.store.queue import ProcrastinateJobs, open_queue
from spectrace.store.sql import SqlEventStore, open_store
from tests.benchmarks import postgres
from tests.benchmarks.report import Row, Section, table
from tests.episodes import record_shop

RUN, VERIFIER = "again", "slow:judge"
WORKERS = 2
GOAL = 1.0
"""Per cent."""


@dataclass
class Clock:
    """When what was judged, on one worker, and when its queue was empty."""

    slots: int
    begun: float = 0.0
    empty: float | None = None
    waited_s: float = 0.0
    """What the queue's statements took until it was empty."""
    statements: int = 0
    busy: list[tuple[float, float]] = field(default_factory=list)

    @property
    def available_s(self) -> float:
        return self.slots * ((self.empty or 0) - self.begun)

    @property
    def judging_s(self) -> float:
        end = self.empty or 0
        return sum(min(last, end) - first for first, last in self.busy if first < end)


class Timed:
    """A worker's work, and its view of the queue, with a clock beside them."""

    def __init__(self, work: OwnRuns, jobs: ProcrastinateJobs, clock: Clock) -> None:
        self._work, self._jobs, self._clock = work, jobs, clock

    def runs(self) -> Collection[str]:
        return self._work.runs()

    def selection(self, run: str) -> Collection[str]:
        return self._work.selection(run)

    async def judge(self, run: str, episode: str) -> Judged:
        begun = time.perf_counter()
        try:
            return await self._work.judge(run, episode)
        finally:
            self._clock.busy.append((begun, time.perf_counter()))

    async def fetch(self, names: Sequence[str]) -> Job | None:
        self._clock.begun = self._clock.begun or time.perf_counter()
        asked = time.perf_counter()
        job = await self._jobs.fetch(names)
        if job is None and self._clock.empty is None:
            self._clock.empty = asked
            self._clock.waited_s, self._clock.statements = self._jobs.waited_s, self._jobs.statements
        return job

    def __getattr__(self, name: str) -> object:
        return getattr(self._jobs, name)


def section(episodes: int = 512, latency_s: float = 1.0, concurrency: int = 8) -> Section:
    """Measure."""
    with postgres.server() as url:
        address = postgres.schema(url)
        store = open_store(address)
        try:
            return asyncio.run(_measured(store, address, episodes, latency_s, concurrency))
        finally:
            store.close()


async def _measured(store: SqlEventStore, url: str, episodes: int, latency_s: float, concurrency: int) -> Section:
    names = [(await record_shop(store)).episode for _ in range(episodes)]
    plan = Plan(RUN, VERIFIER)
    runs.begin(store, RUN, REVERIFY, [(name, store.row(name).head.hex()) for name in names], plan.to_json())
    async with open_queue(url) as jobs:
        queued = await enqueue(jobs, RUN, names, SHARD)

    async def judge(request: ReviewRequest) -> bool:
        await asyncio.sleep(latency_s)
        return True

    async def work(clock: Clock) -> tuple[int, float]:
        mine = open_store(url)
        own = OwnRuns(store=mine, pool=JudgePool(FunctionJudge(VERIFIER, judge)), verifier=VERIFIER)
        try:
            async with open_queue(url) as jobs:
                timed, begun = Timed(own, jobs, clock), time.perf_counter()
                worker = Worker(timed, timed, concurrency=clock.slots)
                await worker.run()
                took = time.perf_counter() - begun
                return sum(one.verdicts for one in worker.shards), took
        finally:
            mine.close()

    clocks = [Clock(concurrency) for _ in range(WORKERS)]
    done = await asyncio.gather(*map(work, clocks))
    verdicts, took = sum(one[0] for one in done), max(one[1] for one in done)
    available, judging = sum(one.available_s for one in clocks), sum(one.judging_s for one in clocks)
    waited, working = sum(one.waited_s for one in clocks), available / concurrency
    size = f"{queued} of {SHARD} episodes, {WORKERS} workers, {concurrency} at once, {latency_s} s a call"
    return Section(
        f"A queue of shards: {size}",
        [
            Row("verdicts", verdicts, ""),
            Row("the run took", took, "s"),
            Row("while there was work for all: slots judging", judging, "s"),
            Row("slots not judging (coordination, the waiting between shards included)", available - judging, "s"),
            Row("coordination", 100 * (available - judging) / available, "%", at_most=GOAL),
            Row("statements of the queue", sum(one.statements for one in clocks), ""),
            Row("what they took", waited, "s"),
            Row("of both workers' time", 100 * waited / working, "%", at_most=GOAL),
        ],
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.queueing")
    parser.add_argument("--episodes", type=int, default=512)
    parser.add_argument("--latency-s", type=float, default=1.0)
    parser.add_argument("--concurrency", type=int, default=8)
    found = section(**vars(parser.parse_args()))
    print("\n".join(["", f"## {found.title}", "", *table(found.rows)]))


if __name__ == "__main__":
    main()
