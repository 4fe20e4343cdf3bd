"""Queues for tests: procrastinate's own connector in memory, and work that a test scripts."""

import asyncio
from collections.abc import Collection, Mapping

from procrastinate.testing import InMemoryConnector

from spectrace.runs.queue import Judged
from spectrace.store.address import parse_url
from spectrace.store.queue import ProcrastinateJobs

POSTGRES = parse_url("postgresql://user@nowhere/log")


def machine(connector: InMemoryConnector) -> ProcrastinateJobs:
    """One more machine at the queue."""
    return ProcrastinateJobs(connector, POSTGRES)


class ScriptedWork:
    """Episodes that are judged as a test says: a Judged, an exception, or nothing until it is let go."""

    def __init__(
        self, selections: Mapping[str, Collection[str]], says: Mapping[str, Judged | Exception] | None = None
    ) -> None:
        self.selections, self.says = dict(selections), dict(says or {})
        self.judged: list[tuple[str, str]] = []
        self.at_once = self.most_at_once = 0
        self.hanging: set[str] = set()
        self.cancelled: list[str] = []
        self.begun = asyncio.Event()

    def runs(self) -> Collection[str]:
        return list(self.selections)

    def selection(self, run: str) -> Collection[str]:
        return self.selections[run]

    async def judge(self, run: str, episode: str) -> Judged:
        self.judged.append((run, episode))
        self.begun.set()
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(3600 if episode in self.hanging else 0.001)
        except asyncio.CancelledError:
            self.cancelled.append(episode)
            raise
        finally:
            self.at_once -= 1
        said = self.says.get(episode, Judged(2))
        if isinstance(said, Exception):
            raise said
        return said
