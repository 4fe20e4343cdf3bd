"""Many episodes: tasks, trials and protocols, a bounded number at once; each gets a fresh environment.

The order is interleaved (trial, then task, then protocol), so that a server that slows down slows all protocols alike.
A batch begins no new episode once its purse is empty, a model has failed too often, or a limit of an episode could not
be kept because a server counts no tokens: each further episode would pay for a call and be thrown away too. What runs
goes to its end.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from spectrace.core.endings import COST_UNKNOWN, TOKENS_UNKNOWN
from spectrace.core.prompts import Prompts
from spectrace.core.types import Task
from spectrace.environments.environment import Environment
from spectrace.errors import EnvironmentFailed, ModelFailed
from spectrace.models.client import ModelClient, pinned
from spectrace.redaction.redactor import Redactor
from spectrace.runs.health import Health
from spectrace.runs.live import Admit, EpisodeProtocol, Labels, Prices, Recorded, record
from spectrace.runs.purse import Purse
from spectrace.runs.recorder import Watcher
from spectrace.runs.sources import Limits
from spectrace.store.event_store import EventStore

_ENVIRONMENT_MODELS = ("user", "judge")


@dataclass(frozen=True, slots=True)
class Cell:
    """One episode of a batch: a place in its table."""

    trial: int
    task: Task
    protocol: EpisodeProtocol

    @property
    def key(self) -> tuple[str, int, str]:
        """(task, trial, protocol): what names the cell in a run."""
        return self.task.id, self.trial, self.protocol.NAME


@dataclass(frozen=True, slots=True)
class NotRecorded:
    """An episode that could not begin: nothing was recorded."""

    task: str
    trial: int
    error: EnvironmentFailed | ModelFailed
    protocol: str = ""


Ended = Recorded | NotRecorded


def cells(tasks: Sequence[Task], protocols: Sequence[EpisodeProtocol], trials: int = 1) -> list[Cell]:
    """Return every cell, interleaved."""
    return [Cell(trial, task, protocol) for trial in range(trials) for task in tasks for protocol in protocols]


@dataclass(kw_only=True)
class Batch:
    """Records cells; afterwards it knows what it left, and why.

    A seed in `labels` is the first trial's; later trials count on from it.
    """

    cells: Sequence[Cell]
    open_environment: Callable[[], Environment]
    clients: Mapping[str, ModelClient]
    store: EventStore
    concurrency: int = 1
    labels: Labels = field(default_factory=Labels)
    prompts: Prompts | None = None
    limits: Limits | None = None
    prices: Prices | None = None
    purse: Purse = field(default_factory=Purse)
    health: Health = field(default_factory=Health)
    watch: Watcher | None = None
    admit: Admit | None = None
    redactor: Redactor | None = None
    """Each episode gets a fresh one of the same rules and key."""
    _begun: int = field(default=0, init=False)
    _uncounted: str | None = field(default=None, init=False)
    """The end reason of an episode whose own limit nobody could keep."""

    @property
    def stopped(self) -> str | None:
        """Why no new episode begins.

        run_max_cost_usd, run_max_wall_s, cost_unknown, tokens_unknown, or which model failed.
        """
        return self.health.gave_up or self.purse.empty or self._uncounted

    @property
    def left(self) -> Sequence[Cell]:
        """The cells that were not begun."""
        return self.cells[self._begun :]

    async def run(self) -> AsyncIterator[Ended]:
        """Record the cells in order and yield each episode as it ends.

        Cancelling ends the running episodes as interrupted; the cells not begun are left.
        """
        ended: asyncio.Queue[Ended | Exception | None] = asyncio.Queue()
        workers = [asyncio.create_task(self._work(ended)) for _ in range(min(self.concurrency, len(self.cells)))]
        try:
            working = len(workers)
            while working:
                one = await ended.get()
                if isinstance(one, Exception):
                    raise one
                if one is None:
                    working -= 1
                else:
                    yield one
        finally:
            for worker in workers:
                worker.cancel()
            for worker in workers:
                with suppress(asyncio.CancelledError, Exception):
                    await worker

    async def _work(self, ended: "asyncio.Queue[Ended | Exception | None]") -> None:
        try:
            while self.stopped is None and self._begun < len(self.cells):
                cell = self.cells[self._begun]
                self._begun += 1
                one = await self._record(cell)
                if isinstance(one, Recorded) and one.outcome.reason in {COST_UNKNOWN, TOKENS_UNKNOWN}:
                    self._uncounted = one.outcome.reason
                ended.put_nowait(one)
        except Exception as error:  # noqa: BLE001 - raised by `run`, where somebody waits for it
            ended.put_nowait(error)
        ended.put_nowait(None)

    async def _record(self, cell: Cell) -> Ended:
        asked = {*cell.protocol.MODELS, *_ENVIRONMENT_MODELS}
        place = "\n".join(str(part) for part in cell.key)
        clients = {role: pinned(client, place) for role, client in self.clients.items() if role in asked}
        seed = None if self.labels.seed is None else self.labels.seed + cell.trial
        try:
            return await record(
                cell.task,
                self.open_environment(),
                self.health.watched(clients),
                cell.protocol,
                self.store,
                prompts=self.prompts,
                labels=replace(self.labels, trial=cell.trial, seed=seed, concurrency=self.concurrency),
                limits=self.limits,
                prices=self.prices,
                purse=self.purse,
                watch=self.watch,
                admit=self.admit,
                redactor=self.redactor,
            )
        except (EnvironmentFailed, ModelFailed) as error:
            return NotRecorded(cell.task.id, cell.trial, error, cell.protocol.NAME)
