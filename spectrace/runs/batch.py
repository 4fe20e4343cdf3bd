"""Many episodes: tasks times trials, a bounded number at once; each gets a fresh environment."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from spectrace.core.prompts import Prompts
from spectrace.core.types import Task
from spectrace.environments.environment import Environment
from spectrace.errors import EnvironmentFailed, ModelFailed
from spectrace.models.client import ModelClient
from spectrace.runs.live import EpisodeProtocol, Labels, Recorded, record
from spectrace.runs.recorder import Watcher
from spectrace.runs.sources import Limits
from spectrace.store.event_store import EventStore


@dataclass(frozen=True, slots=True)
class NotRecorded:
    """An episode that could not begin: nothing was recorded."""

    task: str
    trial: int
    error: EnvironmentFailed | ModelFailed


async def record_all(  # noqa: PLR0913 - everything that a batch is made of
    tasks: Sequence[Task],
    open_environment: Callable[[], Environment],
    clients: Mapping[str, ModelClient],
    protocol: EpisodeProtocol,
    store: EventStore,
    *,
    trials: int = 1,
    concurrency: int = 1,
    labels: Labels | None = None,
    prompts: Prompts | None = None,
    limits: Limits | None = None,
    watch: Watcher | None = None,
) -> AsyncIterator[Recorded | NotRecorded]:
    """Record every task `trials` times and yield each episode as it ends.

    A seed in `labels` is the first trial's; later trials count on from it. Cancelling ends the running episodes as
    interrupted; the ones not begun are left out.
    """
    labels = labels or Labels()
    slots = asyncio.Semaphore(concurrency)

    async def one(task: Task, trial: int) -> Recorded | NotRecorded:
        seed = None if labels.seed is None else labels.seed + trial
        async with slots:
            try:
                return await record(
                    task,
                    open_environment(),
                    clients,
                    protocol,
                    store,
                    prompts=prompts,
                    labels=replace(labels, trial=trial, seed=seed),
                    limits=limits,
                    watch=watch,
                )
            except (EnvironmentFailed, ModelFailed) as error:
                return NotRecorded(task.id, trial, error)

    running = [asyncio.create_task(one(task, trial)) for trial in range(trials) for task in tasks]
    try:
        for ended in asyncio.as_completed(running):
            yield await ended
    finally:
        for unfinished in running:
            unfinished.cancel()
        for unfinished in running:
            with suppress(asyncio.CancelledError, Exception):
                await unfinished
