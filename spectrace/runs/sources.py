"""Who answers a protocol's questions: the port, and the live source. The recording is in `recording.py`.

A source answers; it writes nothing down. Answers carry what the driver will record beside them: fingerprints around
an act, how long it took, and where the answer came from.
"""

import asyncio
import time
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from spectrace.core.commands import Act, Generate
from spectrace.core.facts import tool_of
from spectrace.core.money import rates_of
from spectrace.core.types import (
    Action,
    Completion,
    Evaluation,
    ModelFacts,
    NeedsModel,
    Observation,
    Opening,
    ToolSpec,
)
from spectrace.environments.environment import Environment
from spectrace.environments.tasks import graded
from spectrace.environments.values import encode
from spectrace.errors import EnvironmentFailed, ModelFailed, UsageError
from spectrace.models.client import ModelClient
from spectrace.runs.purse import Purse, most

_AGENT = frozenset({"weak", "strong"})
_GRACE_S = 1.0
"""An environment that keeps its tools' time limits itself is given this long to say so in its own words."""


@dataclass(frozen=True, slots=True)
class Generated:
    """A model's answer and where it came from."""

    completion: Completion
    source: str


@dataclass(frozen=True, slots=True)
class Observed:
    """An environment's answer with the fingerprints around it."""

    observation: Observation
    before: str | None
    after: str | None
    latency_us: int | None
    source: str
    by: str | None = None
    """person:NAME where it is that person's word: the environment itself never answered."""


@dataclass(frozen=True, slots=True)
class Opened:
    """An environment's opening with its first fingerprint."""

    opening: Opening
    fingerprint: str | None
    latency_us: int | None
    source: str


@dataclass(frozen=True, slots=True)
class Graded:
    """An environment's grade with its last fingerprint."""

    evaluation: Evaluation
    fingerprint: str | None
    latency_us: int | None
    source: str


class Source(Protocol):
    """Answers questions. `request` is the event number of the question; `lane` where it stands.

    Raises ModelFailed or EnvironmentFailed where there is no answer.
    """

    async def generate(self, lane: str, request: int, command: Generate) -> Generated:
        """Answer a model call."""
        ...

    async def act(self, lane: str, request: int, command: Act) -> Observed | NeedsModel:
        """Answer an action, or go on with the pending one when `command.supplied` is given."""
        ...

    async def reset(
        self, lane: str, request: int, seed: int | None, supplied: Completion | None
    ) -> Opened | NeedsModel:
        """Begin the task, or go on beginning it."""
        ...

    async def evaluate(self, lane: str, request: int, supplied: Completion | None) -> Graded | NeedsModel:
        """Grade the episode, or go on grading it."""
        ...

    async def check(self, lane: str, action: Action) -> str | None:
        """Return the environment's objection to an action."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Time limits, the driver's business. None waits for ever."""

    act_s: float | None = 300.0
    """Of an action, a reset or a grading; a tool that declares a limit of its own (`tool(timeout_s=...)`) has that."""


class ModelSource:
    """The real models and no environment: for a re-verification, which acts on nothing."""

    def __init__(
        self, clients: Mapping[str, ModelClient], models: Sequence[ModelFacts] = (), purses: Sequence[Purse] = ()
    ) -> None:
        """Answer model calls from `clients` by who is asked: weak, strong, user, judge.

        Every call is paid from each of the `purses`; `models` give the prices.
        """
        self._clients = clients
        self._prices = {facts.role: rates_of(facts.price) for facts in models}
        self._purses = purses
        self._begun: dict[str, tuple[float, str | None]] = {}
        """lane -> when the pending question was asked, and the fingerprint then."""

    async def generate(self, lane: str, request: int, command: Generate) -> Generated:
        """Ask the model of that name, unless a purse is empty.

        A call that the environment needs (user, judge) is paid for and never refused: what has begun is finished.
        """
        del lane, request
        if command.who in _AGENT:
            for purse in self._purses:
                if (empty := purse.empty) is not None:
                    raise ModelFailed("budget", empty)
        client = self._clients.get(command.who)
        if client is None:
            raise UsageError(
                f"the episode asks for a {command.who} model and none was given; "
                f"pass --{command.who} (given: {', '.join(self._clients) or 'none'})."
            )
        generated = Generated(await client.generate(command.request), "live")
        cost = most(self._prices.get(command.who), generated.completion.usage)
        for purse in self._purses:
            purse.pay(cost)
        return generated

    async def act(self, lane: str, request: int, command: Act) -> Observed | NeedsModel:
        """Refuse: there is nothing to act on."""
        raise _no_environment(lane, request, command)

    async def reset(
        self, lane: str, request: int, seed: int | None, supplied: Completion | None
    ) -> Opened | NeedsModel:
        """Refuse: there is nothing to reset."""
        raise _no_environment(lane, request, (seed, supplied))

    async def evaluate(self, lane: str, request: int, supplied: Completion | None) -> Graded | NeedsModel:
        """Refuse: there is nothing to grade."""
        raise _no_environment(lane, request, supplied)

    async def check(self, lane: str, action: Action) -> str | None:
        """Refuse: there is nobody to object."""
        raise _no_environment(lane, 0, action)


def _no_environment(lane: str, request: int, asked: object) -> EnvironmentFailed:
    where = f"event {request}, lane {lane!r}"
    return EnvironmentFailed("unavailable", f"no environment is here to answer {asked!r} ({where})")


class LiveSource(ModelSource):
    """The real environment and the real models, within limits of time and money."""

    def __init__(  # noqa: PLR0913 - what answers, and every limit that it keeps
        self,
        environment: Environment,
        clients: Mapping[str, ModelClient],
        limits: Limits,
        models: Sequence[ModelFacts] = (),
        *,
        tools: Sequence[ToolSpec] = (),
        purses: Sequence[Purse] = (),
    ) -> None:
        """Act on `environment`, within the limits; ask `clients` as ModelSource does.

        `models` give prices, and the sampling parameters of the calls that the environment itself needs; `tools` their
        own time limits.
        """
        super().__init__(clients, models, purses)
        self._environment = environment
        self._limits = limits
        self._parameters = {facts.role: facts.parameters for facts in models}
        self._tool_s = {tool.name: tool.timeout_us / 1_000_000 for tool in tools if tool.timeout_us is not None}

    async def act(self, lane: str, request: int, command: Act) -> Observed | NeedsModel:
        """Let the action happen, within the time limit."""
        del request
        first = self._environment.act(command.action, command.requestor) if command.supplied is None else None
        answer = await self._answer(lane, first, command.supplied, self._tool_s.get(tool_of(command.action) or ""))
        match answer:
            case NeedsModel():
                return answer
            case Observation(content=content):
                # Text stays itself. Anything else is a slip of the environment's author, and the action has happened.
                told = replace(answer, content=encode(content))
                latency_us, before = self._ended(lane)
                return Observed(told, before, self._environment.fingerprint(), latency_us, "live")
            case _:
                raise _unexpected("an Observation", answer)

    async def reset(
        self, lane: str, request: int, seed: int | None, supplied: Completion | None
    ) -> Opened | NeedsModel:
        """Begin the task in the real environment."""
        del request
        answer = await self._answer(lane, self._environment.reset(seed) if supplied is None else None, supplied)
        match answer:
            case NeedsModel():
                return answer
            case Opening():
                return Opened(answer, self._environment.fingerprint(), self._ended(lane)[0], "live")
            case _:
                raise _unexpected("an Opening", answer)

    async def evaluate(self, lane: str, request: int, supplied: Completion | None) -> Graded | NeedsModel:
        """Let the real environment grade."""
        del request
        answer = await self._answer(lane, self._environment.evaluate() if supplied is None else None, supplied)
        match answer:
            case NeedsModel():
                return answer
            case Evaluation():
                return Graded(_scored(answer), self._environment.fingerprint(), self._ended(lane)[0], "live")
            case _:
                raise _unexpected("an Evaluation", answer)

    async def check(self, lane: str, action: Action) -> str | None:
        """Ask the real environment; an action that it cannot judge is one that it objects to."""
        del lane
        try:
            return self._environment.check(action)
        except EnvironmentFailed as failure:
            return f"it could not be checked: {failure}"

    async def _answer(
        self, lane: str, first: Awaitable[object] | None, supplied: Completion | None, tool_s: float | None = None
    ) -> object:
        """Await a question's first answer, or what follows the completion that the environment needed."""
        if first is not None:
            self._begun[lane] = time.monotonic(), self._environment.fingerprint()
        elif supplied is not None:
            first = self._environment.resume(supplied)
        else:
            raise _unexpected("a question", supplied)
        limit_s = self._limits.act_s if tool_s is None else tool_s
        limit = asyncio.timeout(limit_s if tool_s is None else tool_s + _GRACE_S)
        try:
            async with limit:
                answer = await first
        except TimeoutError as error:
            why = f"no answer within {limit_s} s" if limit.expired() else f"a call of its own timed out: {error}"
            raise EnvironmentFailed("timeout", why) from None
        if isinstance(answer, NeedsModel) and answer.request.parameters == "{}":
            parameters = self._parameters.get(answer.role, "{}")
            return replace(answer, request=replace(answer.request, parameters=parameters))
        return answer

    def _ended(self, lane: str) -> tuple[int, str | None]:
        asked_at, before = self._begun.pop(lane)
        return round((time.monotonic() - asked_at) * 1_000_000), before


def _scored(evaluation: Evaluation) -> Evaluation:
    """Refuse a reward that is no number: it must count as no score, never as one."""
    try:
        return graded(evaluation)
    except ValueError as error:
        raise EnvironmentFailed("crashed", str(error)) from None


def _unexpected(wanted: str, found: object) -> EnvironmentFailed:
    return EnvironmentFailed("crashed", f"the environment must answer with {wanted}, found {type(found).__name__}")
