"""A process that forks once for every job read from stdin; each child works on a re-verification run and is killed.

    {"url": ..., "run": "again", "repeat": 2, "kind": "count", "at": 17}

`kind` is what is counted and `at` at which one the child gets SIGKILL: `ask` (before and after the verifier answers),
`event` (the n-th event is written), `count` (before and after a verdict is counted, which it is once it is in the log:
in front of it lies the moment between verdict and item), `statement` (before and after each statement of the database),
`any` of the first three. `pause_s` is how long an answer takes. With a job as its argument it does that one itself.
"""

import asyncio
import gc
import json
import sys

from spectrace.core.types import ModelRequest
from spectrace.runs.pass_plan import Plan
from spectrace.runs.passes import Rejudging, judge_shard
from spectrace.runs.verifiers import Single
from spectrace.store import runs
from spectrace.store.arbiter import Item
from spectrace.store.run_arbiter import RunArbiter
from spectrace.store.sql import open_store
from tests.faults.kill import Countdown, hook_postgres, hook_sqlite, run, say
from tests.verifying import by_prompt, verifier


class Ticks:
    def __init__(self, countdown: Countdown) -> None:
        self._countdown = countdown

    def __call__(self, kind: str) -> None:
        self._countdown.tick(kind)
        self._countdown.tick("any")


class CountedArbiter(RunArbiter):
    """The real one, with a place to be killed at on both sides of each count."""

    tick: Ticks

    def count(self, item: Item) -> bool:
        self.tick("count")
        counted = super().count(item)
        self.tick("count")
        return counted


def work(job: dict) -> dict[str, int]:
    countdown = Countdown(job.get("kind", "none"), job.get("at", 0))
    tick = Ticks(countdown)
    if countdown.kind == "statement":
        (hook_sqlite if job["url"].startswith("sqlite") else hook_postgres)(countdown)
    store = open_store(job["url"])
    countdown.counts.clear()
    arbiter = CountedArbiter(store, job["run"])
    arbiter.tick = tick

    async def answers(request: ModelRequest) -> str:
        tick("ask")
        await asyncio.sleep(job.get("pause_s", 0))
        reply = by_prompt(request)
        tick("ask")
        return reply

    at_work = Rejudging(
        store=store,
        arbiter=arbiter,
        plan=Plan.from_json(job["run"], runs.get(store, job["run"]).settings),
        pool=Single(verifier(answers)),
        watch=lambda *_: tick("event"),
    )
    episodes = [episode for episode, _ in runs.get(store, job["run"]).selection]
    parts = asyncio.run(judge_shard(at_work, episodes, concurrency=job.get("concurrency", 4)))
    store.close()
    return {**countdown.counts, "new": sum(one.new for one in parts), "left": sum(one.left for one in parts)}


if __name__ == "__main__":
    if len(sys.argv) > 1:
        say(work(json.loads(sys.argv[1])))
        sys.exit()
    gc.freeze()
    for line in sys.stdin:
        say(run(json.loads(line), work))
