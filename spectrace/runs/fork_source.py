"""Who answers in a fork: the record as long as it lasts, each lane by itself; then the real models. Used by `fork`.

Model calls are answered from the record. What reaches the environment is executed again, on a fresh instance, and must
come out as it did then: the first answer that differs ends the fork, so that nothing goes live on another state.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from spectrace.core.commands import Act, Generate
from spectrace.core.compare import differences
from spectrace.core.events import ActCompleted, ActionChecked, Body, Event, GenerateCompleted, ResetCompleted
from spectrace.core.types import Action, Completion, NeedsModel
from spectrace.errors import EnvironmentFailed, ReplayDiverged
from spectrace.runs.recording import RecordedSource, Recording
from spectrace.runs.sources import Generated, Graded, Observed, Opened, Source


class ForkSource:
    """Answers from the record as long as it lasts, each lane by itself; live after it. Actions are always executed."""

    def __init__(self, told: Sequence[Event], live: Source) -> None:
        """Take the answers in `told`; ask `live` for every other, and for what the environment answers."""
        self._live = live
        self._record = RecordedSource(Recording(told))
        self._left: dict[str, deque[Event]] = {}
        for event in told:
            if isinstance(event.body, ActionChecked) or hasattr(event.body, "source"):
                self._left.setdefault(event.lane, deque()).append(event)

    async def generate(self, lane: str, request: int, command: Generate) -> Generated:
        """Return the recorded answer, or ask the model."""
        if (event := self._next(lane)) is None:
            return await self._live.generate(lane, request, command)
        if not isinstance(event.body, GenerateCompleted):
            raise _otherwise(event, "asked for a model's answer")
        return await self._record.generate(lane, event.body.request, command)

    async def act(self, lane: str, request: int, command: Act) -> Observed | NeedsModel:
        """Execute the action; what the record holds must come out again."""
        try:
            answer = await self._live.act(lane, request, command)
        except EnvironmentFailed as failure:
            if (event := self._next(lane)) is not None:
                raise _otherwise(event, f"failed: {failure}") from failure
            raise
        if not isinstance(answer, NeedsModel) and (event := self._next(lane)) is not None:
            if not isinstance(event.body, ActCompleted):
                raise _otherwise(event, "answered an action")
            before, after = answer.before, answer.after
            told = replace(event.body, observation=answer.observation, fingerprint_before=before)
            _require_same(event, replace(told, fingerprint_after=after))
        return answer

    async def reset(
        self, lane: str, request: int, seed: int | None, supplied: Completion | None
    ) -> Opened | NeedsModel:
        """Begin the task; it must begin as it did then."""
        answer = await self._live.reset(lane, request, seed, supplied)
        if not isinstance(answer, NeedsModel) and (event := self._next(lane)) is not None:
            if not isinstance(event.body, ResetCompleted):
                raise _otherwise(event, "began the task")
            opening = answer.opening
            found = replace(event.body, messages=opening.messages, done=opening.done, fingerprint=answer.fingerprint)
            _require_same(event, found)
        return answer

    async def evaluate(self, lane: str, request: int, supplied: Completion | None) -> Graded | NeedsModel:
        """Let the environment grade: no fork lies behind the grade."""
        return await self._live.evaluate(lane, request, supplied)

    async def check(self, lane: str, action: Action) -> str | None:
        """Ask the environment, which must object as it did then."""
        objection = await self._live.check(lane, action)
        if (event := self._next(lane)) is not None:
            if not isinstance(event.body, ActionChecked):
                raise _otherwise(event, "checked an action")
            _require_same(event, replace(event.body, objection=objection))
        return objection

    def _next(self, lane: str) -> Event | None:
        """Take the lane's next recorded answer; None where the record is over."""
        left = self._left.get(lane)
        return left.popleft() if left else None


def _otherwise(event: Event, what: str) -> ReplayDiverged:
    return ReplayDiverged(
        event.seq,
        f"the fresh environment {what}; the record has event {event.seq} ({event.type}) there. Nothing was run beyond.",
    )


def _require_same(event: Event, found: Body) -> None:
    wrong = differences(event.body, found)
    if wrong:
        path, was, now = wrong[0]
        raise ReplayDiverged(
            event.seq,
            f"the fresh environment answers otherwise than at event {event.seq} ({event.type}), in {path}: recorded "
            f"{was}, found {now}. Nothing was run beyond it.",
            tuple(wrong),
        )
