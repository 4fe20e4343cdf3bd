"""One instance of the environment under check, with somebody beside it who answers when it asks for a model.

Whatever it does that the port does not allow (raising, answering with the wrong type) becomes a Flaw that names the
method. Its type hints are not believed: that is why an instance is `Any` here.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self, TypeVar

from spectrace.core.types import (
    Action,
    Call,
    Completion,
    EnvironmentFacts,
    Evaluation,
    Message,
    ModelRequest,
    NeedsModel,
    Observation,
    Opening,
    Role,
    Task,
)
from spectrace.errors import EnvironmentFailed
from spectrace.testing.replies import written

T = TypeVar("T")

User = Callable[[ModelRequest, int], str]
"""What a model says; it is told the question, and how many it was asked since the reset, this one included."""
SEED = 1
_QUESTIONS = 20
"""Models that an environment may ask before it answers one question."""
_ANSWERS = (
    "answer what went wrong inside as Observation(text, error=True), and raise EnvironmentFailed where there is none"
)


class Flaw(Exception):
    """What an environment does not keep: where, what was found, what to do."""

    def __init__(self, where: str, found: str, do: str) -> None:
        """Say all three."""
        super().__init__(where, found, do)
        self.where, self.found, self.do = where, found, do


class NotApplicable(Exception):
    """This cannot be looked at here; the text says why, and what would be needed."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is checked, and what it is checked with."""

    name: str
    open: Callable[[], Any]
    single: bool
    """Whether `open` returns the same instance again and again."""
    calls: tuple[Call, ...]
    """Those that the author gave; they are made in this order, on the task."""
    task: str | None
    user: User
    timeout_s: float

    def session(self) -> "Session":
        """Return a session with an instance that nobody has used."""
        return Session(self)

    def require_instances(self) -> None:
        """Insist that a second instance can be had."""
        if self.single:
            raise NotApplicable("it needs a second instance: give a function that returns a fresh one")


@dataclass
class Session:
    """An instance in use. Close it by leaving its `async with` block."""

    subject: Subject
    environment: Any = None
    asked: list[NeedsModel] = field(default_factory=list)
    """What the environment asked of models since the reset."""
    done: list[tuple[Action, Observation]] = field(default_factory=list)

    async def __aenter__(self) -> Self:
        """Open the instance."""
        self.environment = self._now("opening it", self.subject.open, "opening an instance takes no arguments")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the instance, unless it is the only one."""
        if not self.subject.single:
            await self.close()

    async def close(self) -> None:
        """Let the instance go."""
        await self._awaited("close()", self.environment.close(), "close() lets go of what is held, and raises nothing")

    def task(self) -> Task:
        """Return the task that is checked on."""
        tasks: tuple[Task, ...] = self._now("tasks()", self.environment.tasks, "tasks() returns a tuple of Task")
        wanted = self.subject.task
        found = next((task for task in tasks if wanted in {None, task.id}), None)
        if found is None:
            raise Flaw("tasks()", f"no task {wanted or 'at all'}", "offer a task, or name one that there is with task=")
        return found

    def prepare(self, task: Task | None = None) -> EnvironmentFacts:
        """Load a task."""
        chosen = task or self.task()
        facts = self._now(f"prepare({chosen.id!r})", lambda: self.environment.prepare(chosen), _ANSWERS)
        return self._a(EnvironmentFacts, facts, "prepare(task)")

    async def begin(self) -> Opening:
        """Prepare the task and reset."""
        self.prepare()
        self.asked, self.done = [], []
        return self._a(Opening, await self._answer("reset(seed)", lambda: self.environment.reset(SEED)), "reset(seed)")

    async def act(self, action: Action) -> Observation:
        """Let an action happen."""
        where = f"act({shown(action)})"
        answer = await self._answer(where, lambda: self.environment.act(action))
        observation = self._a(Observation, answer, where)
        content: object = observation.content
        if not isinstance(content, str):
            kind = type(content).__name__
            raise Flaw(
                where, f"an observation whose content is a {kind}", "an observation is text: encode values yourself"
            )
        self.done.append((action, observation))
        return observation

    async def grade(self) -> Evaluation:
        """Let it grade."""
        return self._a(Evaluation, await self._answer("evaluate()", self.environment.evaluate), "evaluate()")

    def fingerprint(self) -> str | None:
        """Return the digest of the state."""
        said: str | None = self._now(
            "fingerprint()", self.environment.fingerprint, "fingerprint() returns text or None"
        )
        return said

    def check(self, action: Action) -> str | None:
        """Ask for an objection; an action that cannot be judged is one that is objected to."""
        where = f"check({shown(action)})"
        try:
            said: str | None = self._now(
                where, lambda: self.environment.check(action), "check(action) returns text or None"
            )
        except Flaw as flaw:
            if isinstance(flaw.__cause__, EnvironmentFailed):
                return str(flaw.__cause__)
            raise
        return said

    async def refused(self, where: str, ask: Callable[[], Awaitable[object]]) -> object:
        """Ask what has no answer; EnvironmentFailed is the right one, and comes back as None."""
        try:
            return await self._awaited(where, ask(), _ANSWERS)
        except Flaw as flaw:
            if isinstance(flaw.__cause__, EnvironmentFailed):
                return None
            raise

    async def _answer(self, where: str, ask: Callable[[], Awaitable[object]]) -> object:
        """Ask the environment, and for it the models that it needs first."""
        answer = await self._awaited(where, ask(), _ANSWERS)
        for _ in range(_QUESTIONS):
            if not isinstance(answer, NeedsModel):
                return answer
            self.asked.append(answer)
            text = self.subject.user(_told(answer, where), len(self.asked))
            said = Completion(Message("assistant", text))
            answer = await self._awaited("resume(completion)", self.environment.resume(said), _ANSWERS)
        raise Flaw(where, f"{_QUESTIONS} questions to models and no answer", "let resume(completion) answer in the end")

    async def _awaited(self, where: str, coming: Awaitable[T], do: str) -> T:
        if not hasattr(coming, "__await__"):
            raise Flaw(where, f"{type(coming).__name__} in place of a coroutine", "make it `async def`")
        try:
            async with asyncio.timeout(self.subject.timeout_s):
                return await coming
        except TimeoutError as error:
            raise Flaw(
                where, f"no answer within {self.subject.timeout_s} s", "answer, or raise EnvironmentFailed"
            ) from error
        except Exception as error:
            raise Flaw(where, f"{type(error).__name__}: {error}", do) from error

    def _now(self, where: str, ask: Callable[[], Any], do: str) -> Any:
        try:
            return ask()
        except Exception as error:
            raise Flaw(where, f"{type(error).__name__}: {error}", do) from error

    def _a(self, kind: type[T], found: object, where: str) -> T:
        if not isinstance(found, kind):
            raise Flaw(where, f"{type(found).__name__} in place of {kind.__name__}", f"return a {kind.__name__}")
        return found


def _told(asked: NeedsModel, where: str) -> ModelRequest:
    """Return what a model is asked, if a model can be asked it."""
    request: Any = asked.request
    if asked.role not in {Role.USER, Role.JUDGE} or not isinstance(request, ModelRequest) or not request.messages:
        raise Flaw(
            where,
            f"a question for a model: role {asked.role!s}, {len(getattr(request, 'messages', ()))} messages",
            "NeedsModel has the role user or judge, and a ModelRequest with messages",
        )
    return request


def saying(texts: Sequence[str]) -> User:
    """Return somebody who says these texts in order, the last ever after."""
    return lambda _, number: texts[min(number, len(texts)) - 1]


def shown(action: Action) -> str:
    """Return an action in short."""
    text = written(action)
    return text if len(text) <= 80 else f"{text[:79]}…"  # noqa: PLR2004 - a line
