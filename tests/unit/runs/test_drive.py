"""The driver writes every question, answer and fact down, in the order asked, in the right durability class."""

import asyncio
from dataclasses import dataclass, field

import pytest

from spectrace.core import commands
from spectrace.core.commands import CommandFailed, Completed, Failed, parallel
from spectrace.core.types import Call, Completion, Effect, Message, ModelRequest, NeedsModel, Observation, Opening, Role
from spectrace.errors import EnvironmentFailed, ModelFailed, ReplayDiverged
from spectrace.runs.drive import Driver
from spectrace.runs.recorder import LogFull
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


def ask(position):
    return commands.generate(Role.DRAFTER, "weak", position, ASK)


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


@dataclass
class FullLog(ListLog):
    """Takes a number of events and no more."""

    room: int = 3

    def write(self, lane, body):
        if len([line for line in self.lines if "." in line]) >= self.room:
            raise LogFull
        return super().write(lane, body)


def driven(log, branches):
    """Drive branches side by side into a log that cannot go on; return what stopped it."""
    with pytest.raises(Exception) as stopped:  # noqa: PT011 - which one is the claim
        asyncio.run(Driver(SlowFirst(), log, "live").run(parallel(branches)))
    return stopped.value


def test_an_answer_that_fails_leaves_the_other_branches_alone():
    (failed, completed), lines = drive(parallel([ask("fails"), ask("first")]))

    assert (type(failed), type(completed)) == (Failed, Completed)
    assert lines[-1] == "1:generate.completed"


def test_an_error_of_ours_in_a_branch_waits_for_the_others_and_is_raised():
    def broken():
        yield from ask("quick")
        raise ValueError("ours")

    log = ListLog()
    stopped = driven(log, [broken(), ask("first")])

    assert (type(stopped), str(stopped)) == (ValueError, "ours")
    assert log.lines[-1] == "1:generate.completed"


def test_a_log_that_is_full_stops_every_branch_and_says_so_once():
    log = FullLog()

    assert isinstance(driven(log, [ask("first"), ask("second"), ask("third")]), LogFull)
    assert sorted(line for line in log.lines if "." in line) == [f"{n}:generate.requested" for n in range(3)]


def test_an_error_is_said_before_the_end_of_the_log():
    def broken():
        raise ValueError("ours")
        yield from ask("never")

    assert isinstance(driven(FullLog(room=0), [ask("first"), broken()]), ValueError)


def test_of_two_differences_in_a_replay_the_earlier_one_is_raised():
    def differs(seq):
        raise ReplayDiverged(seq, f"event {seq}")
        yield from ask("never")

    assert driven(ListLog(), [differs(9), differs(7)]).seq == 7


def test_lanes_inside_a_lane_are_named_by_the_way_to_them():
    def inner():
        return (yield from parallel([ask("a"), ask("b")]))

    _, lines = drive(parallel([ask("c"), inner()]))

    assert {line.partition(":")[0] for line in lines if "." in line} == {"0", "1.0", "1.1"}


@in_loop
async def test_a_cancellation_closes_every_branch_and_leaves_nothing_running():
    closed = []

    def branch(name):
        try:
            yield from ask("first")
        except GeneratorExit:
            closed.append(name)
            raise

    before = asyncio.all_tasks()
    task = asyncio.create_task(Driver(SlowFirst(), ListLog(), "live").run(parallel([branch("0"), branch("1")])))
    await asyncio.sleep(0.005)
    task.cancel()
    (result,) = await asyncio.gather(task, return_exceptions=True)

    assert isinstance(result, asyncio.CancelledError)
    assert closed == ["0", "1"]
    assert asyncio.all_tasks() == before


class Counter:
    """An environment whose reads take longer than its writes."""

    def __init__(self):
        self.state = 0

    async def act(self, lane, request, command):
        before = self.state
        await asyncio.sleep(0.001 if command.effect is Effect.WRITE else 0.01)
        self.state += command.effect is Effect.WRITE
        return Observed(Observation("ok"), str(before), str(self.state), 1, "live")


def test_acts_of_two_lanes_never_overlap_so_the_fingerprints_around_each_are_its_own():
    read = commands.act(Call("look", "{}"), Effect.READ, "speculative", "s1.g1")
    write = commands.act(Call("pay", "{}"), Effect.WRITE, "actor", "s1.1")
    results, _ = drive(parallel([read, write]), Counter())

    assert [(one.value.before, one.value.after) for one in results] == [("0", "0"), ("0", "1")]


@pytest.mark.parametrize(("source", "by"), [("edited", "person:Ann"), ("live", None), ("record", None)])
def test_only_an_answer_that_a_person_edited_is_said_to_be_somebodys(source, by):
    class Edited(SlowFirst):
        async def generate(self, lane, request, command):
            return Generated(Completion(Message("assistant", "x"), model="person:Ann"), source)

    asked = commands.generate(Role.REVIEWER, "strong", "s1", ASK)

    assert asyncio.run(Driver(Edited(), ListLog(), "live").run(asked)).by == by
