"""Worker processes at the queue of a Postgres log, with a verifier that takes its time; and what they left there."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import sqlalchemy as sa

from spectrace.core.events import VerdictGiven
from spectrace.core.rereviews import REVERIFY
from spectrace.runs.pass_plan import Plan
from spectrace.runs.shards import enqueue
from spectrace.store import queue_schema, runs, tables
from spectrace.store.address import parse_url
from spectrace.store.jobs import JSON
from spectrace.store.queue import open_queue
from spectrace.store.sql import open_store
from tests.episodes import record_shop

VERIFIER = "slow:judge"
RUN = "again"
REVIEWS = 3
"""Of one shop episode."""
_SLOW = """
import time

def judge(request):
    time.sleep({seconds})
    return True
"""


def record(url: str, episodes: int) -> list[str]:
    """Record shop episodes, of three reviews each."""
    store = open_store(url)

    async def every() -> list[str]:
        return [(await record_shop(store)).episode for _ in range(episodes)]

    try:
        return asyncio.run(every())
    finally:
        store.close()


def begin(url: str, plan: Plan, episodes: list[str], size: int) -> int:
    """Begin a run and put it into the queue, as `reverify --queue` does."""
    store = open_store(url)
    try:
        selection = [(episode, store.row(episode).head.hex()) for episode in episodes]
        runs.begin(store, plan.run, REVERIFY, selection, plan.to_json())
    finally:
        store.close()

    async def queue() -> int:
        async with open_queue(url) as jobs:
            return await enqueue(jobs, plan.run, episodes, size)

    return asyncio.run(queue())


def put(url: str, run: str, jobs: Sequence[JSON]) -> None:
    """Put any jobs into a run's queue, as whoever can write to the database may."""

    async def defer() -> None:
        async with open_queue(url) as queue:
            await queue.defer(run, jobs)

    asyncio.run(defer())


def write_verifier(directory: Path, seconds: float) -> None:
    """Write the module that VERIFIER names."""
    (directory / "slow.py").write_text(_SLOW.format(seconds=seconds))


class WorkerProcess:
    """`spectrace worker` in a process of its own."""

    def __init__(self, url: str, directory: Path, *arguments: str, verifier: str = VERIFIER) -> None:
        command = [sys.executable, "-m", "spectrace", "worker", "--db", url, "--verifier", verifier, "--json"]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SPECTRACE_")}
        # What a shell puts in the background ignores SIGINT, and so would its children.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self._process = subprocess.Popen(
            [*command, *arguments],
            cwd=directory,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        signal.signal(signal.SIGINT, before)

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def wait(self, seconds: float = 120) -> tuple[int, list[dict[str, object]], str]:
        """Return its exit code, what it did, and what it said."""
        out, err = self._process.communicate(timeout=seconds)
        return self._process.returncode, json.loads(out)["items"] if out else [], err


def until(true: Callable[[], bool], seconds: float = 60) -> None:
    """Wait for something to happen."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.05)


def counted(url: str, run: str) -> int:
    """Return how many verdicts of a run count."""
    store = open_store(url, read_only=True)
    try:
        return sum(one.verdict_seq >= 0 for one in runs.items(store, run))
    finally:
        store.close()


def given(url: str, run: str) -> Counter[tuple[str, int]]:
    """Return how often each (episode, segment) of a run was given a verdict, counted or not, by the children's logs."""
    store = open_store(url, read_only=True)
    summary, episode = tables.summaries.c, tables.episodes.c
    query = sa.select(episode.episode, summary.parent).join(tables.summaries, episode.number == summary.number)
    try:
        with store.database.reading() as connection:
            children = connection.execute(query.where(summary.run == run, summary.protocol == REVERIFY)).all()
        return Counter(
            (parent, event.body.segment)
            for child, parent in children
            for event in store.read(child, prompts=False)
            if isinstance(event.body, VerdictGiven)
        )
    finally:
        store.close()


def standings(url: str) -> dict[str, object]:
    """Return how the queues of a log stand."""
    store = open_store(url, read_only=True)
    try:
        with store.database.reading() as connection:
            return dict(queue_schema.standings(connection))
    finally:
        store.close()


def attempts(url: str) -> list[int]:
    """Return how often each job of the queue was begun and not finished."""
    with connected(url) as connection:
        jobs = f'"{queue_schema.schema_of(connection)}".procrastinate_jobs'
        return list(connection.exec_driver_sql(f"SELECT attempts FROM {jobs} ORDER BY id").scalars())  # noqa: S608 - ours


def drop_queue(url: str) -> None:
    """Drop the queue beside a log, which lies in a schema of its own."""
    with connected(url) as connection:
        connection.exec_driver_sql(f'DROP SCHEMA IF EXISTS "{queue_schema.schema_of(connection)}" CASCADE')


def connected(url: str) -> sa.Connection:
    """Return a connection beside spectrace's own."""
    return sa.create_engine(parse_url(url), isolation_level="AUTOCOMMIT", poolclass=sa.pool.NullPool).connect()
