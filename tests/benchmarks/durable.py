"""Durable appends: one agent after the other against JSONL with fdatasync, and 64 agents at once against one.

After ../shared/bench's m1f_group: each agent waits until its own step is on stable storage before it writes the next.
A spinner keeps the virtual CPUs awake meanwhile.
"""

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from spectrace.runs.recorder import Recorder
from spectrace.store.event_store import Pending
from spectrace.store.sql import SqlEventStore, SqlWriter, open_store
from tests.benchmarks.corpus import EPOCH_US, Episode, Source
from tests.benchmarks.ours import clock, fresh
from tests.benchmarks.rounds import Run, folder

STEPS = {1: 200, 64: 1920}
"""How many steps a round of so many agents writes in all; those of m1f_group."""


@dataclass(frozen=True, slots=True)
class _Agent:
    """What one agent writes, its episodes begun already."""

    writers: Sequence[SqlWriter]
    episodes: Sequence[Episode]
    steps: Sequence[Sequence[Sequence[Pending]]]
    """Per episode."""


def threads(sources: Sequence[Source], agents: int, url: str | None = None) -> Run:
    """Append durably from so many threads; in SQLite, or in the Postgres of that URL."""

    def work(agent: _Agent, latencies: list[float]) -> None:
        for writer, steps in zip(agent.writers, agent.steps, strict=True):
            for step in steps:
                begun = clock()
                writer.append(step, durable=True)
                latencies.append(clock() - begun)

    def together(team: Sequence[_Agent]) -> tuple[float, list[float]]:
        latencies: list[list[float]] = [[] for _ in team]
        workers = [threading.Thread(target=work, args=pair) for pair in zip(team, latencies, strict=True)]
        begun = clock()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return clock() - begun, [one for each in latencies for one in each]

    return _case(sources, agents, url, together)


def tasks(sources: Sequence[Source], agents: int, url: str | None = None) -> Run:
    """Settle durably from so many asyncio tasks of one loop, as `spectrace run --concurrency` does."""

    async def work(agent: _Agent, latencies: list[float]) -> None:
        for writer, episode, steps in zip(agent.writers, agent.episodes, agent.steps, strict=True):
            recorder = Recorder(episode.id, writer)
            for step in steps:
                begun = clock()
                for event in step:
                    recorder.write("", event.body)
                await recorder.settle(durable=True)
                latencies.append(clock() - begun)

    async def loop(team: Sequence[_Agent]) -> tuple[float, list[float]]:
        latencies: list[float] = []
        begun = clock()
        await asyncio.gather(*(work(agent, latencies) for agent in team))
        return clock() - begun, latencies

    return _case(sources, agents, url, lambda team: asyncio.run(loop(team)))


def _case(sources: Sequence[Source], agents: int, url: str | None, together: object) -> Run:
    each = STEPS[agents] // agents

    def run() -> dict[str, object]:
        with folder() as at:
            store = open_store(url or str(at / "log.db"))
            team = _team(store, sources, agents, each)
            seconds, latencies = together(team)
            for agent in team:
                for writer in agent.writers:
                    writer.close()
            store.close()
        return {"n": len(latencies), "t": seconds, "lat": latencies}

    return run


_BEGUN = 0


def _team(store: SqlEventStore, sources: Sequence[Source], agents: int, each: int) -> list[_Agent]:
    """Begin the episodes that so many agents need for so many steps each; ids are new in every round."""
    global _BEGUN  # noqa: PLW0603 - a Postgres database is used by several rounds
    waiting = iter(fresh(sources))
    team = []
    for _ in range(agents):
        episodes, steps, missing = [], [], each
        while missing > 0:
            episode = next(waiting)
            batches = list(episode.pending())[:-1][:missing]
            episodes.append(episode)
            steps.append(batches)
            missing -= len(batches)
        writers = []
        for episode in episodes:
            _BEGUN += 1
            writers.append(store.create(f"d{_BEGUN:015x}", episode.started, EPOCH_US))
        team.append(_Agent(writers, episodes, steps))
    return team
