"""The one loop: send a protocol its answers, write every question, answer and fact down.

Live runs, replays and re-verifications differ only in the source that answers and in the log that is written: a
recorder appends, a replay's log compares. Before every await the log is settled; before and after anything but a read
it is flushed.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol as Port
from typing import TypeVar, assert_never

from spectrace.core import commands
from spectrace.core.commands import (
    Act,
    Acted,
    Asked,
    Began,
    Check,
    Command,
    CommandFailed,
    Completed,
    Evaluate,
    Failed,
    Generate,
    Parallel,
    Reset,
    Tell,
)
from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    ActionChecked,
    Body,
    EvaluateCompleted,
    EvaluateFailed,
    EvaluateRequested,
    GenerateCompleted,
    GenerateFailed,
    ResetCompleted,
    ResetFailed,
    ResetRequested,
)
from spectrace.core.facts import tool_of
from spectrace.core.questions import EDITED, act_question, model_question, unanswered
from spectrace.core.types import Attempt, Completion, Effect, Evaluation, NeedsModel, Usage
from spectrace.errors import EnvironmentFailed, ModelFailed, ReplayDiverged
from spectrace.runs.sources import Source

T = TypeVar("T")


class LogEnds(Exception):
    """The log goes no further: it is full, or a replay has come to the end of its record. All before it stands."""


class Log(Port):
    """Where the driver writes. `write` returns the event's number."""

    def write(self, lane: str, body: Body) -> int:
        """Write one event, in order."""
        ...

    async def settle(self, *, durable: bool) -> None:
        """Let nothing written so far be lost with the process; `durable`: nor with the machine."""
        ...

    def act_key(self, position: str) -> str:
        """Return the idempotency key of the action at a position."""
        ...


class Driver:
    """Runs protocols against a source, into a log."""

    def __init__(self, source: Source, log: Log, origin: str) -> None:
        """`origin` names where answers come from when the source fails: live or record."""
        self._source = source
        self._log = log
        self._origin = origin
        self._pending: dict[str, int] = {}
        self._turn = asyncio.Lock()
        """The environment is asked one thing at a time: the fingerprints around an act are its own."""

    async def run(self, protocol: commands.Protocol[T], lane: str = "") -> T:
        """Run a protocol to its end and return what it returns."""
        answer: object = None
        failure: CommandFailed | None = None
        try:
            while True:
                command = protocol.send(answer) if failure is None else protocol.throw(failure)
                answer, failure = None, None
                try:
                    answer = await self._perform(lane, command)
                except CommandFailed as failed:
                    failure = failed
        except StopIteration as stop:
            result: T = stop.value
            return result
        finally:
            protocol.close()

    async def _perform(self, lane: str, command: Command) -> object:
        match command:
            case Tell(body):
                return self._log.write(lane, body)
            case Generate():
                return await self._generate(lane, command)
            case Act():
                return await self._act(lane, command)
            case Reset(seed, supplied):
                return await self._reset(lane, Reset(seed, supplied))
            case Evaluate():
                return await self._evaluate(lane, command)
            case Check(action):
                objection = await self._source.check(lane, action)
                self._log.write(lane, ActionChecked(tool=tool_of(action), action=action, objection=objection))
                return objection
            case Parallel(branches):
                return await self._parallel(lane, branches)
            case _:
                assert_never(command)

    async def _parallel(
        self, lane: str, branches: tuple[commands.Protocol[object], ...]
    ) -> tuple[Completed | Failed, ...]:
        """Run every branch to its own end, whatever becomes of the others; results come in branch order.

        A branch may stop at an error of ours, or where the log ends. The others still go on: nothing is left running,
        and a replay compares all that every lane has recorded. Only a cancellation ends them all, and closes each.
        """
        lanes = [f"{lane}.{n}" if lane else str(n) for n in range(len(branches))]
        runs = [self._branch(branch, name) for branch, name in zip(branches, lanes, strict=True)]
        ended = await asyncio.gather(*runs, return_exceptions=True)
        stopped = [one for one in ended if isinstance(one, BaseException)]
        if stopped:
            raise min(stopped, key=_weight)
        return tuple(one for one in ended if not isinstance(one, BaseException))

    async def _branch(self, branch: commands.Protocol[object], lane: str) -> Completed | Failed:
        try:
            return Completed(await self.run(branch, lane))
        except CommandFailed as failure:
            return Failed(failure)

    async def _generate(self, lane: str, command: Generate) -> Asked:
        request = self._log.write(lane, model_question(command))
        await self._log.settle(durable=False)
        try:
            generated = await self._source.generate(lane, request, command)
        except ModelFailed as failure:
            seq = self._log.write(lane, _generate_failed(command, request, failure, self._origin))
            raise CommandFailed("generate", failure.kind, str(failure), seq) from failure
        done = generated.completion
        self._log.write(
            lane,
            GenerateCompleted(
                request=request,
                role=command.role,
                message=done.message,
                reasoning=done.reasoning,
                finish_reason=done.finish_reason,
                model=done.model,
                usage=done.usage,
                latency_us=done.latency_us,
                first_token_us=done.first_token_us,
                attempts=done.attempts,
                provider_id=done.provider_id,
                server=done.server,
                source=generated.source,
            ),
        )
        return Asked(done, request, done.model if generated.source == EDITED else None)

    async def _act(self, lane: str, command: Act) -> Acted | NeedsModel:
        effect, tool = command.effect, tool_of(command.action)
        durable = effect is not Effect.READ
        if command.supplied is None:
            self._pending[lane] = self._log.write(lane, act_question(command, self._log.act_key(command.position)))
        request = self._pending[lane]
        await self._log.settle(durable=durable and command.supplied is None)
        try:
            async with self._turn:
                answer = await self._source.act(lane, request, command)
        except EnvironmentFailed as failure:
            seq = self._log.write(
                lane,
                ActFailed(
                    effect=effect,
                    authority=command.authority,
                    outcome=unanswered(effect),
                    tool=tool,
                    request=request,
                    position=command.position,
                    kind=failure.kind,
                    error=str(failure),
                    latency_us=None,
                    source=failure.source or self._origin,
                ),
            )
            await self._log.settle(durable=durable)
            raise CommandFailed("act", failure.kind, str(failure), seq) from failure
        if isinstance(answer, NeedsModel):
            return answer
        self._log.write(
            lane,
            ActCompleted(
                effect=effect,
                authority=answer.by or command.authority,
                outcome="error" if answer.observation.error else "ok",
                tool=tool,
                request=request,
                position=command.position,
                observation=answer.observation,
                fingerprint_before=answer.before,
                fingerprint_after=answer.after,
                latency_us=answer.latency_us,
                source=answer.source,
            ),
        )
        await self._log.settle(durable=durable)
        return Acted(answer.observation, request, answer.before, answer.after)

    async def _reset(self, lane: str, command: Reset) -> Began | NeedsModel:
        request, answer = await self._ask(
            lane,
            command.supplied,
            ResetRequested(seed=command.seed),
            ResetFailed,
            lambda request: self._source.reset(lane, request, command.seed, command.supplied),
        )
        if isinstance(answer, NeedsModel):
            return answer
        self._log.write(
            lane,
            ResetCompleted(
                request=request,
                messages=answer.opening.messages,
                done=answer.opening.done,
                fingerprint=answer.fingerprint,
                latency_us=answer.latency_us,
                source=answer.source,
            ),
        )
        return Began(answer.opening, answer.fingerprint)

    async def _evaluate(self, lane: str, command: Evaluate) -> Evaluation | NeedsModel:
        request, answer = await self._ask(
            lane,
            command.supplied,
            EvaluateRequested(),
            EvaluateFailed,
            lambda request: self._source.evaluate(lane, request, command.supplied),
        )
        if isinstance(answer, NeedsModel):
            return answer
        self._log.write(
            lane,
            EvaluateCompleted(
                request=request,
                reward=answer.evaluation.reward,
                detail=answer.evaluation.detail,
                fingerprint=answer.fingerprint,
                latency_us=answer.latency_us,
                source=answer.source,
            ),
        )
        return answer.evaluation

    async def _ask(
        self,
        lane: str,
        supplied: Completion | None,
        question: ResetRequested | EvaluateRequested,
        failed: type[ResetFailed | EvaluateFailed],
        ask: Callable[[int], Awaitable[T | NeedsModel]],
    ) -> tuple[int, T | NeedsModel]:
        """Ask the environment what changes nothing outside it; return the question's number and the answer."""
        if supplied is None:
            self._pending[lane] = self._log.write(lane, question)
        request = self._pending[lane]
        await self._log.settle(durable=False)
        try:
            return request, await ask(request)
        except EnvironmentFailed as failure:
            error, source = str(failure), failure.source or self._origin
            body = failed(request=request, kind=failure.kind, error=error, latency_us=None, source=source)
            what = failed.TYPE.partition(".")[0]
            raise CommandFailed(what, failure.kind, error, self._log.write(lane, body)) from failure


def _weight(stopped: BaseException) -> tuple[bool, int]:
    """Order why branches stopped: errors before the end of the log, of two differences in a replay the earlier one."""
    return isinstance(stopped, LogEnds), stopped.seq if isinstance(stopped, ReplayDiverged) else 0


def _generate_failed(command: Generate, request: int, failure: ModelFailed, origin: str) -> GenerateFailed:
    return GenerateFailed(
        request=request,
        role=command.role,
        kind=failure.kind,
        error=str(failure),
        partial_text=failure.partial_text,
        usage=Usage(),
        latency_us=failure.latency_us,
        attempts=tuple(attempt for attempt in failure.attempts if isinstance(attempt, Attempt)),
        source=failure.source or origin,
    )
