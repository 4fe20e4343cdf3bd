"""Batches: every task and trial once, a bounded number at once, a fresh environment each."""

from spectrace.core.specagent import SpecAgent
from spectrace.environments.shop import open_shop
from spectrace.errors import ModelFailed
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.batch import NotRecorded, record_all
from spectrace.runs.live import Labels, Recorded
from spectrace.store.memory import MemoryEventStore
from tests.aio import in_loop
from tests.playbook import accept


def tasks(n):
    return open_shop().tasks()[:n]


async def collect(batch):
    return [item async for item in batch]


@in_loop
async def test_every_task_runs_in_every_trial_with_its_own_seed():
    store = MemoryEventStore()
    clients = {"weak": ScriptedModel(lambda _: '{"finish": "no"}'), "strong": ScriptedModel(lambda _: accept())}
    batch = record_all(
        tasks(2), open_shop, clients, SpecAgent(), store, trials=2, concurrency=3, labels=Labels(seed=10)
    )
    done = await collect(batch)
    seeds = {next(iter(store.read(item.episode))).body.seed for item in done}

    assert sorted((item.task, item.trial) for item in done) == sorted(
        (task.id, trial) for task in tasks(2) for trial in (0, 1)
    )
    assert seeds == {10, 11}


@in_loop
async def test_concurrency_bounds_the_calls_at_once():
    running, most = 0, 0

    async def slow(_):
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _turn in range(3):
            await __import__("asyncio").sleep(0.001)
        running -= 1
        return '{"finish": "no"}'

    clients = {"weak": ScriptedModel(slow), "strong": ScriptedModel(lambda _: accept())}
    await collect(record_all(tasks(6), open_shop, clients, SpecAgent(), MemoryEventStore(), concurrency=2))

    assert most == 2


@in_loop
async def test_a_model_that_is_not_there_is_reported_for_each_episode_and_recorded_for_none():
    class Absent(ScriptedModel):
        async def facts(self):
            raise ModelFailed("unreachable", "nothing answers")

    store = MemoryEventStore()
    clients = {"weak": Absent([]), "strong": ScriptedModel([])}
    done = await collect(record_all(tasks(2), open_shop, clients, SpecAgent(), store))

    assert [type(item) for item in done] == [NotRecorded, NotRecorded]
    assert not any(isinstance(item, Recorded) for item in done)
