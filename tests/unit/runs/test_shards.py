import pytest
from procrastinate.testing import InMemoryConnector

from spectrace.errors import UsageError
from spectrace.runs.shards import enqueue, episodes_of, shards
from spectrace.store.jobs import REVERIFY_TASK, Job, Standing, queue_key
from tests.aio import in_loop
from tests.queues import machine

SELECTION = {"a", "b", "c"}


def job(args, task=REVERIFY_TASK):
    return Job(7, "again", task, args, 0)


def test_shards_hold_every_episode_once_in_order():
    assert shards("again", list("abcde"), 2) == [
        {"run": "again", "episodes": ["a", "b"]},
        {"run": "again", "episodes": ["c", "d"]},
        {"run": "again", "episodes": ["e"]},
    ]
    assert shards("again", []) == []


def test_a_shard_is_read_back():
    (args,) = shards("again", ["b", "a"])

    assert episodes_of(job(args), SELECTION) == ("b", "a")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (None, "expected a run and episodes"),
        ([], "expected a run and episodes"),
        ({}, "expected a run and episodes"),
        ({"run": "again"}, "expected a run and episodes"),
        ({"run": "again", "episodes": ["a"], "verifier": "evil:thing"}, "expected a run and episodes"),
        ({"run": "other", "episodes": ["a"]}, "names 'other'"),
        ({"run": None, "episodes": ["a"]}, "names 'None'"),
        ({"run": "again", "episodes": "abc"}, "expected a list of episodes"),
        ({"run": "again", "episodes": []}, "expected a list of episodes"),
        ({"run": "again", "episodes": ["a", 1]}, "expected a list of episodes"),
        ({"run": "again", "episodes": [["a"]]}, "expected a list of episodes"),
        ({"run": "again", "episodes": {"a": 1}}, "expected a list of episodes"),
        ({"run": "again", "episodes": ["a", "z\x1b[31m"]}, "not in the selection"),
    ],
)
def test_what_nobody_of_us_put_there_is_refused(args, said):
    with pytest.raises(UsageError, match=said):
        episodes_of(job(args), SELECTION)


def test_another_task_is_refused():
    with pytest.raises(UsageError, match="expected a job"):
        episodes_of(job({"run": "again", "episodes": ["a"]}, task="os.system"), SELECTION)


def test_an_episode_named_twice_is_judged_once():
    assert episodes_of(job({"run": "again", "episodes": ["a", "b", "a"]}), SELECTION) == ("a", "b")


@in_loop
async def test_what_is_in_the_queue_is_not_put_there_again():
    jobs = machine(InMemoryConnector())
    await jobs.defer("again", [{"episodes": 3}, {"run": "again", "episodes": [["c"]]}])  # somebody else's
    first = await enqueue(jobs, "again", ["a", "b"], 1)
    await jobs.fetch(["again"])
    second = await enqueue(jobs, "again", ["a", "b", "c"], 1)

    assert (first, second) == (2, 1)


@in_loop
async def test_the_episodes_of_a_shard_that_failed_get_another():
    jobs = machine(InMemoryConnector())
    await enqueue(jobs, "again", ["a", "b"])
    await jobs.finish(await jobs.fetch(["again"]), failed=True)
    again = await enqueue(jobs, "again", ["a", "b"])

    assert again == 1
    assert await jobs.standings() == {queue_key("again"): Standing(queued=1)}
