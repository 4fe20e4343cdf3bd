"""The live source: time limits, fingerprints around an act, and a clear word where nobody answers."""

import asyncio

import pytest

from spectrace.core.commands import Act, Generate
from spectrace.core.types import Effect, Message, ModelRequest, Observation, Role
from spectrace.environments.functions import FunctionEnvironment, Task, tool
from spectrace.errors import EnvironmentFailed, UsageError
from spectrace.runs.sources import Limits, LiveSource, ModelSource
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
