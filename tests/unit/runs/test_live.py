"""A live episode is recorded whole, and every exit writes an end."""

import asyncio
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from spectrace.core.events import EpisodeEnded, EpisodeStarted
from spectrace.core.specagent import SpecAgent
from spectrace.environments.functions import FunctionEnvironment, Task
from spectrace.environments.shop import open_shop
from spectrace.errors import EpisodeNotFound, ModelFailed, StoreError, UsageError
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.live import Labels, new_episode_id, options_of, record
from spectrace.store.memory import MemoryEventStore
from tests.aio import in_loop
from tests.episodes import CANCEL, record_shop
from tests.redaction import redactor


@in_loop
async def test_event_0_holds_all_that_the_generator_needs():
    store = MemoryEventStore()
    labels = Labels(project="p", labels=(("a", "b"),), operator="op", run="r", trial=2, seed=7)
    recorded = await record_shop(store, labels=labels)
    started = next(iter(store.read(recorded.episode))).body
    assert isinstance(started, EpisodeStarted)

    assert (started.project, started.labels, started.operator, started.run, started.trial, started.seed) == (
        "p",
        (("a", "b"),),
        "op",
        "r",
        2,
        7,
    )
    assert (started.protocol, json.loads(started.options)["k"]) == ("specagent", 6)
    assert [json.loads(model.parameters)["seed"] for model in started.models] == [7, 7]
    assert started.environment.fingerprint.startswith("sha256:")
    assert [tool.effect.value for tool in started.tools][:2] == ["read", "read"]


@in_loop
async def test_the_outcome_carries_the_grade():
    recorded = await record_shop(MemoryEventStore())

    assert (recorded.outcome.status, recorded.outcome.reason, recorded.outcome.reward) == (
        "completed",
        "finished",
        "1.0",
    )


@in_loop
async def test_a_model_that_fails_ends_the_episode_failed_and_nothing_is_lost():
    store = MemoryEventStore()
    recorded = await record_shop(store, weak=[CANCEL], strong=[ModelFailed("server", "500")])
    events = list(store.read(recorded.episode))

    assert (recorded.outcome.status, recorded.outcome.reason) == ("failed", "model_strong_server")
    assert [event.type for event in events[-3:]] == ["generate.failed", "steps.discarded", "episode.ended"]


@in_loop
async def test_cancelling_ends_the_log_as_interrupted():
    store = MemoryEventStore()
    asked = asyncio.Event()

    async def never(request):
        asked.set()
        await asyncio.sleep(3600)

    weak, strong = ScriptedModel(never), ScriptedModel([])
    environment = open_shop()
    seen = []
    run = asyncio.create_task(
        record(
            environment.tasks()[0],
            environment,
            {"weak": weak, "strong": strong},
            SpecAgent(),
            store,
            watch=lambda episode, seq, body: seen.append((episode, seq, body)),
        )
    )
    await asked.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    events = list(store.read(seen[0][0]))
    assert isinstance(events[-1].body, EpisodeEnded)

    assert (events[-1].body.outcome, events[-1].body.reason) == ("interrupted", "cancelled")
    assert [event.seq for event in events] == list(range(len(events)))


class SlowlyBegun(MemoryEventStore):
    """Holds each creation until it is let go; `begun` are the episodes that it was asked for."""

    def __init__(self, error=None):
        super().__init__()
        self.asked, self.gate, self.begun, self.error = threading.Event(), threading.Event(), [], error

    def create(self, episode, started, at):
        self.begun.append(episode)
        self.asked.set()
        self.gate.wait(5)
        if self.error is not None:
            raise self.error
        return super().create(episode, started, at)


async def cancelled_while_begun(store):
    run = asyncio.create_task(record_shop(store))
    await asyncio.to_thread(store.asked.wait, 5)
    run.cancel()
    threading.Timer(0.02, store.gate.set).start()
    with pytest.raises(asyncio.CancelledError):
        await run


@in_loop
async def test_cancelled_while_it_is_created_an_episode_ends_as_interrupted():
    store = SlowlyBegun()
    await cancelled_while_begun(store)
    (episode,) = store.begun
    started, ended = (event.body for event in store.read(episode))

    assert isinstance(started, EpisodeStarted)
    assert (ended.outcome, ended.reason, store.row(episode).state) == ("interrupted", "cancelled", "ended")


@in_loop
async def test_cancelled_while_it_cannot_be_created_an_episode_is_cancelled_and_not_there():
    store = SlowlyBegun(StoreError("the disk is full"))
    await cancelled_while_begun(store)

    with pytest.raises(EpisodeNotFound):
        store.row(store.begun[0])


@in_loop
async def test_cancelled_before_a_thread_creates_it_an_episode_is_never_created(monkeypatch):
    store = SlowlyBegun()
    with ThreadPoolExecutor(1) as busy:
        monkeypatch.setattr("spectrace.runs.live.threads", lambda: busy)
        busy.submit(time.sleep, 0.1)
        run = asyncio.create_task(record_shop(store))
        await asyncio.sleep(0.05)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    assert store.begun == []


class Closing(FunctionEnvironment):
    """Counts how often it is closed."""

    closed = 0

    async def close(self):
        self.closed += 1
        await super().close()


def broken_model(request):
    raise RuntimeError("a bug")


async def silent_model(request):
    await asyncio.sleep(3600)


@pytest.mark.parametrize(("model", "error"), [(broken_model, RuntimeError), (silent_model, TimeoutError)])
@in_loop
async def test_what_the_environment_holds_is_released_whatever_becomes_of_the_episode(model, error):
    environment = Closing.from_functions("nothing", [], "Do it.", reset=dict, tasks=[Task("t", "Do it.")])
    clients = {"weak": ScriptedModel(model), "strong": ScriptedModel([])}
    run = record(environment.tasks()[0], environment, clients, SpecAgent(), MemoryEventStore())
    with pytest.raises(error):
        await asyncio.wait_for(run, 0.05)

    assert environment.closed == 1


class Absent(ScriptedModel):
    async def facts(self):
        raise ModelFailed("unreachable", "nothing answers")


@in_loop
async def test_what_the_environment_holds_is_released_also_where_nothing_was_recorded():
    environment = Closing.from_functions("nothing", [], "Do it.", reset=dict, tasks=[Task("t", "Do it.")])
    clients = {"weak": Absent([]), "strong": ScriptedModel([])}
    with pytest.raises(ModelFailed):
        await record(environment.tasks()[0], environment, clients, SpecAgent(), MemoryEventStore())

    assert environment.closed == 1


@in_loop
async def test_an_error_of_ours_ends_the_log_as_failed_and_is_raised():
    store = MemoryEventStore()
    seen = []

    def broken(request):
        raise RuntimeError("a bug")

    environment = open_shop()
    with pytest.raises(RuntimeError, match="a bug"):
        await record(
            environment.tasks()[0],
            environment,
            {"weak": ScriptedModel(broken), "strong": ScriptedModel([])},
            SpecAgent(),
            store,
            watch=lambda episode, seq, body: seen.append(episode),
        )
    last = list(store.read(seen[0]))[-1].body
    assert isinstance(last, EpisodeEnded)

    assert (last.outcome, last.reason) == ("failed", "error_RuntimeError")


def test_episode_ids_are_16_hex_digits_and_differ():
    ids = {new_episode_id() for _ in range(100)}

    assert len(ids) == 100
    assert all(len(name) == 16 and int(name, 16) >= 0 for name in ids)


def test_options_are_recorded_with_every_default():
    assert json.loads(options_of(SpecAgent(k=3)))["k"] == 3
    assert set(json.loads(options_of(SpecAgent()))) >= {"k", "fused", "hold", "review", "finish", "stall", "max_steps"}


SECRET_NAME = "ghp_" + "a1B2" * 9


@pytest.mark.parametrize("named", [{"project": SECRET_NAME}, {"run": f"r-{SECRET_NAME}"}])
def test_a_name_that_holds_a_secret_is_refused_before_a_model_is_asked(named):
    model, store, environment = ScriptedModel([]), MemoryEventStore(), open_shop()
    going = record(
        environment.tasks()[0],
        environment,
        {"weak": model, "strong": model},
        SpecAgent(),
        store,
        labels=Labels(**named),
        redactor=redactor(),
    )

    with pytest.raises(UsageError, match=r"\*\*\*"):
        asyncio.run(going)
    assert store._logs == {}


def test_so_is_a_task_whose_id_holds_one():
    environment, store = open_shop(), MemoryEventStore()
    going = record(Task(f"t-{SECRET_NAME}", "x"), environment, {}, SpecAgent(), store, redactor=redactor())

    with pytest.raises(UsageError, match=r"the task id 't-\*\*\*'"):
        asyncio.run(going)
