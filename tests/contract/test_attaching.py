"""Taking up a task that another process began: what an attachable environment keeps to."""

import pytest
from aio import in_loop

from spectrace.core.types import Call, Finish, Observation, Reply
from spectrace.core.types import Task as CoreTask
from spectrace.environments.environment import Attachable
from spectrace.environments.functions import FunctionEnvironment, Task, tool
from spectrace.errors import EnvironmentFailed

TASK = CoreTask("t", "Do it.")


@tool(effect="read")
def look(state: dict, name: str) -> object:
    """Look something up."""
    return state[name]


def make(**options):
    return FunctionEnvironment.from_functions("desk", [look], "You run a desk.", **options)


LASTING = {"a": "1"}


def lasting(**how):
    """Return an environment whose state is there already; only `reset` may make it anew."""
    reached = []
    made = make(
        reset=lambda: reached.append("reset") or dict(LASTING),
        attach=lambda task, seed: reached.append((task.id, seed)) or LASTING,
        fingerprint=lambda state: state,
        **how,
    )
    return made, reached


@in_loop
async def test_a_task_is_taken_up_as_it_stands_and_prepare_touches_nothing():
    environment, reached = lasting()
    facts = environment.prepare(TASK)
    before = list(reached)
    found = await environment.attach(TASK, 7, ())
    seen = await environment.act(Call("look", '{"name": "a"}'))

    assert isinstance(environment, Attachable)
    assert (facts.fingerprint, before, reached) == (None, [], [(TASK.id, 7)])
    assert (found, seen.content) == (environment.fingerprint(), "1")


@in_loop
async def test_what_an_environment_knew_beside_its_state_is_made_again_from_what_was_done():
    graded = Task("t", "About ID5.", grade=lambda state, answer: answer == "done")
    environment, _ = lasting(check=lambda action, seen: None if action.text in seen else "never seen", tasks=(graded,))
    (task,) = environment.tasks()
    environment.prepare(task)
    done = ((Call("look", '{"name": "a"}'), Observation("ID7")), (Finish("done"), Observation("", done=True)))
    await environment.attach(task, None, done)

    assert [environment.check(Reply(id_)) for id_ in ("ID5", "ID7", "ID9")] == [None, None, "never seen"]
    assert (await environment.evaluate()).reward == "1.0"
    with pytest.raises(EnvironmentFailed, match="expected a running episode, found over"):
        await environment.act(Call("look", '{"name": "a"}'))


@in_loop
async def test_a_task_is_attached_to_only_once_it_is_prepared():
    environment, _ = lasting()

    with pytest.raises(EnvironmentFailed, match=r"expected prepare\(task\) before attach"):
        await environment.attach(TASK, None, ())


def test_an_environment_without_attach_cannot_be_attached_to():
    assert not isinstance(make(), Attachable)
    assert isinstance(lasting()[0].fresh(), Attachable)


@in_loop
async def test_a_state_that_cannot_be_brought_back_is_made_by_an_episodes_reset_and_by_nothing_else():
    """A fork or a replay prepares a task before it refuses the environment: that must not begin anything."""
    reached = []
    environment = make(reset=lambda: reached.append("reset") or {}, fingerprint=lambda state: state)
    facts = environment.prepare(TASK)
    prepared = list(reached)
    await environment.reset(None)

    assert (facts.restore, facts.fingerprint, prepared, reached) == ("none", None, [], ["reset"])
