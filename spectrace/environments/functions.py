"""A user's own Python functions as an environment: tools, a state, a grade. `shop.py` is built with it.

    @tool(effect="read")
    def get_order(state: Shop, order_id: str) -> str: ...

    env = FunctionEnvironment.from_functions("desk", [get_order, cancel_order], "You run a desk.", reset=open_shop)
    task = Task("t1", "Cancel W200.", grade=lambda state: state.orders["W200"].status == "cancelled")

Functions are given what their parameters name: `state` and `task` everywhere, `seed` in reset, `answer` in a grade,
`action` and `seen` in a check. A tool without a declared effect is a write. What a tool raises is an observation;
only a time limit, or an EnvironmentFailed of the tool's own, leaves a call without an answer.
"""

import asyncio
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from typing import Any, NoReturn, assert_never

from spectrace.core.types import (
    Action,
    Call,
    Completion,
    Effect,
    EnvironmentFacts,
    Evaluation,
    Finish,
    Message,
    Observation,
    Opening,
    Reply,
    ToolSpec,
)
from spectrace.core.types import Task as CoreTask
from spectrace.environments.scalars import without_addresses
from spectrace.environments.seen import Seen
from spectrace.environments.tasks import Task, graded
from spectrace.environments.tools import Tool, call_with, tool, toolbox
from spectrace.environments.values import encode, encoded_digest
from spectrace.environments.worker import Worker
from spectrace.errors import EnvironmentFailed, UsageError

__all__ = ["FunctionEnvironment", "Task", "tool"]

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class _Definition:
    """What is the same in every episode."""

    name: str
    tools: dict[str, Tool]
    instructions: str
    reset: Function | None
    attach: Function | None
    tasks: dict[str, CoreTask]
    fingerprint: Function | None
    check: Function | None
    facts: EnvironmentFacts


class FunctionEnvironment:
    """An environment of plain functions; one instance serves one episode at a time."""

    def __init__(self, definition: _Definition) -> None:
        """Use `from_functions`."""
        self._definition = definition
        self._worker = Worker(f"spectrace {definition.name}")
        self._task: CoreTask | None = None
        self._state: object = None
        self._stage = "unprepared"
        """unprepared, prepared, made (prepared, and its state is there), running, over."""
        self._answer: str | None = None
        self._seen = Seen()

    @classmethod
    def from_functions(  # noqa: PLR0913 - the parts of an environment, by name
        cls,
        name: str,
        tools: Sequence[Function],
        instructions: str,
        reset: Function | None = None,
        *,
        attach: Function | None = None,
        tasks: Sequence[CoreTask] = (),
        fingerprint: Function | None = None,
        check: Function | None = None,
        restore: str = "none",
        clock: str = "real",
        version: str | None = None,
        data: Sequence[tuple[str, str]] = (),
    ) -> "FunctionEnvironment":
        """Make an environment of functions.

        `reset(task, seed)` returns a new state; `fingerprint(state)` returns any value that stands for all of it;
        `check(action, seen, state)` returns an objection or None. Say `restore="reset"` only where resetting and
        doing the same actions again gives the same state: writes are then re-executed by `replay --tools live`.
        `attach(task, seed)` returns the state of a task that another process began, where it outlives the process (a
        database, a service): then `resume` can go on with an interrupted episode.
        """
        if restore not in {"reset", "snapshot", "none"}:
            msg = f"environment {name}: expected restore to be reset, snapshot or none, found {restore!r}"
            raise UsageError(msg)
        box = toolbox(tools)
        package = next(iter(tools)).__module__.partition(".")[0] if tools else "unknown"
        facts = EnvironmentFacts(
            name, package, version or _version(package), restore, clock, tuple(data), replies=False, finish=True
        )
        by_id = {task.id: task for task in tasks}
        made = cls if attach is None else LastingEnvironment
        return made(_Definition(name, box, instructions, reset, attach, by_id, fingerprint, check, facts))

    def fresh(self) -> "FunctionEnvironment":
        """Return another instance of the same environment, for another episode."""
        return type(self)(self._definition)

    def tasks(self) -> tuple[CoreTask, ...]:
        """Return the tasks that came with the environment, as they are recorded; `prepare` finds their grades by id."""
        return tuple(CoreTask(task.id, task.request, task.data) for task in self._definition.tasks.values())

    def prepare(self, task: CoreTask) -> EnvironmentFacts:
        """Load the task; make its state now where that gives the initial fingerprint."""
        known = self._definition.tasks.get(task.id)
        if isinstance(known, Task) and not isinstance(task, Task):
            task = Task(task.id, task.request, known.grade, task.data)
        self._task, self._stage = task, "prepared"
        if self._definition.fingerprint is None or self._lasts or _waits_for_reset(self._definition.reset):
            return self._definition.facts
        self._state = self._now("reset", self._definition.reset, "task")
        self._stage = "made"
        return replace(self._definition.facts, fingerprint=self.fingerprint())

    def instructions(self, task: CoreTask) -> str:  # noqa: ARG002 - the same for every task here
        """Return the instructions that every model is shown."""
        return self._definition.instructions

    def tools(self) -> tuple[ToolSpec, ...]:
        """Return the tools in the order given."""
        return tuple(made.spec for made in self._definition.tools.values())

    def classify(self, call: Call) -> Effect:
        """Return the effect of a call, by its arguments where its tool has a classifier."""
        made = self._definition.tools.get(call.tool)
        return Effect.WRITE if made is None else made.classify(call.arguments)

    def declared(self) -> tuple[EnvironmentFacts, bool]:
        """Return what stands in the definition, and whether there is a fingerprint; nothing of it is run."""
        return self._definition.facts, self._definition.fingerprint is not None

    def volatile(self) -> dict[str, tuple[str, ...]]:
        """Return the places that the tools declare to be another value at every run."""
        return {name: made.volatile for name, made in self._definition.tools.items() if made.volatile}

    async def reset(self, seed: int | None) -> Opening:
        """Begin the task in a new state; its request opens the history."""
        if self._task is None:
            raise EnvironmentFailed("unavailable", f"{self._name}: expected prepare(task) before reset(seed)")
        if self._stage != "made":
            self._state = await self._later("reset", self._definition.reset, "task", seed=seed)
        self._stage, self._answer, self._seen = "running", None, Seen(self._task.request)
        return Opening((Message("user", self._task.request),))

    async def act(self, action: Action, requestor: str = "agent") -> Observation:  # noqa: ARG002 - users have no tools
        """Run a tool, or take the final answer."""
        if self._stage != "running":
            raise EnvironmentFailed("unavailable", f"{self._name}: expected a running episode, found {self._stage}")
        match action:
            case Call():
                observation = await self._call(action)
            case Reply():
                observation = Observation("Nobody answers here: end with the final answer.", error=True)
            case Finish():
                observation = Observation("", done=True)
            case _:
                assert_never(action)
        self._was_done(action, observation)
        return observation

    def _was_done(self, action: Action, observation: Observation) -> None:
        """Keep what the environment knows of an episode besides its state."""
        if isinstance(action, Call):
            self._seen.add(observation.content, echo=action.arguments if observation.error else "")
        if isinstance(action, Finish) and not observation.error:
            self._answer, self._stage = action.text, "over"

    async def resume(self, completion: Completion) -> NoReturn:  # noqa: ARG002 - there is never a question
        """Refuse: functions never ask for a model."""
        raise EnvironmentFailed("unavailable", f"{self._name}: expected no completion, this environment asks for none")

    async def evaluate(self) -> Evaluation:
        """Grade the state and the answer with the task's own function."""
        grade = self._task.grade if isinstance(self._task, Task) else None
        if grade is None:
            return Evaluation(None, encode({"why": "the task has no grade"}))
        value = await self._later("grade", grade, "state", answer=self._answer)
        try:
            return graded(value)
        except ValueError as error:
            raise EnvironmentFailed("crashed", f"{self._name}: {error}") from error

    def fingerprint(self) -> str | None:
        """Return the digest of what the user's fingerprint says of the state."""
        if self._definition.fingerprint is None or self._stage in {"unprepared", "prepared"}:
            return None
        value = self._now("fingerprint", self._definition.fingerprint, "state")
        return value if isinstance(value, str) and value.startswith("sha256:") else encoded_digest(value)

    def check(self, action: Action) -> str | None:
        """Ask the user's own check."""
        objection = self._now("check", self._definition.check, "action", action=action, seen=self._seen)
        return None if objection is None else str(objection)

    async def close(self) -> None:
        """Let the thread of the functions go."""
        self._worker.close()

    @property
    def _lasts(self) -> bool:
        """Whether the state may be there already and nowhere else: then only an episode's `reset` makes it anew.

        What refuses such an environment (a fork, a replay) must have prepared the task first, to know what is here.
        """
        return self._definition.attach is not None or self._definition.facts.restore == "none"

    @property
    def _name(self) -> str:
        return f"environment {self._definition.name}"

    async def _call(self, call: Call) -> Observation:
        """Run a tool within its time limit; whatever it raises is what the model is told."""
        made = self._definition.tools.get(call.tool)
        if made is None:
            known = ", ".join(self._definition.tools)
            return Observation(f"UnknownTool: there is no tool {call.tool!r}; the tools are {known}", error=True)
        limit = asyncio.timeout(made.timeout_s)
        try:
            bound = made.bound(call.arguments, {"state": self._state, "task": self._task})
            async with limit:
                return Observation(encode(await self._run(bound)))
        except EnvironmentFailed:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a tool may raise anything; it becomes an observation
            if isinstance(error, TimeoutError) and limit.expired():
                msg = f"{self._name}: {call.tool} gave no answer in {made.timeout_s} s and was left behind, unfinished"
                raise EnvironmentFailed("timeout", msg) from None
            return Observation(_said(error), error=True)

    async def _run(self, function: Function) -> object:
        """Run a function in the thread; the coroutine that an async one gives is awaited here."""
        result = await self._worker.run(function)
        return await result if inspect.isawaitable(result) else result

    async def _later(self, what: str, function: Function | None, first: str, **given: object) -> Any:
        try:
            return await self._run(self._bound(function, first, given))
        except Exception as error:
            raise self._crashed(what, error) from error

    def _now(self, what: str, function: Function | None, first: str, **given: object) -> Any:
        try:
            return self._worker.run_now(self._bound(function, first, given))
        except Exception as error:
            raise self._crashed(what, error) from error

    def _bound(self, function: Function | None, first: str, given: dict[str, object]) -> Callable[[], Any]:
        available = {"state": self._state, "task": self._task, "seed": None, **given}
        return lambda: None if function is None else call_with(function, first, available)

    def _crashed(self, what: str, error: Exception) -> EnvironmentFailed:
        if isinstance(error, EnvironmentFailed):
            return error
        return EnvironmentFailed("crashed", f"{self._name}: its {what} function raised {_said(error)}")


class LastingEnvironment(FunctionEnvironment):
    """Functions on a state that outlives the process: made by `from_functions(..., attach=...)`."""

    async def attach(self, task: CoreTask, seed: int | None, done: Sequence[tuple[Action, Observation]]) -> str | None:
        """Take up the task as it stands; what was seen and answered is made again from `done`."""
        if self._task is None or self._task.id != task.id:
            raise EnvironmentFailed("unavailable", f"{self._name}: expected prepare(task) before attach(task, ...)")
        self._state = await self._later("attach", self._definition.attach, "task", seed=seed)
        self._stage, self._answer, self._seen = "running", None, Seen(task.request)
        for action, observation in done:
            self._was_done(action, observation)
        return self.fingerprint()


def _said(error: BaseException) -> str:
    """Return `ErrorType: message`, as a model is told of an error: no traceback, no addresses."""
    try:
        text = str(error)
    except Exception as inner:  # noqa: BLE001 - somebody else's __str__; say what it did
        text = f"(its text raised {type(inner).__name__})"
    return without_addresses(f"{type(error).__name__}: {text}" if text else type(error).__name__)


def _waits_for_reset(reset: Function | None) -> bool:
    """Whether the state cannot be made in `prepare`: it is made by a coroutine, or from the seed."""
    if reset is None:
        return False
    try:
        wants_seed = "seed" in inspect.signature(reset).parameters
    except ValueError:  # a builtin without a signature
        wants_seed = False
    return wants_seed or inspect.iscoroutinefunction(reset)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unversioned"
