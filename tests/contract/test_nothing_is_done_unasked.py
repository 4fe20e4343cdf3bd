"""With restore=none nothing is done in any mode of fork, resume and replay before it is refused: not even a reset."""

import asyncio

import pytest

from spectrace.core.events import ActCompleted, VerdictGiven
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Finish
from spectrace.environments.functions import FunctionEnvironment, Task, tool
from spectrace.errors import SpectraceError
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.fork import Edit, fork_episode
from spectrace.runs.interrupted import left_by
from spectrace.runs.replay import replay_episode
from spectrace.runs.resume import resume_episode
from spectrace.store.memory import MemoryEventStore
from tests.desk import at
from tests.forks import first, recorded_in
from tests.playbook import accept

WEAK = [at("look"), at("change"), Finish("done")]


def open_counted(done: list[str]) -> FunctionEnvironment:
    """Return a desk that says of everything that is done in it, to `done`."""

    @tool(effect="read")
    def look(id: str) -> str:  # noqa: A002 - as the models know it
        """Look a thing up."""
        done.append("look")
        return "as it was"

    @tool(effect="write")
    def change(id: str) -> str:  # noqa: A002
        """Change a thing."""
        done.append("change")
        return "changed"

    def reset() -> dict:
        done.append("reset")
        return {}

    tasks = (Task("t1", "Change A.", grade=lambda state: True),)
    return FunctionEnvironment.from_functions(
        "counted", (look, change), "Be careful.", reset, tasks=tasks, fingerprint=lambda state: state
    )


@pytest.fixture(scope="module")
def events():
    return recorded_in(open_counted([]), SpecAgent(), weak=WEAK, strong=[accept(), accept()])


def models():
    return {"weak": ScriptedModel(WEAK), "strong": ScriptedModel([accept()] * 2)}


def forked(events, environment, **how):
    seq = how.pop("seq", first(events, VerdictGiven))
    return fork_episode(events, seq, environment, models(), MemoryEventStore(), **how)


MODES = {
    "fork before anything": lambda events, env: forked(events, env, seq=0),
    "fork at a verdict": forked,
    "fork at a write": lambda events, env: forked(events, env, seq=first(events, ActCompleted, 1)),
    "fork with an edited verdict": lambda events, env: forked(events, env, edit=Edit(accept(), "person:Ann")),
    "fork with other options": lambda events, env: forked(events, env, protocol=SpecAgent(k=2)),
    "resume after a read": lambda events, env: resumed(events, env, first(events, ActCompleted)),
    "resume after a write": lambda events, env: resumed(events, env, first(events, ActCompleted, 1)),
    "resume in mid-write": lambda events, env: resumed(events, env, first(events, ActCompleted, 1) - 1),
    "resume though the state moved": lambda events, env: resumed(events, env, 9, moved=True),
    "resume what ended": lambda events, env: resumed(events, env, len(events) - 1),
}


def resumed(events, environment, last, **how):
    return resume_episode(left_by(events[: last + 1]), environment, models(), MemoryEventStore(), **how)


@pytest.mark.parametrize("mode", MODES)
def test_nothing_is_done_before_a_fork_or_a_resume_is_refused(events, mode):
    done: list[str] = []

    with pytest.raises(SpectraceError):
        asyncio.run(MODES[mode](events, open_counted(done)))
    assert done == []


def test_nothing_is_done_before_a_re_execution_is_refused(events):
    done: list[str] = []
    found = asyncio.run(replay_episode(events, environment=open_counted(done)))

    assert (found.result, "restore=none" in found.detail, done) == ("untestable", True, [])
