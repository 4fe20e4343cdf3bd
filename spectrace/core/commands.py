"""What a protocol may ask, and the typed verbs to ask it with. Counterpart of `events`.

A protocol is a generator that yields *commands* and is sent *answers*. Only this module contains a bare
`yield`: protocols say `completion = yield from generate(...)`. A question that cannot be answered throws
CommandFailed into the protocol; `parallel` returns Completed | Failed each, in the order asked. `tell` records a
fact and returns its event number, so that a later action can name it as its authority.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from spectrace.core.events import Body
from spectrace.core.types import (
    Action,
    Completion,
    Effect,
    Evaluation,
    ModelRequest,
    NeedsModel,
    Observation,
    Opening,
    Role,
)

T = TypeVar("T")


class CommandFailed(Exception):
    """A question was not answered.

    `what` is generate, act, reset or evaluate; `kind` is one of ModelFailed's or EnvironmentFailed's; `seq` is the
    `*.failed` event.
    """

    def __init__(self, what: str, kind: str, error: str, seq: int) -> None:
        """Keep what was asked, the kind, the text and the failed event's number."""
        super().__init__(error)
        self.what = what
        self.kind = kind
        self.error = error
        self.seq = seq


@dataclass(frozen=True, slots=True)
class Generate:
    """Ask a model. Answer: Asked."""

    role: Role
    who: str
    """weak, strong, user or judge."""
    position: str
    request: ModelRequest


@dataclass(frozen=True, slots=True)
class Asked:
    """A model's answer with the event number of its request. `by`: person:NAME, where a person edited the answer."""

    completion: Completion
    seq: int
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Act:
    """Let an action reach the environment. Answer: Acted | NeedsModel. `supplied` resumes after NeedsModel."""

    action: Action
    effect: Effect
    authority: str
    position: str
    requestor: str = "agent"
    supplied: Completion | None = None


@dataclass(frozen=True, slots=True)
class Acted:
    """The environment's answer, its event numbers, and the fingerprints around it (None where it has none)."""

    observation: Observation
    request: int
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Began:
    """The environment's opening and the fingerprint of its first state."""

    opening: Opening
    fingerprint: str | None


@dataclass(frozen=True, slots=True)
class Reset:
    """Begin the task. Answer: Began | NeedsModel."""

    seed: int | None
    supplied: Completion | None = None


@dataclass(frozen=True, slots=True)
class Evaluate:
    """Grade the episode. Answer: Evaluation | NeedsModel."""

    supplied: Completion | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """Ask the environment whether an action makes sense (`ids never seen`). Answer: an objection or None."""

    action: Action


@dataclass(frozen=True, slots=True)
class Tell:
    """Record a fact. Answer: its event number."""

    body: Body


@dataclass(frozen=True, slots=True)
class Parallel:
    """Run sub-generators side by side, each on its own lane. Answer: tuple of Completed | Failed in branch order."""

    branches: "tuple[Protocol[Any], ...]"


@dataclass(frozen=True, slots=True)
class Completed:
    """A branch returned."""

    value: object


@dataclass(frozen=True, slots=True)
class Failed:
    """A branch's question was not answered."""

    error: CommandFailed


Command = Generate | Act | Reset | Evaluate | Check | Tell | Parallel

Protocol = Generator[Command, object, T]
"""A generator core: yields commands, is sent answers, returns T."""


def ask(command: Command) -> Protocol[object]:
    """Yield one command as it is."""
    return (yield command)


def generate(role: Role, who: str, position: str, request: ModelRequest) -> Protocol[Asked]:
    """Ask a model."""
    return cast("Asked", (yield Generate(role, who, position, request)))


def act(action: Action, effect: Effect, authority: str, position: str, requestor: str = "agent") -> Protocol[Acted]:
    """Let an action reach the environment, asking whatever model the environment needs on the way."""
    answer = yield Act(action, effect, authority, position, requestor)
    while isinstance(answer, NeedsModel):
        asked = yield from generate(answer.role, answer.role, position, answer.request)
        answer = yield Act(action, effect, authority, position, requestor, asked.completion)
    return cast("Acted", answer)


def reset(seed: int | None) -> Protocol[Began]:
    """Begin the task."""
    answer = yield Reset(seed)
    while isinstance(answer, NeedsModel):
        asked = yield from generate(answer.role, answer.role, "s0", answer.request)
        answer = yield Reset(seed, asked.completion)
    return cast("Began", answer)


def evaluate() -> Protocol[Evaluation]:
    """Grade the episode."""
    answer = yield Evaluate()
    while isinstance(answer, NeedsModel):
        asked = yield from generate(answer.role, answer.role, "end", answer.request)
        answer = yield Evaluate(asked.completion)
    return cast("Evaluation", answer)


def check(action: Action) -> Protocol[str | None]:
    """Ask for the environment's objection to an action."""
    return cast("str | None", (yield Check(action)))


def tell(body: Body) -> Protocol[int]:
    """Record a fact; return its event number."""
    return cast("int", (yield Tell(body)))


def parallel(branches: "Sequence[Protocol[Any]]") -> "Protocol[tuple[Completed | Failed, ...]]":
    """Run sub-generators side by side; results come in branch order, whoever finished first."""
    return cast("tuple[Completed | Failed, ...]", (yield Parallel(tuple(branches))))
