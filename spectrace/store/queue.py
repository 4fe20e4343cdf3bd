"""The queue on procrastinate, in the log's own Postgres: beside `queue_schema` the only module that imports it.

Procrastinate's job manager is used, not its worker: that one stops its heartbeat before it waits for its last jobs
(3.10, `Worker._shutdown`), so that an hour's shard would be taken for dead, and it keeps to the queues that it began
with. A job is ended or given back only by the worker that has it: one that slept, or lost the network, and was taken
for dead finds it taken over. Between that look and the change lies a moment; what both judge then counts once, as ever.
"""

import json
import time
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa

from spectrace.errors import MissingExtra, StoreError
from spectrace.store import queue_schema
from spectrace.store.address import explain, parse_url
from spectrace.store.jobs import JSON, REVERIFY_TASK, Job, Standing, queue_key

if TYPE_CHECKING:
    from procrastinate.connector import BaseConnector
    from procrastinate.jobs import Job as Row

T = TypeVar("T")

_BATCH = 500
_RAISED = "P0001"
"""What Postgres calls an error that one of procrastinate's own functions raised."""
_FORGET_S = 86_400.0
"""A worker silent for a day has gone; its row is deleted. Sooner, one that only slept could not go on."""


@asynccontextmanager
async def open_queue(url: str) -> "AsyncIterator[ProcrastinateJobs]":
    """Lend the queue of a log; it is made when it is first used."""
    schema = queue_schema.prepare(url)
    address = parse_url(url)
    connector = _connector(address, schema)
    await connector.open_async()
    jobs = ProcrastinateJobs(connector, address)
    try:
        yield jobs
    finally:
        try:
            await jobs.leave()
        finally:
            await connector.close_async()


def _connector(url: sa.URL, schema: str) -> "BaseConnector":
    """Return procrastinate's connections, which see the queue's schema and nothing else."""
    try:
        from procrastinate import PsycopgConnector  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("a queue", "queue") from error
    _, given = sa.create_engine(url).dialect.create_connect_args(url)
    path = queue_schema.quoted(schema).replace("\\", "\\\\").replace(" ", "\\ ")
    options = f"{given.get('options', '')} -csearch_path={path}".strip()
    arguments: dict[str, Any] = {"connect_timeout": 10, **given, "options": options}
    return PsycopgConnector(kwargs=arguments, json_loads=_read, min_size=1, max_size=2)


def _read(text: str | bytes) -> object:
    """Read a job's arguments; None, which is no job of ours, where Postgres takes what Python does not.

    Raised here it would undo the fetch, and the same job would stop every worker.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # a number of 5,000 digits; lists 5,000 deep
        return None


class ProcrastinateJobs:
    """One process's view of the queue. It is a worker from its first `fetch` on."""

    def __init__(self, connector: "BaseConnector", url: sa.URL) -> None:
        """Use `open_queue`; tests give procrastinate's connector in memory."""
        from procrastinate.manager import JobManager  # noqa: PLC0415 - an extra; who comes here has opened it

        self._manager = JobManager(connector)
        self._url = url
        self._worker: int | None = None
        self.statements = 0
        """How often the queue was asked something."""
        self.waited_s = 0.0
        """How long its answers took in all."""

    async def defer(self, run: str, jobs: Sequence[JSON]) -> None:
        """Put jobs into a run's queue."""
        from procrastinate.jobs import Job as New  # noqa: PLC0415 - as above

        for first in range(0, len(jobs), _BATCH):
            rows = [
                New(queue=queue_key(run), lock=None, queueing_lock=None, task_name=REVERIFY_TASK, task_kwargs=dict(one))  # type: ignore[arg-type]  # JSON, in its types
                for one in jobs[first : first + _BATCH]
            ]
            await self._ask(self._manager.batch_defer_jobs_async(rows))

    async def pending(self, run: str) -> Sequence[object]:
        """Return the arguments of the jobs that wait or are worked on."""
        rows = [
            row
            for status in ("todo", "doing")
            for row in await self._ask(self._manager.list_jobs_async(queue=queue_key(run), status=status))
        ]
        return [row.task_kwargs for row in rows]

    async def fetch(self, runs: Sequence[str]) -> Job | None:
        """Take the first job that waits in these runs' queues."""
        if not runs:
            return None
        if self._worker is None:
            await self._ask(self._manager.prune_stalled_workers(_FORGET_S))
            self._worker = await self._ask(self._manager.register_worker())
        names = {queue_key(run): run for run in runs}
        row = await self._ask(self._manager.fetch_job(queues=list(names), worker_id=self._worker))
        return None if row is None else _job(row, names[row.queue])

    async def finish(self, job: Job, *, failed: bool = False) -> bool:
        """End a job; False, and nothing changes, where somebody took it over meanwhile. One that is done is deleted."""
        from procrastinate.jobs import Status  # noqa: PLC0415 - as above

        if not await self._is_held(job, self._worker):
            return False
        status = Status.FAILED if failed else Status.SUCCEEDED
        return await self._change(self._manager.finish_job_by_id_async(job.number, status, delete_job=not failed))

    async def give_back(self, job: Job, after_s: float = 0) -> bool:
        """Let others take a job, after some time; False, and nothing changes, where somebody took it over meanwhile."""
        if not await self._is_held(job, self._worker):
            return False
        return await self._retry(job, after_s)

    async def retry_stalled(self, runs: Sequence[str], silent_s: float) -> Sequence[Job]:
        """Put back the jobs of workers that have been silent for so long; return them."""
        names = {queue_key(run): run for run in runs}
        found = await self._ask(self._manager.get_stalled_jobs(seconds_since_heartbeat=silent_s))
        retried = []
        for row in found:
            # A second look: another worker may have put it back, and a third begun it, since the first.
            job = _job(row, names[row.queue]) if row.queue in names else None
            if job is not None and await self._is_held(job, row.worker_id) and await self._retry(job, 0):
                retried.append(job)
        return retried

    async def forget(self, run: str) -> None:
        """Delete the jobs that failed."""
        await self._ask(self._manager.delete_old_jobs(0, queue=queue_key(run), include_failed=True))

    async def cancel(self, run: str) -> int:
        """Take out the jobs that wait; return how many."""
        waiting = await self._ask(self._manager.list_jobs_async(queue=queue_key(run), status="todo"))
        numbers = [row.id for row in waiting if row.id is not None]
        return sum(
            [await self._ask(self._manager.cancel_job_by_id_async(number, delete_job=True)) for number in numbers]
        )

    async def beat(self) -> None:
        """Say that this worker is alive."""
        if self._worker is not None:
            await self._ask(self._manager.update_heartbeat(self._worker))

    async def standings(self) -> Mapping[str, Standing]:
        """Return how each queue stands, by its key."""
        return {
            str(row["name"]): queue_schema.standing(
                {status: int(row[status]) for status in ("todo", "doing", "failed")}
            )
            for row in await self._ask(self._manager.list_queues_async())
        }

    async def leave(self) -> None:
        """Be a worker no longer; a job that it still has is stalled from now on."""
        worker, self._worker = self._worker, None
        if worker is not None:
            await self._ask(self._manager.unregister_worker(worker))

    async def _retry(self, job: Job, after_s: float) -> bool:
        at = datetime.now(UTC) + timedelta(seconds=after_s)
        return await self._change(self._manager.retry_job_by_id_async(job.number, at))

    async def _change(self, change: Awaitable[None]) -> bool:
        """Change a job; False where it is no longer in a state to be changed so: somebody was faster."""
        try:
            await self._ask(change)
        except StoreError as error:
            said = error.__cause__.__cause__ if error.__cause__ is not None else None
            if getattr(said, "sqlstate", None) == _RAISED:
                return False
            raise
        return True

    async def _is_held(self, job: Job, worker: int | None) -> bool:
        """Whether the job is worked on by that worker."""
        rows = await self._ask(self._manager.list_jobs_async(id=job.number, status="doing"))
        return [row.worker_id for row in rows] == [worker]

    async def _ask(self, question: Awaitable[T]) -> T:
        from procrastinate.exceptions import ConnectorException  # noqa: PLC0415 - as above

        begun = time.perf_counter()
        try:
            return await question
        except ConnectorException as error:
            raise StoreError(explain(self._url, f"the queue: {error.__cause__ or error}")) from error
        finally:
            self.statements += 1
            self.waited_s += time.perf_counter() - begun


def _job(row: "Row", run: str) -> Job:
    return Job(row.id or 0, run, row.task_name, row.task_kwargs, row.attempts)
