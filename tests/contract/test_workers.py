"""Workers at one queue in a real Postgres; with a verifier and killed processes: tests/faults/test_workers.py."""

import asyncio

import pytest
import sqlalchemy as sa

from spectrace.errors import StoreError
from spectrace.runs.queue import Judged, Worker
from spectrace.runs.shards import enqueue, shards
from spectrace.store import queue_schema
from spectrace.store.address import parse_url
from spectrace.store.jobs import REVERIFY_TASK, Standing, queue_key
from spectrace.store.queue import open_queue
from spectrace.store.sql import open_store
from tests.aio import in_loop
from tests.queues import ScriptedWork

MANY = [f"e{n}" for n in range(40)]


@pytest.fixture
def log(postgres_url):
    open_store(postgres_url).close()
    yield postgres_url
    execute(postgres_url, 'DROP SCHEMA IF EXISTS "{queue}" CASCADE')


def execute(url, text, *values):
    engine = sa.create_engine(parse_url(url), isolation_level="AUTOCOMMIT", poolclass=sa.pool.NullPool)
    with engine.connect() as connection:
        queue = queue_schema.schema_of(connection)
        connection.exec_driver_sql(f"SET search_path TO {queue}")
        return connection.exec_driver_sql(text.replace("{queue}", queue), values)


async def work_on(log, work, **options):
    async with open_queue(log) as jobs:
        worker = Worker(jobs, work, poll_s=0.05, **options)
        await asyncio.wait_for(worker.run(), 60)
        return worker, jobs


@in_loop
async def test_two_workers_share_a_run_and_judge_each_episode_once(log):
    work = ScriptedWork({"again": MANY})
    async with open_queue(log) as jobs:
        assert await enqueue(jobs, "again", MANY, 4) == 10
        await asyncio.gather(work_on(log, work, concurrency=4), work_on(log, work, concurrency=4))

        assert sorted(work.judged) == sorted(("again", episode) for episode in MANY)
        assert await jobs.standings() == {}


@in_loop
async def test_a_worker_without_a_heartbeat_is_dead_and_its_shard_is_done_by_another(log):
    async with open_queue(log) as jobs, open_queue(log) as dead:
        await enqueue(jobs, "again", MANY)
        await dead.fetch(["again"])
        worker, _ = await work_on(log, ScriptedWork({"again": MANY}), silent_s=0.5)

        assert [(one.state, one.judged) for one in worker.shards] == [("done", 40)]


@in_loop
async def test_a_long_shard_of_a_living_worker_is_left_alone(log):
    async with open_queue(log) as jobs:
        await enqueue(jobs, "again", ["long"])
        mine = ScriptedWork({"again": ["long"]})
        mine.hanging = {"long"}
        working = asyncio.create_task(work_on(log, mine, silent_s=3))
        await asyncio.wait_for(mine.begun.wait(), 30)
        others = ScriptedWork({"again": ["long"]})
        idle = asyncio.create_task(work_on(log, others, silent_s=3))
        await asyncio.sleep(5)
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        await idle

        assert others.judged == [("again", "long")]  # once it was given back
        assert mine.cancelled == ["long"]


@in_loop
async def test_who_slept_changes_nothing_and_a_second_finder_comes_too_late(log):
    async with open_queue(log) as slept, open_queue(log) as other, open_queue(log) as third:
        await enqueue(slept, "again", MANY)
        job = await slept.fetch(["again"])
        found = await asyncio.gather(*(one.retry_stalled(["again"], 0) for one in (other, third)))
        assert [len(one) for one in found if one] == [1]
        taken = await other.fetch(["again"])

        assert taken.number == job.number
        assert not await slept.finish(job)
        assert not await slept.give_back(job)
        assert await third.retry_stalled(["again"], 60) == []
        assert await third.standings() == {queue_key("again"): Standing(doing=1)}


ROWS = ["null", '"text"', "[1]", "{}", '{"run": "again"}', '{"run": "nobody", "episodes": ["e1"]}']
ROWS += [f'{{"run": {"9" * 5000}}}', '{"run": ' + "[" * 5000 + "]" * 5000 + "}"]
ROWS += ['{"run": "again", "episodes": ["\\u001b[31m"]}', '{"run": "again", "episodes": ' + "[" * 900 + "]" * 900 + "}"]


@in_loop
async def test_rows_that_somebody_wrote_there_fail_visibly_and_the_rest_is_done(log):
    async with open_queue(log) as jobs:
        insert = "INSERT INTO {queue}.procrastinate_jobs (queue_name, task_name, args) VALUES (%s, %s, %s::jsonb)"
        for row in ROWS:
            execute(log, insert, queue_key("again"), REVERIFY_TASK, row)
        execute(log, insert, queue_key("again"), "os.system", '{"command": "id"}')
        execute(log, insert, "default", REVERIFY_TASK, '{"run": "again", "episodes": ["e1"]}')
        await jobs.defer("again", shards("again", MANY))
        worker, _ = await work_on(log, ScriptedWork({"again": MANY}))

        assert [one.state for one in worker.shards] == ["failed"] * (len(ROWS) + 1) + ["done"]
        assert all("not a shard of ours" in one.detail for one in worker.shards[:-1])
        left = {"default": Standing(queued=1), queue_key("again"): Standing(failed=len(ROWS) + 1)}
        assert await jobs.standings() == left


@in_loop
async def test_a_full_worker_asks_the_queue_three_times_a_shard(log):
    async with open_queue(log) as jobs:
        await enqueue(jobs, "again", MANY, 4)
    work = ScriptedWork({"again": MANY})
    _, jobs = await work_on(log, work, concurrency=2)

    # Ten shards, each fetched, looked at and finished. Once: prune, register; at the end one fetch that finds nothing,
    # who is stalled, what is left, and the worker leaves. Twice at most a slot finds nothing while another still works.
    assert 10 * 3 + 6 <= jobs.statements <= 10 * 3 + 6 + 2


@in_loop
async def test_a_server_that_ends_the_session_is_no_end_of_the_worker_while_it_is_idle(log):
    work = ScriptedWork({"again": MANY})
    async with open_queue(log) as jobs:
        working = asyncio.create_task(work_on(log, work, concurrency=2))
        execute(
            log,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND query ILIKE '%%procrastinate%%' AND state = 'idle'",
        )
        await enqueue(jobs, "again", MANY)
        await working
        worker, _ = await work_on(log, work)

        assert sorted(work.judged) == sorted(("again", episode) for episode in MANY)
        assert worker.stopped is None


@in_loop
async def test_a_queue_that_is_gone_is_told_in_a_sentence(log):
    async with open_queue(log) as jobs:
        execute(log, 'DROP SCHEMA "{queue}" CASCADE')
        with pytest.raises(StoreError, match="the queue"):
            await jobs.fetch(["again"])


@in_loop
async def test_trouble_is_given_back_for_later(log):
    async with open_queue(log) as jobs:
        await enqueue(jobs, "again", ["e1"])
        work = ScriptedWork({"again": ["e1"]}, {"e1": Judged(0, "it is down")})
        working = asyncio.create_task(work_on(log, work))
        await asyncio.wait_for(work.begun.wait(), 30)
        await asyncio.sleep(1)
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)

        assert await jobs.standings() == {queue_key("again"): Standing(queued=1)}
        assert await jobs.fetch(["again"]) is None
