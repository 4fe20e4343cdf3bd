"""Batches: every cell once, in an interleaved order, a bounded number at once, a fresh environment each."""

import asyncio
import json

import pytest

from spectrace.core.baselines import StrongOnly, WeakOnly
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Completion, Message, Usage
from spectrace.cost.prices import read_prices
from spectrace.environments.shop import open_shop
from spectrace.errors import ModelFailed, UsageError
from spectrace.models.replicas import Replicas
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.batch import Batch, NotRecorded, cells
from spectrace.runs.health import Health
from spectrace.runs.live import Labels, Recorded
from spectrace.runs.purse import Purse
from spectrace.store.memory import MemoryEventStore
from tests.aio import in_loop
from tests.episodes import FIND
from tests.playbook import accept

NO = '{"finish": "no"}'
PRICES = read_prices({"scripted": {"input": 1, "output": 100, "since": "2026-01-01"}}, "test")


def tasks(n):
    return open_shop().tasks()[:n]


def batch(wanted, weak=lambda _: NO, strong=lambda _: accept(), **given):
    clients = {"weak": ScriptedModel(weak), "strong": ScriptedModel(strong)}
    return Batch(cells=wanted, open_environment=open_shop, clients=clients, store=MemoryEventStore(), **given)


def counted(request):
    """An answer that costs 1000 micro-dollars by PRICES."""
    return Completion(Message("assistant", NO), usage=Usage(input=100, cached=0, output=9))


def turns(request):
    """Look somebody up, then give up: two calls an episode."""
    return NO if len(request.messages) > 2 else FIND


async def collect(one):
    return [item async for item in one.run()]


def started(one, ended):
    return [next(iter(one.store.read(item.episode))).body for item in ended]


@in_loop
async def test_an_episode_stays_on_one_of_a_models_servers():
    weak = Replicas("weak", {f"http://{name}": ScriptedModel(turns) for name in "ab"})
    one = batch(cells(tasks(4), [WeakOnly()], trials=2))
    one.clients = {"weak": weak}
    ended = await collect(one)
    asked = [
        {
            json.loads(event.body.server)["url"]
            for event in one.store.read(item.episode)
            if event.type == "generate.completed"
        }
        for item in ended
    ]

    assert [len(urls) for urls in asked] == [1] * 8
    assert set().union(*asked) == {"http://a", "http://b"}


class Unsliced(list):
    """Cells that nobody may copy."""

    def __getitem__(self, place):
        assert not isinstance(place, slice)
        return super().__getitem__(place)


@in_loop
async def test_no_episode_copies_the_list_of_those_that_are_left():
    assert len(await collect(batch(Unsliced(cells(tasks(3), [WeakOnly()]))))) == 3


@in_loop
async def test_every_cell_runs_once_with_its_trials_seed():
    one = batch(cells(tasks(2), [SpecAgent()], 2), concurrency=3, labels=Labels(seed=10))
    done = await collect(one)

    assert sorted((item.task, item.trial) for item in done) == sorted(
        (task.id, trial) for task in tasks(2) for trial in (0, 1)
    )
    assert {body.seed for body in started(one, done)} == {10, 11}


@in_loop
async def test_trials_then_tasks_then_protocols_are_interleaved():
    one = batch(cells(tasks(2), [WeakOnly(), StrongOnly()], 2), strong=lambda _: NO)
    first, second = (task.id for task in tasks(2))
    done = await collect(one)

    assert [(item.trial, item.task, item.protocol) for item in done] == [
        (trial, task, name) for trial in (0, 1) for task in (first, second) for name in ("weak-only", "strong-only")
    ]


@in_loop
async def test_an_episode_records_how_many_ran_at_once_and_asks_its_own_models_alone():
    one = batch(cells(tasks(1), [WeakOnly()]), concurrency=4)
    (body,) = started(one, await collect(one))

    assert (body.concurrency, [facts.role for facts in body.models]) == (4, ["weak"])


@in_loop
async def test_concurrency_bounds_the_calls_at_once():
    running, most = 0, 0

    async def slow(_):
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _turn in range(3):
            await asyncio.sleep(0.001)
        running -= 1
        return NO

    await collect(batch(cells(tasks(6), [SpecAgent()]), weak=slow, concurrency=2))

    assert most == 2


@in_loop
async def test_a_model_that_is_not_there_is_reported_for_each_episode_and_recorded_for_none():
    class Absent(ScriptedModel):
        async def facts(self):
            raise ModelFailed("unreachable", "nothing answers")

    one = batch(cells(tasks(2), [SpecAgent()]))
    one.clients = {"weak": Absent([]), "strong": ScriptedModel([])}
    done = await collect(one)

    assert [type(item) for item in done] == [NotRecorded, NotRecorded]
    assert not any(isinstance(item, Recorded) for item in done)


@in_loop
async def test_after_so_many_failures_in_a_row_no_episode_is_begun():
    def down(_):
        raise ModelFailed("server", "the server said 500")

    one = batch(cells(tasks(6), [WeakOnly()]), weak=down, health=Health(most=4))
    done = await collect(one)

    assert [item.outcome.reason for item in done] == ["model_weak_server"] * 4
    assert [cell.task.id for cell in one.left] == [task.id for task in tasks(6)[4:]]
    assert one.stopped == "the weak model failed 4 times in a row: the server said 500"


@in_loop
async def test_where_every_call_is_refused_no_episode_is_begun():
    def denied(_):
        raise ModelFailed("refused", "the key is not accepted")

    one = batch(cells(tasks(6), [WeakOnly()]), weak=denied, health=Health(most=4))
    done = await collect(one)

    assert (len(done), one.stopped) == (4, "the weak model failed 4 times in a row: the key is not accepted")


@in_loop
async def test_a_runs_money_ends_the_episode_at_its_next_call_and_begins_no_other():
    one = batch(
        cells(tasks(4), [WeakOnly(max_steps=9)]),
        weak=lambda _: Completion(Message("assistant", '{"tool": "nope", "arguments": {}}'), usage=counted(_).usage),
        prices=PRICES,
        purse=Purse("0.005", of_run=True),
    )
    (done,) = await collect(one)
    failed = [event.body for event in one.store.read(done.episode) if event.type == "generate.failed"]

    assert (done.outcome.status, done.outcome.reason) == ("truncated", "run_max_cost_usd")
    assert [(body.kind, body.error) for body in failed] == [("budget", "run_max_cost_usd")]
    assert (one.stopped, one.purse.spent.micro_usd, len(one.left)) == ("run_max_cost_usd", 5000, 3)


@in_loop
async def test_an_episodes_own_money_ends_that_episode_alone():
    looping = Completion(Message("assistant", '{"tool": "nope", "arguments": {}}'), usage=Usage(100, 0, 9))
    one = batch(cells(tasks(2), [WeakOnly(max_cost_usd="0.003")]), weak=lambda _: looping, prices=PRICES)
    done = await collect(one)

    assert [(item.outcome.reason, item.totals.weak_calls) for item in done] == [("max_cost_usd", 4)] * 2
    assert one.stopped is None


@in_loop
async def test_a_server_that_counts_no_tokens_cannot_be_kept_to_a_limit_of_money():
    one = batch(cells(tasks(2), [SpecAgent()]), prices=PRICES, purse=Purse("9", of_run=True))
    (done,) = await collect(one)

    assert (done.outcome.reason, one.stopped) == ("cost_unknown", "cost_unknown")


@in_loop
@pytest.mark.parametrize(
    ("limit", "reason"), [({"max_tokens": 1000}, "tokens_unknown"), ({"max_cost_usd": "1"}, "cost_unknown")]
)
async def test_a_server_that_counts_no_tokens_under_an_episodes_limit_ends_the_batch_at_its_first(limit, reason):
    look = Completion(Message("assistant", '{"tool": "find_customer", "arguments": {"name_or_email": "Ana"}}'))
    one = batch(cells(tasks(3), [WeakOnly(**limit)]), weak=lambda _: look, prices=PRICES)
    (ended,) = await collect(one)

    assert (ended.outcome.reason, one.stopped, len(one.left)) == (reason, reason, 2)


@in_loop
async def test_the_price_of_the_day_is_recorded():
    one = batch(cells(tasks(1), [WeakOnly()]), prices=PRICES)
    (body,) = started(one, await collect(one))

    assert '"output": "100"' in body.models[0].price


@in_loop
async def test_bad_input_of_an_episode_stops_the_batch_with_its_error():
    class Unpriced(ScriptedModel):
        async def facts(self):
            return type(await super().facts())(role="", provider="openai", name="big")

    one = batch(cells(tasks(3), [WeakOnly()]), purse=Purse("9"))
    one.clients = {"weak": Unpriced([])}

    with pytest.raises(UsageError, match="needs a price for the weak model openai:big"):
        await collect(one)


@in_loop
async def test_an_episode_that_is_not_admitted_is_not_recorded_and_stops_the_batch():
    def refuse(first):
        raise UsageError(f"other data of {first.task.id}")

    begun = []
    one = batch(cells(tasks(3), [WeakOnly()]), admit=refuse, watch=lambda episode, *_: begun.append(episode))
    with pytest.raises(UsageError, match=f"other data of {tasks(1)[0].id}"):
        await collect(one)

    assert begun == []


@in_loop
async def test_cancelling_ends_the_running_episode_as_interrupted():
    asked = asyncio.Event()

    async def never(_):
        asked.set()
        await asyncio.sleep(60)

    begun = set()
    one = batch(cells(tasks(3), [WeakOnly()]), weak=never, watch=lambda episode, *_: begun.add(episode))
    going = asyncio.create_task(collect(one))
    await asked.wait()
    going.cancel()
    with pytest.raises(asyncio.CancelledError):
        await going
    (episode,) = begun

    assert list(one.store.read(episode))[-1].body.outcome == "interrupted"
    assert len(one.left) == 2
