"""Replay an episode: run its protocol again, answered from the record or by a fresh environment, and compare.

From the record no environment and no model is reached. With an environment every action is executed again, on a fresh
instance, only where `restore` allows it; models are still answered from the record. Never a silent live call.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from spectrace.core.commands import Act, Generate
from spectrace.core.commands import Protocol as Asking
from spectrace.core.events import (
    ActCompleted,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    GenerateCompleted,
    GenerateFailed,
    GenerateRequested,
    OutcomeSettled,
    ResetCompleted,
)
from spectrace.core.prompts import Prompts
from spectrace.core.reenact import reenact
from spectrace.core.setup import setup_of
from spectrace.core.types import Action, Completion, Message, ModelFacts, NeedsModel, Outcome
from spectrace.core.versions import is_foreign
from spectrace.environments.environment import Environment
from spectrace.errors import NewerSchema, ReplayDiverged, Untestable
from spectrace.runs.divergence import Difference, named
from spectrace.runs.drive import Driver
from spectrace.runs.preflight import IMPORTED, changes_by, refuse, unreadable, with_options
from spectrace.runs.protocols import recorded_protocol, require_revision
from spectrace.runs.recording import Comparison, RecordedSource, RecordEnds, Recording, cut_short
from spectrace.runs.reverify import REVERIFY, asks_again, child_reviews
from spectrace.runs.sources import Generated, Graded, Limits, LiveSource, Observed, Opened

_MODEL_EVENTS = (GenerateRequested, GenerateCompleted, GenerateFailed)
_NOT_IN_FILES = frozenset({"detail", "fingerprint", "fingerprint_before", "fingerprint_after"})
"""What an imported file does not record, or words in its own way."""
_NAMED = 5


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """same, diverged or untestable; `compared` of `total` events were the same."""

    episode: str
    result: str
    compared: int
    total: int
    observations: int
    """Observations of actions that were the same, exactly; those recorded with loss are in `detail`."""
    first_difference: Difference | None
    detail: str


async def replay_episode(
    events: Sequence[Event],
    *,
    prompts: Prompts | None = None,
    options: Mapping[str, object] | None = None,
    environment: Environment | None = None,
    parent: Sequence[Event] | None = None,
) -> ReplayResult:
    """Replay one episode from its events; the first must be episode.started.

    `prompts` and `options` replace the recorded ones; `environment` re-executes every action for real; a
    re-verification is replayed with its `parent`'s events, whose reviews it judged. Raises nothing for what a record
    may hold: what cannot be replayed is `untestable`, with the reason.
    """
    started = events[0].body
    if (reason := unreadable(events)) is not None or not isinstance(started, EpisodeStarted):
        return _untestable(events, reason or "its first event is not an episode.started")
    try:
        run = [event for event in events if not isinstance(event.body, OutcomeSettled)]  # a person's later word is none
        return await _replay(run, started, Instead(prompts, options or {}), environment, parent)
    except (Untestable, NewerSchema) as error:  # the latter: of the parent's events
        return _untestable(events, str(error))
    finally:
        if environment is not None:
            await environment.close()


@dataclass(frozen=True, slots=True)
class Instead:
    """What the caller puts in the place of what was recorded."""

    prompts: Prompts | None
    options: Mapping[str, object]

    def of(self, started: EpisodeStarted) -> EpisodeStarted:
        """Return the start with it."""
        other = with_options(started, self.options)
        return other if self.prompts is None else replace(other, prompts=self.prompts.to_json())

    def named(self, started: EpisodeStarted) -> list[str]:
        """Return what it changes, each in a few words."""
        found = changes_by(started, self.prompts, self.options)
        return [f"{one.field} (recorded {one.recorded}, now {one.found})" for one in found]


async def _replay(
    events: Sequence[Event],
    started: EpisodeStarted,
    instead: Instead,
    environment: Environment | None,
    parent: Sequence[Event] | None,
) -> ReplayResult:
    imported = started.protocol == IMPORTED
    if imported and environment is None:
        raise Untestable("it was imported: no generator of ours made it; re-execute its actions with --tools live")
    recording = Recording(events, skip=_MODEL_EVENTS if imported else ())
    differing: tuple[str, ...] = ()
    if environment is not None:
        differing = refuse(started, environment)
        source: RecordedSource | _Reexecution = _Reexecution(recording, environment, events, imported=imported)
    else:
        source = RecordedSource(recording)
    log = Comparison(recording, _NOT_IN_FILES if imported else frozenset(), instead.named(started))
    driver = Driver(source, log, "record")
    asked = reenact(events) if imported else _generator(instead.of(started), parent)
    result = await _compare(driver, asked, recording, log, events)
    harmless = f"; of the tools differs, without effect on it: {', '.join(differing)}" if differing else ""
    return replace(result, detail=result.detail + harmless)


def _generator(started: EpisodeStarted, parent: Sequence[Event] | None) -> Asking[Outcome]:
    if started.protocol != REVERIFY:
        return recorded_protocol(started).run(setup_of(started))
    if parent is None:
        raise Untestable("it is a re-verification and its parent episode is not in this database")
    require_revision(started)
    return asks_again(started, child_reviews(started, parent))


async def _compare(
    driver: Driver, asked: Asking[Outcome], recording: Recording, log: Comparison, events: Sequence[Event]
) -> ReplayResult:
    episode, total = events[0].episode, len(events) - 1
    try:
        outcome = await driver.run(asked)
        _end(log, recording, outcome)
    except ReplayDiverged as diverged:
        first = log.told.get(diverged.seq, Difference(diverged.seq, "", "", ""))
        return ReplayResult(
            episode, "diverged", recording.compared, total, recording.exact_observations, first, str(diverged)
        )
    except RecordEnds:
        left = recording.left()
        if left is not None and not cut_short(left):
            detail = f"event {left.seq}: recorded {left.type} behind a question that the record has no answer to."
            first = Difference(left.seq, "", named(left.body), "", "The log lacks that answer: `spectrace verify`.")
            return ReplayResult(
                episode, "diverged", recording.compared, total, recording.exact_observations, first, detail
            )
        detail = f"the record stops after event {total}; all of it was the same{_inexact(recording)}"
        return ReplayResult(episode, "same", recording.compared, total, recording.exact_observations, None, detail)
    foreign = sum(is_foreign(event) for event in events)
    unasked = total - recording.compared - foreign
    left_out = f"; {unasked} of another program's model calls are not asked again" if unasked else ""
    left_out += f"; {foreign} of types that this spectrace does not know are passed over" if foreign else ""
    detail = f"all {recording.compared} events after the start are the same{left_out}{_inexact(recording)}"
    return ReplayResult(episode, "same", recording.compared, total, recording.exact_observations, None, detail)


def _inexact(recording: Recording) -> str:
    """Say which observations cannot be called exact."""
    if not recording.lossy:
        return ""
    more = len(recording.lossy) - _NAMED
    named = "; ".join(recording.lossy[:_NAMED]) + (f"; and {more} more" if more > 0 else "")
    return f"; not exact, because the values had no exact text when they were recorded: {named}"


def _end(log: Comparison, recording: Recording, outcome: Outcome) -> None:
    """Compare the outcome with the recorded end, totals aside: they are counted from the events just compared."""
    left = recording.left()
    if left is None:
        raise RecordEnds
    if not isinstance(left.body, EpisodeEnded):
        raise log.ended_before(left, outcome.reason)
    recorded = left.body
    log.write(
        left.lane,
        replace(recorded, outcome=outcome.status, reason=outcome.reason, answer=outcome.answer, reward=outcome.reward),
    )


class _Reexecution:
    """A fresh environment executes; models are answered from the record, an import's user from its observations."""

    def __init__(
        self, recording: Recording, environment: Environment, events: Sequence[Event], *, imported: bool
    ) -> None:
        self._record = RecordedSource(recording)
        self._live = LiveSource(environment, {}, Limits(), _models(events))
        self._said = _user_texts(events) if imported else {}

    async def generate(self, lane: str, request: int, command: Generate) -> Generated:
        return await self._record.generate(lane, request, command)

    async def act(self, lane: str, request: int, command: Act) -> Observed | NeedsModel:
        answer = await self._live.act(lane, request, command)
        while isinstance(answer, NeedsModel) and request in self._said:
            answer = await self._live.act(lane, request, replace(command, supplied=_spoken(self._said[request])))
        return answer

    async def reset(
        self, lane: str, request: int, seed: int | None, supplied: Completion | None
    ) -> Opened | NeedsModel:
        answer = await self._live.reset(lane, request, seed, supplied)
        while isinstance(answer, NeedsModel) and request in self._said:
            answer = await self._live.reset(lane, request, seed, _spoken(self._said[request]))
        return answer

    async def evaluate(self, lane: str, request: int, supplied: Completion | None) -> Graded | NeedsModel:
        return await self._live.evaluate(lane, request, supplied)

    async def check(self, lane: str, action: Action) -> str | None:
        return await self._live.check(lane, action)


def _models(events: Sequence[Event]) -> tuple[ModelFacts, ...]:
    started = events[0].body
    return started.models if isinstance(started, EpisodeStarted) else ()


def _user_texts(events: Sequence[Event]) -> dict[int, str]:
    """Return what an import's user said, by the question it answered: acts, and the opening."""
    said: dict[int, str] = {}
    for event in events:
        match event.body:
            case ActCompleted(request=request, observation=observation):
                said[request] = observation.content
            case ResetCompleted(request=request, messages=messages):
                said[request] = next((m.content for m in reversed(messages) if m.role == "user"), "")
            case _:
                pass
    return said


def _spoken(text: str) -> Completion:
    return Completion(Message("assistant", text))


def _untestable(events: Sequence[Event], reason: str) -> ReplayResult:
    return ReplayResult(events[0].episode, "untestable", 0, len(events) - 1, 0, None, reason)
