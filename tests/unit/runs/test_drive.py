"""The driver writes every question, answer and fact down, in the order asked, in the right durability class."""

import asyncio
from dataclasses import dataclass, field

from spectrace.core import commands
from spectrace.core.commands import CommandFailed, Completed, Failed, parallel
from spectrace.core.types import Call, Completion, Effect, Message, ModelRequest, NeedsModel, Observation, Opening, Role
from spectrace.errors import EnvironmentFailed, ModelFailed
from spectrace.runs.drive import Driver
from spectrace.runs.sources import Generated, Observed, Opened
from tests.aio import in_loop

ASK = ModelRequest((Message("user", "hi"),))


@dataclass
class ListLog:
    """Keeps what was written, and when it was settled."""

    lines: list[str] = field(default_factory=list)

    def write(self, lane, body):
        self.lines.append(f"{lane}:{body.TYPE}" if lane else body.TYPE)
        return len(self.lines)

    async def settle(self, *, durable):
        self.lines.append("flush" if durable else "commit")

    def act_key(self, position):
        return position


class SlowFirst:
    """Answers the first question last; fails on request."""

    def __init__(self, *, needs_user=False):
        self.needs_user = needs_user

    async def generate(self, lane, request, command):
        if command.position == "fails":
            raise ModelFailed("timeout", "too slow")
        await asyncio.sleep(0.02 if command.position == "first" else 0)
        return Generated(Completion(Message("assistant", command.position)), "live")

    async def act(self, lane, request, command):
        if self.needs_user and command.supplied is None:
            return NeedsModel(Role.USER, ASK)
        if command.position == "fails":
            raise EnvironmentFailed("crashed", "gone")
        text = command.supplied.message.content if command.supplied else "ok"
        return Observed(Observation(text), "a", "b", 1, "live")

    async def reset(self, lane, request, seed, supplied):
        return Opened(Opening(()), None, 1, "live")


def drive(protocol, source=None):
    log = ListLog()
    result = asyncio.run(Driver(source or SlowFirst(), log, "live").run(protocol))
    return result, log.lines


def test_a_read_is_committed_without_a_flush():
    _, lines = drive(commands.act(Call("look", "{}"), Effect.READ, "read", "s1.1"))

    assert lines == ["act.requested", "commit", "act.completed", "commit"]


def test_a_write_is_flushed_before_it_runs_and_after_its_outcome():
    _, lines = drive(commands.act(Call("pay", "{}"), Effect.WRITE, "verdict:3", "s1.1"))

    assert lines == ["act.requested", "flush", "act.completed", "flush"]


def test_a_model_call_is_committed_before_it_is_made():
    _, lines = drive(commands.generate(Role.DRAFTER, "weak", "s1.1", ASK))

    assert lines == ["generate.requested", "commit", "generate.completed"]


def test_a_write_that_fails_is_recorded_flushed_and_thrown_into_the_protocol():
    def protocol():
        try:
            yield from commands.act(Call("pay", "{}"), Effect.WRITE, "verdict:3", "fails")
        except CommandFailed as failure:
            return failure.what, failure.kind, failure.seq
        return None

    result, lines = drive(protocol())

    assert result == ("act", "crashed", 3)
    assert lines == ["act.requested", "flush", "act.failed", "flush"]


def test_parallel_answers_come_in_the_order_asked_whoever_finished_first():
    def ask(position):
        return commands.generate(Role.DRAFTER, "weak", position, ASK)

    results, lines = drive(parallel([ask("first"), ask("fails"), ask("third")]))

    match results:
        case (Completed(first), Failed(error), Completed(third)):
            assert (first.completion.message.content, error.kind, third.completion.message.content) == (
                "first",
                "timeout",
                "third",
            )
        case _:
            raise AssertionError(results)
    assert [line for line in lines if line.endswith("requested")] == [f"{n}:generate.requested" for n in range(3)]
    assert lines.index("2:generate.completed") < lines.index("0:generate.completed")


def test_a_model_that_the_environment_needs_is_an_ordinary_recorded_call_inside_the_act():
    acted, lines = drive(commands.act(Call("say", "{}"), Effect.REPLY, "reply", "s1.1"), SlowFirst(needs_user=True))

    assert acted.observation.content == "s1.1"
    assert [line for line in lines if "." in line] == [
        "act.requested",
        "generate.requested",
        "generate.completed",
        "act.completed",
    ]
    assert lines.count("flush") == 2


@in_loop
async def test_a_cancelled_run_closes_the_protocol():
    closed = []

    def protocol():
        try:
            yield from commands.generate(Role.DRAFTER, "weak", "first", ASK)
        except GeneratorExit:
            closed.append(True)
            raise

    task = asyncio.create_task(Driver(SlowFirst(), ListLog(), "live").run(protocol()))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert closed == [True]
