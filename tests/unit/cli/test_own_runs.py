import asyncio
import json

import pytest

from spectrace.cli.own_runs import OwnRuns
from spectrace.core.digest import text_digest
from spectrace.core.prompts import Prompts
from spectrace.core.rereviews import REVERIFY
from spectrace.errors import ModelFailed, UsageError
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.pass_plan import Plan
from spectrace.runs.queue import Judged
from spectrace.runs.verifiers import Single
from spectrace.store import runs
from spectrace.store.jobs import Standing, queue_key
from spectrace.store.sql import open_store
from tests.aio import in_loop
from tests.shop_log import recorded, reverified
from tests.verifying import scoring

ACCEPT = '{"verdict": "accept"}'
SCORED = {"verdict": "scored", "threshold": "0.7"}


@pytest.fixture
def store(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    yield store
    store.close()


def begin(store, run, episodes=(), settings=None, **plan):
    text = Plan(run, **{"verifier": "scripted:v", **plan}).to_json() if settings is None else settings
    runs.begin(store, run, REVERIFY, [(one, store.row(one).head.hex()) for one in episodes], text)


def own(store, model=None, **options):
    pool = Single(model or ScriptedModel(ACCEPT, repeat=True))
    return OwnRuns(store=store, pool=pool, verifier="scripted:v", **options)


def test_its_own_are_the_runs_that_name_its_verifier_and_its_prompts(store):
    digest = text_digest(Prompts().to_json())
    begin(store, "mine")
    begin(store, "elsewhere", verifier="scripted:v@http://gpu:30000")
    begin(store, "theirs", verifier="scripted:w")
    begin(store, "prompts", prompts=digest)
    begin(store, "cancelled")
    runs.cancel(store, "cancelled")
    runs.begin(store, "batch", "run", [], "{}")

    assert own(store).runs() == ["mine", "elsewhere"]
    assert own(store, prompts=Prompts()).runs() == ["prompts"]
    assert own(store, only="elsewhere").runs() == ["elsewhere"]


@pytest.mark.parametrize(
    "settings", ["", "null", "[]", "{}", '{"verifier": 3}', '{"verifier": "scripted:v", "repeat": 0}']
)
def test_settings_that_somebody_else_wrote_are_nobodys(store, settings):
    begin(store, "odd", settings=settings)

    assert own(store).runs() == []
    assert own(store).left({queue_key("odd"): Standing(queued=2)}) == [
        "2 jobs of runs that this log does not know or were cancelled."
    ]


def test_what_is_left_is_told_with_the_reason(store):
    for run, plan in {"a": {}, "b": {"verifier": "local:x"}, "c": {"prompts": "sha256:00"}, "d": {}}.items():
        begin(store, run, **plan)
    standings = {queue_key(run): Standing(queued=number) for number, run in enumerate("abcd", start=1)}
    standings["default"] = Standing(queued=7)
    standings["done"] = Standing(failed=7)

    assert own(store, only="a").left(standings) == [
        "2 shards of run b: its verifier is local:x.",
        "3 shards of run c: it asks with other prompts.",
        "4 shards of run d: it is not the run that --run names.",
        "7 jobs of runs that this log does not know or were cancelled.",
    ]


@in_loop
async def test_an_episode_is_judged_as_often_as_its_run_says_and_only_once(store):
    episode = await in_thread(recorded, store)
    begin(store, "again", [episode], repeat=2)
    work = own(store)
    first, second = await work.judge("again", episode), await own(store).judge("again", episode)

    assert (first, second) == (Judged(6), Judged(0))
    assert work.selection("again") == {episode}


@in_loop
async def test_trouble_of_the_verifier_says_that_later_may_help(store):
    episode = await in_thread(recorded, store)
    begin(store, "again", [episode])
    judged = await own(store, ScriptedModel(ACCEPT, ModelFailed("server", "it is down"))).judge("again", episode)

    assert (judged.verdicts, judged.then) == (1, "again")
    assert "it is down" in judged.trouble


@in_loop
async def test_a_verifier_that_always_fails_stops_the_worker(store):
    episode = await in_thread(recorded, store)
    begin(store, "again", [episode])
    work = own(store, ScriptedModel(ModelFailed("unreachable", "nobody there"), repeat=True))
    judged = [await work.judge("again", episode) for _ in range(20)]

    assert {one.then for one in judged[:-1]} == {"again"}
    assert judged[-1].then == "stop"
    assert "failed 20 times in a row" in judged[-1].trouble


@in_loop
async def test_a_run_that_was_cancelled_meanwhile_is_dropped(store):
    episode = await in_thread(recorded, store)
    begin(store, "again", [episode])
    work = own(store)
    work.runs()
    runs.cancel(store, "again")

    assert await work.judge("again", episode) == Judged(0, "its run was cancelled", "drop")


@in_loop
async def test_a_run_of_another_verifier_is_not_judged_even_if_asked_to(store):
    episode = await in_thread(recorded, store)
    begin(store, "theirs", [episode], verifier="os:system")

    with pytest.raises(UsageError, match="its verifier is os:system"):
        await own(store).judge("theirs", episode)


@in_loop
async def test_another_model_of_the_same_name_does_not_go_on_with_a_run(store):
    episode = await in_thread(recorded, store)
    begin(store, "again", [episode])
    await in_thread(reverified, store, episode, "again", [ACCEPT])
    judged = await own(store, ScriptedModel(ACCEPT, name="third")).judge("again", episode)

    assert (judged.verdicts, judged.then) == (0, "stop")
    assert 'they differ in name ("second" and "third")' in judged.trouble
    assert json.loads(runs.get(store, "again").settings)["verifier"] == "scripted:v"


async def in_thread(function, *arguments):
    """Run what has an event loop of its own."""
    return await asyncio.to_thread(function, *arguments)


@in_loop
async def test_its_own_are_the_runs_that_read_verdicts_as_it_does(store):
    episode = await in_thread(recorded, store)
    for run, verdict in {"written": {}, "read": SCORED, "stricter": SCORED | {"threshold": "0.9"}}.items():
        begin(store, run, [episode], **verdict)
    standings = {queue_key(run): Standing(queued=1) for run in ("written", "read", "stricter")}
    work = own(store, scoring(lambda _: 1.0), reading=("scored", "0.7"))
    judged = await work.judge("read", episode)

    assert (own(store).runs(), work.runs(), judged) == (["written"], ["read"], Judged(3))
    assert work.left(standings) == [
        "1 shard of run written: it takes decoded verdicts, --verdict decoded.",
        "1 shard of run stricter: it takes verdicts scored at 0.9, --verdict scored --threshold 0.9.",
    ]
    with pytest.raises(UsageError, match=r"run 'stricter' is not this worker's: it takes verdicts scored at 0.9"):
        await work.judge("stricter", episode)
