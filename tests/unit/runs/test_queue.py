"""The worker, on procrastinate's connector in memory; on a real Postgres: tests/contract/test_workers.py."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from procrastinate.testing import InMemoryConnector

from spectrace.errors import ModelFailed
from spectrace.runs.queue import MOST_ATTEMPTS, Judged, Shard, Worker
from spectrace.runs.shards import enqueue, shards
from spectrace.store.jobs import Standing, queue_key
from tests.aio import in_loop
from tests.queues import ScriptedWork, machine

TEN = [f"e{n}" for n in range(10)]
LONG_AGO = datetime.now(UTC) - timedelta(hours=1)


@pytest.fixture
def connector():
    return InMemoryConnector()


async def worked(connector, work, **options):
    worker = Worker(machine(connector), work, poll_s=0.01, **options)
    await asyncio.wait_for(worker.run(), 10)
    return worker


async def until(true):
    for _ in range(2000):
        if true():
            return
        await asyncio.sleep(0.002)
    raise AssertionError("it never happened")


@in_loop
async def test_every_episode_is_judged_once(connector):
    work = ScriptedWork({"again": TEN})
    await enqueue(machine(connector), "again", TEN, 4)
    worker = await worked(connector, work, concurrency=3)

    assert work.judged == [("again", episode) for episode in TEN]
    assert [(one.episodes, one.judged, one.verdicts, one.state) for one in worker.shards] == [
        (4, 4, 8, "done"),
        (4, 4, 8, "done"),
        (2, 2, 4, "done"),
    ]


@in_loop
async def test_so_many_episodes_at_once_and_no_more(connector):
    work = ScriptedWork({"again": TEN})
    await enqueue(machine(connector), "again", TEN, 2)
    await worked(connector, work, concurrency=3)

    assert work.most_at_once == 3


@in_loop
async def test_a_slot_does_not_wait_for_the_slowest_episode_of_a_shard(connector):
    work = ScriptedWork({"again": TEN})
    work.hanging = {"e0"}
    await enqueue(machine(connector), "again", TEN, 2)
    worker = Worker(machine(connector), work, concurrency=2, poll_s=0.01)
    running = asyncio.create_task(worker.run())
    await until(lambda: len(worker.shards) == 4)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    assert [one.state for one in worker.shards] == ["done"] * 4 + ["given_back"]


@in_loop
async def test_two_workers_share_the_shards(connector):
    work = ScriptedWork({"again": TEN})
    await enqueue(machine(connector), "again", TEN, 1)
    one, two = await asyncio.gather(worked(connector, work), worked(connector, work))

    assert sorted(work.judged) == [("again", episode) for episode in TEN]
    assert min(len(one.shards), len(two.shards)) > 0


@in_loop
async def test_a_worker_takes_only_the_shards_of_its_own_runs(connector):
    work = ScriptedWork({"mine": TEN})
    await enqueue(machine(connector), "theirs", TEN, 5)
    worker = await worked(connector, work)

    assert (work.judged, worker.shards) == ([], [])
    assert (await machine(connector).standings())[queue_key("theirs")] == Standing(queued=2)


@in_loop
async def test_a_stopped_worker_gives_its_shard_back_and_says_so(connector):
    work = ScriptedWork({"again": TEN})
    work.hanging = {"e2"}
    await enqueue(machine(connector), "again", TEN)
    worker = Worker(machine(connector), work, poll_s=0.01)
    running = asyncio.create_task(worker.run())
    await until(lambda: len(work.judged) == 3)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert work.cancelled == ["e2"]
    detail = "8 episodes left; what those under way were given stays"
    assert worker.shards == [Shard(1, "again", 10, 2, 4, "given_back", detail)]
    assert (await machine(connector).standings())[queue_key("again")] == Standing(queued=1)


@in_loop
async def test_the_shard_of_a_dead_worker_is_found_by_one_that_has_nothing_to_do(connector):
    dead = machine(connector)
    await enqueue(dead, "again", TEN)
    await dead.fetch(["again"])
    connector.workers[1] = LONG_AGO
    worker = await worked(connector, ScriptedWork({"again": TEN}))

    assert [(one.state, one.judged) for one in worker.shards] == [("done", 10)]


@in_loop
async def test_until_empty_waits_for_the_shards_of_others_which_may_still_die(connector):
    other = machine(connector)
    await enqueue(other, "again", TEN)
    job = await other.fetch(["again"])
    worker = Worker(machine(connector), ScriptedWork({"again": TEN}), poll_s=0.01)
    running = asyncio.create_task(worker.run())
    await asyncio.sleep(0.1)
    waiting = not running.done()
    await other.finish(job)
    await asyncio.wait_for(running, 10)

    assert waiting
    assert worker.shards == []


@in_loop
async def test_a_worker_that_waits_takes_what_comes_later(connector):
    work = ScriptedWork({"again": TEN})
    worker = Worker(machine(connector), work, wait=True, poll_s=0.01)
    running = asyncio.create_task(worker.run())
    await asyncio.sleep(0.05)
    await enqueue(machine(connector), "again", TEN)
    await until(lambda: worker.shards)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    assert [one.state for one in worker.shards] == ["done"]


POISON = [
    {"run": "nobody", "episodes": ["e1"]},
    {"run": "again", "episodes": ["../../etc/passwd"]},
    {"run": "again", "episodes": ["e1"], "verifier": "os:system"},
    {"episodes": {}},
]


@in_loop
async def test_poisonous_jobs_fail_visibly_and_do_not_stop_the_worker(connector):
    work = ScriptedWork({"again": TEN})
    await machine(connector).defer("again", [*POISON, *shards("again", TEN)])
    worker = await worked(connector, work)

    assert [(one.state, one.detail.split(":")[0]) for one in worker.shards] == [
        ("failed", "not a shard of ours")
    ] * 4 + [("done", "")]
    assert (await machine(connector).standings())[queue_key("again")] == Standing(failed=4)
    assert len(work.judged) == 10


@in_loop
async def test_a_shard_with_trouble_is_given_back_for_later_and_fails_in_the_end(connector):
    work = ScriptedWork({"again": TEN}, {"e3": ModelFailed("server", "it is down")})
    jobs = machine(connector)
    await enqueue(jobs, "again", TEN)
    states = []
    for _ in range(MOST_ATTEMPTS):
        for row in connector.jobs.values():
            row["scheduled_at"] = None
        worker = Worker(jobs, work, wait=True, poll_s=0.01)
        running = asyncio.create_task(worker.run())
        await until(lambda worker=worker: worker.shards)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        states.append((worker.shards[0].state, worker.shards[0].judged, worker.shards[0].detail))

    assert states == [("given_back", 9, "e3: it is down")] * (MOST_ATTEMPTS - 1) + [("failed", 9, "e3: it is down")]


@in_loop
async def test_what_never_helps_is_not_tried_again(connector):
    work = ScriptedWork({"again": TEN}, {"e3": KeyError("x")})
    await enqueue(machine(connector), "again", TEN)
    worker = await worked(connector, work)

    assert [(one.state, one.judged) for one in worker.shards] == [("failed", 9)]
    assert "e3: inside spectrace: KeyError: 'x'. This is a bug" in worker.shards[0].detail


@in_loop
async def test_a_run_that_turns_out_to_be_cancelled_is_dropped_and_the_worker_goes_on(connector):
    work = ScriptedWork({"again": TEN, "other": TEN}, dict.fromkeys(TEN[:1], Judged(0, "cancelled", "drop")))
    await enqueue(machine(connector), "again", TEN)
    await enqueue(machine(connector), "other", TEN[1:])
    worker = await worked(connector, work, concurrency=3)

    assert [(one.run, one.state) for one in worker.shards] == [("again", "cancelled"), ("other", "done")]
    assert await machine(connector).standings() == {}


@in_loop
async def test_a_spent_budget_stops_the_worker_and_loses_no_shard(connector):
    work = ScriptedWork({"again": TEN}, {"e3": Judged(1, "the run has cost 2.00 USD", "stop")})
    await enqueue(machine(connector), "again", TEN)
    worker = await worked(connector, work)

    assert worker.stopped == "the run has cost 2.00 USD"
    assert (await machine(connector).standings())[queue_key("again")] == Standing(queued=1)


@in_loop
async def test_a_shard_that_kills_its_workers_fails_in_the_end(connector):
    await enqueue(machine(connector), "again", TEN)
    connector.jobs[1]["attempts"] = MOST_ATTEMPTS
    work = ScriptedWork({"again": TEN})
    worker = await worked(connector, work)

    assert [one.state for one in worker.shards] == ["failed"]
    assert work.judged == []


@in_loop
async def test_a_worker_that_was_taken_for_dead_says_that_its_shard_was_taken_over(connector):
    work = ScriptedWork({"again": TEN})
    work.hanging = {"e2"}
    await enqueue(machine(connector), "again", TEN)
    worker = Worker(machine(connector), work, poll_s=0.01)
    running = asyncio.create_task(worker.run())
    await until(lambda: len(work.judged) == 3)
    other = machine(connector)
    connector.workers[1] = LONG_AGO
    await other.retry_stalled(["again"], 60)
    await other.fetch(["again"])
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    assert [one.state for one in worker.shards] == ["taken_over"]
    assert (await other.standings())[queue_key("again")] == Standing(doing=1)


@in_loop
async def test_the_shard_of_a_run_that_is_cancelled_is_dropped(connector):
    work = ScriptedWork({"again": TEN})
    work.hanging = {"e2"}
    await enqueue(machine(connector), "again", TEN)
    worker = Worker(machine(connector), work, poll_s=0.01, silent_s=0.1)
    running = asyncio.create_task(worker.run())
    await until(lambda: len(work.judged) == 3)
    work.selections = {}
    await asyncio.wait_for(running, 10)

    assert [(one.state, one.judged) for one in worker.shards] == [("cancelled", 2)]
    assert work.cancelled == ["e2"]
    assert await machine(connector).standings() == {}


@in_loop
async def test_a_full_worker_asks_the_queue_twice_a_shard_and_once_a_beat(connector):
    work = ScriptedWork({"again": TEN})
    await enqueue(machine(connector), "again", TEN, 2)
    jobs = machine(connector)
    await asyncio.wait_for(Worker(jobs, work, poll_s=0.01).run(), 10)

    # Five shards: fetched, looked at and finished. Once: prune, register; the last fetch, who is stalled, what is left.
    assert jobs.statements == 5 * 3 + 2 + 1 + 1 + 1


@in_loop
async def test_it_is_told_how_each_shard_goes(connector):
    told = []
    await enqueue(machine(connector), "again", TEN[:2])
    await worked(connector, ScriptedWork({"again": TEN}), told=told.append)

    assert [(one.state, one.judged) for one in told] == [("doing", 0), ("doing", 1), ("doing", 2), ("done", 2)]


@in_loop
async def test_of_many_troubles_a_few_are_told(connector):
    work = ScriptedWork({"again": TEN}, dict.fromkeys(TEN, Judged(0, "no", "never")))
    await enqueue(machine(connector), "again", TEN)
    worker = await worked(connector, work)

    assert worker.shards[0].detail == "e0: no; e1: no; e2: no; and 7 more"
