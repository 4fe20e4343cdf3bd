"""A queue of a run's work, shared by many machines: the port. Its adapter, on Postgres, is `queue.ProcrastinateJobs`.

Nothing that lies in a queue is believed: a job says which run and which episodes, and whoever takes it compares that
with the run's own selection. Each run has a queue of its own, so that a worker takes only what it can judge.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

JSON = Mapping[str, object]

REVERIFY_TASK = "spectrace.reverify.v1"
"""What the jobs of a re-verification are called; other names in their queue are somebody else's."""


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of a run's work as it lies in the queue."""

    number: int
    run: str
    """Whose queue it lay in."""
    task: str
    args: object
    """JSON, as somebody wrote it there."""
    attempts: int
    """How often it was begun and not finished."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How many jobs of one queue wait, are worked on, and failed. Those that are done leave it."""

    queued: int = 0
    doing: int = 0
    failed: int = 0


def queue_key(run: str) -> str:
    """Return the name of a run's queue: Postgres announces it on a channel, whose name must be short."""
    return f"run-{hashlib.sha256(run.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


class Jobs(Protocol):
    """The queue, as one worker sees it."""

    async def defer(self, run: str, jobs: Sequence[JSON]) -> None:
        """Put jobs into a run's queue."""

    async def pending(self, run: str) -> Sequence[object]:
        """Return the arguments of the jobs that wait or are worked on."""

    async def fetch(self, runs: Sequence[str]) -> Job | None:
        """Take the first job that waits in these runs' queues."""

    async def finish(self, job: Job, *, failed: bool = False) -> bool:
        """End a job; False, and nothing changes, where somebody took it over meanwhile."""

    async def give_back(self, job: Job, after_s: float = 0) -> bool:
        """Let others take a job, after some time; False, and nothing changes, where somebody took it over meanwhile."""

    async def retry_stalled(self, runs: Sequence[str], silent_s: float) -> Sequence[Job]:
        """Put back the jobs of workers that have been silent for so long; return them."""

    async def forget(self, run: str) -> None:
        """Delete the jobs that failed."""

    async def cancel(self, run: str) -> int:
        """Take out the jobs that wait; return how many."""

    async def beat(self) -> None:
        """Say that this worker is alive."""

    async def standings(self) -> Mapping[str, Standing]:
        """Return how each queue stands, by its key."""
