"""The live source: time limits, fingerprints around an act, and a clear word where nobody answers."""

import asyncio

import pytest

from spectrace.core.baselines import WeakOnly
from spectrace.core.commands import Act, Generate
from spectrace.core.types import (
    Completion,
    Effect,
    Evaluation,
    Message,
    ModelFacts,
    ModelRequest,
    Observation,
    Role,
    ToolSpec,
    Usage,
)
from spectrace.environments.functions import FunctionEnvironment, Task, tool
from spectrace.errors import EnvironmentFailed, ModelFailed, UsageError
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.live import record
from spectrace.runs.purse import Purse
from spectrace.runs.sources import Limits, LiveSource, ModelSource
from spectrace.store.memory import MemoryEventStore
from tests.aio import in_loop
from tests.episodes import call


@tool(effect="write")
def add(state: list[int], n: int) -> str:
    """Add a number."""
    state.append(n)
    return "added"


@tool(effect="read")
async def wait() -> str:
    """Wait for long."""
    await asyncio.sleep(60)
    return "never"


async def running(limits=None):
    environment = FunctionEnvironment.from_functions("list", [add, wait], "Add.", reset=lambda: [0], fingerprint=list)
    environment.prepare(Task("t", "Add 1."))
    source = LiveSource(environment, {}, limits or Limits())
    await source.reset("", 1, None, None)
    return source


@in_loop
async def test_an_act_is_answered_with_the_fingerprints_around_it():
    source = await running()
    answer = await source.act("", 2, Act(call("add", n=1), Effect.WRITE, "verdict:1", "s1.1"))

    assert answer.observation == Observation("added")
    assert answer.before != answer.after
    assert answer.source == "live"


@in_loop
async def test_an_action_that_the_environment_cannot_judge_is_one_that_it_objects_to():
    def check(action):
        raise KeyError(action.tool)

    environment = FunctionEnvironment.from_functions("list", [add], "Add.", reset=lambda: [0], check=check)
    objection = await LiveSource(environment, {}, Limits()).check("", call("add", n=1))

    assert objection == "it could not be checked: environment list: its check function raised KeyError: 'add'"


class Careless(FunctionEnvironment):
    """An environment of somebody who overlooked that an observation is text, and a reward a decimal string."""

    async def act(self, action, requestor="agent"):
        return Observation({"n": 1})

    async def evaluate(self):
        return Evaluation("NaN")


@in_loop
async def test_an_answer_that_is_no_text_is_written_as_text_for_the_action_has_happened():
    source = LiveSource(Careless.from_functions("list", [add], "Add.", reset=lambda: [0]), {}, Limits())
    answer = await source.act("", 2, Act(call("add", n=1), Effect.WRITE, "verdict:1", "s1.1"))

    assert answer.observation == Observation('{"n":1}')


@in_loop
async def test_a_reward_that_is_no_number_is_no_grade():
    source = LiveSource(Careless.from_functions("list", [add], "Add.", reset=lambda: [0]), {}, Limits())

    with pytest.raises(EnvironmentFailed, match="finite reward, found NaN") as failure:
        await source.evaluate("", 2, None)
    assert failure.value.kind == "crashed"


@in_loop
async def test_an_act_over_its_time_limit_fails_as_a_timeout():
    source = await running(Limits(act_s=0.05))

    with pytest.raises(EnvironmentFailed, match=r"no answer within 0\.05 s") as failure:
        await source.act("", 2, Act(call("wait"), Effect.READ, "read", "s1.1"))
    assert failure.value.kind == "timeout"


@in_loop
async def test_a_model_that_was_not_given_is_named():
    asked = Generate(Role.USER, "user", "s1.1", ModelRequest((Message("user", "hi"),)))

    with pytest.raises(UsageError, match="pass --user"):
        await ModelSource({}).generate("", 1, asked)


@in_loop
async def test_without_an_environment_nothing_can_be_acted_on():
    with pytest.raises(EnvironmentFailed, match="no environment"):
        await ModelSource({}).act("", 1, Act(call("add", n=1), Effect.WRITE, "actor", "s1.1"))


class Slow(FunctionEnvironment):
    """An environment that keeps no time limit of its own."""

    async def act(self, action, requestor="agent"):
        await asyncio.sleep(60)
        raise AssertionError


@in_loop
async def test_a_tools_own_limit_goes_before_that_of_all_actions():
    tools = [ToolSpec("add", "", "{}", timeout_us=20_000), ToolSpec("wait", "", "{}")]
    source = LiveSource(Slow.from_functions("list", [add], "Add."), {}, Limits(act_s=30), tools=tools)

    with pytest.raises(EnvironmentFailed, match=r"no answer within 0\.02 s") as failure:
        await source.act("", 2, Act(call("add", n=1), Effect.WRITE, "verdict:1", "s1.1"))
    assert failure.value.kind == "timeout"


class Raising(FunctionEnvironment):
    """An environment whose own call timed out long before any limit."""

    async def act(self, action, requestor="agent"):
        raise TimeoutError("a call inside")


@in_loop
async def test_a_timeout_of_the_environments_own_is_not_called_ours():
    source = LiveSource(Raising.from_functions("list", [add], "Add."), {}, Limits())

    with pytest.raises(EnvironmentFailed, match="a call of its own timed out: a call inside"):
        await source.act("", 2, Act(call("add", n=1), Effect.WRITE, "verdict:1", "s1.1"))


PRICE = '{"input": "1", "cached": "1", "output": "100", "since": "2026-01-01", "source": "test"}'


def paying(purse, *roles, price=PRICE):
    """A source whose models cost 1000 micro-dollars a call."""
    answer = Completion(Message("assistant", "x"), usage=Usage(input=100, output=9))
    clients = {role: ScriptedModel([answer], repeat=True) for role in roles}
    models = [ModelFacts(role, "scripted", role, price=price) for role in roles]
    return LiveSource(
        FunctionEnvironment.from_functions("list", [add], "Add."), clients, Limits(), models, purses=[purse]
    )


def asked(who):
    return Generate(Role.USER if who == "user" else Role.DRAFTER, who, "s1", ModelRequest((Message("user", "hi"),)))


@in_loop
async def test_every_call_is_paid_and_an_empty_purse_refuses_the_next():
    purse = Purse("0.002")
    source = paying(purse, "weak", "strong")
    await source.generate("", 1, asked("weak"))
    await source.generate("", 2, asked("strong"))

    with pytest.raises(ModelFailed, match="max_cost_usd") as refused:
        await source.generate("", 3, asked("weak"))
    assert (refused.value.kind, purse.spent.micro_usd) == ("budget", 2000)


@in_loop
async def test_tokens_of_which_nobody_says_whether_they_were_cached_are_paid_as_new():
    purse = Purse("1")
    source = paying(purse, "weak", price=PRICE.replace('"cached": "1"', '"cached": "0.1"'))
    await source.generate("", 1, asked("weak"))

    assert (purse.empty, purse.spent.micro_usd) == (None, 1000)


@in_loop
async def test_what_the_environment_needs_is_paid_and_never_refused():
    purse = Purse("0.001")
    source = paying(purse, "weak", "user")
    for _ in range(3):
        await source.generate("", 1, asked("user"))

    assert (purse.empty, purse.spent.micro_usd) == ("max_cost_usd", 3000)


@tool(effect="write", timeout_s=0.02)
async def send() -> str:
    """Send, and never hear of it."""
    await asyncio.sleep(60)
    return "never"


@in_loop
async def test_a_write_that_times_out_is_indeterminate_and_ends_the_episode():
    store, weak = MemoryEventStore(), ScriptedModel(['{"tool": "send", "arguments": {}}'])
    environment = FunctionEnvironment.from_functions("mail", [send], "Send.", tasks=[Task("t", "Send it.")])
    ended = await record(environment.tasks()[0], environment, {"weak": weak}, WeakOnly(), store)
    (failed,) = (event.body for event in store.read(ended.episode) if event.type == "act.failed")

    assert (failed.outcome, failed.kind, failed.effect) == ("indeterminate", "timeout", "write")
    assert (ended.outcome.status, ended.outcome.reason) == ("failed", "indeterminate")
