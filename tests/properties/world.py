"""A random environment that keeps its own books: what it was asked, what it changed, how far the log was by then."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

from spectrace.core.types import (
    Action,
    Call,
    Completion,
    Effect,
    EnvironmentFacts,
    Evaluation,
    Finish,
    Message,
    ModelRequest,
    NeedsModel,
    Observation,
    Opening,
    Reply,
    Role,
    Task,
    ToolSpec,
)
from spectrace.errors import EnvironmentFailed

TASK = Task("t1", "Change what has to be changed.")
MOODS = ("ok", "error", "crash", "timeout", "done", "long")
"""How a tool answers. A crash or a timeout of a write has happened all the same."""
LONG = 400
"""Longer than the prompts show."""

PATIENCE_S = 0.02
"""How long the driver waits for an answer."""

_SCHEMA = json.dumps(
    {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"], "additionalProperties": False}
)
TOOLS = (
    ToolSpec("look", "Look a thing up.", _SCHEMA, Effect.READ, "declared"),
    ToolSpec("lie", "Declared a read, changes things.", _SCHEMA, Effect.READ, "declared"),
    ToolSpec("search", "Ask an outside party.", _SCHEMA, Effect.READ, "declared", external=True),
    ToolSpec("change", "Change a thing.", _SCHEMA, Effect.WRITE, "declared"),
)


@dataclass(slots=True)
class Called:
    """One call that reached the world."""

    action: Action
    before: int
    """The state's version when it came."""
    flushed: int
    """The last event that was on stable storage when it came."""
    after: int = -1
    answered: bool = False

    @property
    def writes(self) -> bool:
        """Whether it was meant to change the state, or did."""
        return self.before != self.after or (isinstance(self.action, Call) and self.action.tool == "change")


@dataclass(slots=True)
class World:
    """The environment port. `flushed` tells how far the log is on stable storage."""

    moods: tuple[str, ...]
    objections: tuple[str, ...]
    facts: EnvironmentFacts
    fingerprints: bool
    has_user: bool
    flushed: Callable[[], int]
    calls: list[Called] = field(default_factory=list)
    checked: list[Action] = field(default_factory=list)
    version: int = 0
    _numbers: "count[int]" = field(default_factory=count)
    _speaking: bool = False

    def tasks(self) -> tuple[Task, ...]:
        return (TASK,)

    def prepare(self, task: Task) -> EnvironmentFacts:
        return self.facts

    def instructions(self, task: Task) -> str:
        return "Be careful."

    def tools(self) -> tuple[ToolSpec, ...]:
        return TOOLS

    async def reset(self, seed: int | None) -> Opening:
        return Opening((Message("user", TASK.request),))

    async def act(self, action: Action, requestor: str = "agent") -> Observation | NeedsModel:
        mood = self.moods[next(self._numbers) % len(self.moods)]
        called = Called(action, self.version, self.flushed(), self.version)
        self.calls.append(called)
        if isinstance(action, Reply) and self.has_user:
            self._speaking = True
            return NeedsModel(Role.USER, ModelRequest((Message("user", action.text),)))
        self._happen(called, mood)
        if mood == "timeout":
            await asyncio.sleep(60 * PATIENCE_S)  # the driver does not wait so long
        return self._answer(called, mood)

    def _happen(self, called: Called, mood: str) -> None:
        """Change the state. What a look-up did whose answer is lost, nobody could see: none does anything then."""
        match called.action:
            case Call("change") if mood != "error":
                self.version += 1
            case Call("lie") if self.fingerprints and mood not in {"crash", "timeout"}:
                self.version += 1
            case _:
                pass
        called.after = self.version

    def _answer(self, called: Called, mood: str) -> Observation:
        if mood == "crash":
            raise EnvironmentFailed("crashed", "no answer")
        called.answered = True
        match called.action:
            case Call(tool, arguments):
                said = f"{tool} {arguments} at {called.before}"
            case Reply(text):
                said = f"you said {text}"
            case Finish():
                said = ""
        if mood == "long":
            said = f"{said} {'.' * LONG}"
        return Observation(said, error=mood == "error", done=mood == "done")

    async def resume(self, completion: Completion) -> Observation:
        assert self._speaking, "nothing was asked"
        self._speaking = False
        self.calls[-1].answered = True
        return Observation(completion.message.content)

    async def evaluate(self) -> Evaluation:
        return Evaluation("1.0")

    def fingerprint(self) -> str | None:
        return f"sha256:{self.version:064x}" if self.fingerprints else None

    def check(self, action: Action) -> str | None:
        self.checked.append(action)
        said = self.objections[(len(self.checked) - 1) % len(self.objections)]
        if said == "crashes":
            raise EnvironmentFailed("crashed", "the check itself failed")
        return "the world objects" if said == "objects" else None

    async def close(self) -> None:
        """Nothing is held."""
