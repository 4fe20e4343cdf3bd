"""The adapter, on procrastinate's connector in memory; on a real Postgres: tests/contract/test_workers.py."""

import pytest
from procrastinate.testing import InMemoryConnector

from spectrace.errors import UsageError
from spectrace.store.jobs import REVERIFY_TASK, Job, Standing, queue_key
from spectrace.store.queue import open_queue
from tests.aio import in_loop
from tests.queues import machine

AN_HOUR = 3600.0


@pytest.fixture
def connector():
    return InMemoryConnector()


@in_loop
async def test_a_job_comes_back_as_it_was_put_in(connector):
    jobs = machine(connector)
    await jobs.defer("again", [{"run": "again", "episodes": ["a", "b"]}])
    job = await jobs.fetch(["other", "again"])

    assert job == Job(1, "again", REVERIFY_TASK, {"run": "again", "episodes": ["a", "b"]}, 0)


@in_loop
async def test_only_the_named_runs_are_taken_from(connector):
    jobs = machine(connector)
    await jobs.defer("again", [{"run": "again", "episodes": ["a"]}])

    assert await jobs.fetch(["other"]) is None
    assert await jobs.fetch([]) is None


@in_loop
async def test_a_job_is_taken_once(connector):
    one, two = machine(connector), machine(connector)
    await one.defer("again", [{"run": "again", "episodes": ["a"]}])

    assert await one.fetch(["again"]) is not None
    assert await two.fetch(["again"]) is None


@in_loop
async def test_standings_are_counted_by_queue_and_what_is_done_leaves_it(connector):
    jobs = machine(connector)
    await jobs.defer("again", [{"run": "again", "episodes": [str(n)]} for n in range(4)])
    done, failed = await jobs.fetch(["again"]), await jobs.fetch(["again"])
    await jobs.finish(done)
    await jobs.finish(failed, failed=True)
    await jobs.fetch(["again"])

    assert await jobs.standings() == {queue_key("again"): Standing(queued=1, doing=1, failed=1)}
    assert [args["episodes"] for args in await jobs.pending("again")] == [["3"], ["2"]]


@in_loop
async def test_a_job_given_back_counts_the_attempt(connector):
    one, two = machine(connector), machine(connector)
    await one.defer("again", [{"run": "again", "episodes": ["a"]}])
    await one.give_back(await one.fetch(["again"]))
    job = await two.fetch(["again"])

    assert job.attempts == 1


@in_loop
async def test_a_job_given_back_for_later_is_not_taken_at_once(connector):
    jobs = machine(connector)
    await jobs.defer("again", [{"run": "again", "episodes": ["a"]}])
    await jobs.give_back(await jobs.fetch(["again"]), AN_HOUR)

    assert await jobs.fetch(["again"]) is None


@in_loop
async def test_the_job_of_a_silent_worker_is_put_back(connector):
    dead, alive = machine(connector), machine(connector)
    await dead.defer("again", [{"run": "again", "episodes": ["a"]}])
    job = await dead.fetch(["again"])

    assert await alive.retry_stalled(["again"], AN_HOUR) == []
    assert [one.number for one in await alive.retry_stalled(["again"], 0)] == [job.number]
    assert await alive.fetch(["again"]) is not None


@in_loop
async def test_a_worker_that_beats_is_alive(connector):
    one, two = machine(connector), machine(connector)
    await one.defer("again", [{"run": "again", "episodes": ["a"]}])
    await one.fetch(["again"])
    connector.workers[1] = connector.workers[1].replace(year=2000)
    await one.beat()

    assert await two.retry_stalled(["again"], 60) == []


@in_loop
async def test_who_was_taken_for_dead_changes_nothing_any_more(connector):
    slept, other = machine(connector), machine(connector)
    await slept.defer("again", [{"run": "again", "episodes": ["a"]}])
    job = await slept.fetch(["again"])
    await other.retry_stalled(["again"], 0)
    await other.fetch(["again"])

    assert not await slept.finish(job)
    assert not await slept.give_back(job)
    assert (await other.standings())[queue_key("again")] == Standing(doing=1)


@in_loop
async def test_a_worker_that_leaves_leaves_no_job_behind(connector):
    one, two = machine(connector), machine(connector)
    await one.defer("again", [{"run": "again", "episodes": ["a"]}])
    await one.fetch(["again"])
    await one.leave()

    assert len(await two.retry_stalled(["again"], AN_HOUR)) == 1


@in_loop
async def test_cancelling_takes_out_what_waits_and_only_that(connector):
    jobs = machine(connector)
    await jobs.defer("again", [{"run": "again", "episodes": [str(n)]} for n in range(3)])
    await jobs.defer("other", [{"run": "other", "episodes": ["x"]}])
    await jobs.fetch(["again"])

    assert await jobs.cancel("again") == 2
    assert await jobs.standings() == {queue_key("again"): Standing(doing=1), queue_key("other"): Standing(queued=1)}


@in_loop
async def test_what_the_queue_costs_is_counted(connector):
    jobs = machine(connector)
    await jobs.defer("again", [{"run": "again", "episodes": ["a"]}])
    await jobs.fetch(["again"])

    assert jobs.statements == 4  # defer; prune, register, fetch
    assert 0 < jobs.waited_s < 1


@in_loop
async def test_a_sqlite_log_has_no_queue_and_says_what_to_do_instead(tmp_path):
    with pytest.raises(UsageError, match=r"--concurrency N.*db copy"):
        async with open_queue(str(tmp_path / "log.db")):
            pass
