"""A recorded episode as a source and as a log: it answers from the record and compares what is asked with it.

The key of an answer is its *position* (the next event of the lane); the content of the question is an *assertion*. A
question, answer or fact that differs raises ReplayDiverged at that event; nothing is ever looked up by content.
"""

from collections.abc import Sequence

from spectrace.core.commands import Act, Generate
from spectrace.core.compare import differences
from spectrace.core.endings import cut_short
from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    ActionChecked,
    Body,
    EpisodeStarted,
    EvaluateCompleted,
    EvaluateFailed,
    Event,
    GenerateCompleted,
    GenerateFailed,
    GenerateRequested,
    ResetCompleted,
    ResetFailed,
    Unknown,
)
from spectrace.core.questions import EDITED, completion_of
from spectrace.core.types import Action, Completion, Evaluation, ModelRequest, NeedsModel, Opening, Role
from spectrace.environments.values import lossy_paths
from spectrace.errors import EnvironmentFailed, ModelFailed, ReplayDiverged
from spectrace.runs.divergence import Difference, likely_cause, named, nearest
from spectrace.runs.drive import LogEnds
from spectrace.runs.sources import Generated, Graded, Observed, Opened

_SHOWN = 3
_NESTED_ROLES = {Role.USER.value, Role.JUDGE.value}


class RecordEnds(LogEnds):
    """The record stops here (the run was interrupted); everything up to it was the same."""


class Recording:
    """One episode's events behind its episode.started, with a cursor for each lane."""

    def __init__(self, events: Sequence[Event], skip: tuple[type[Body], ...] = ()) -> None:
        """Leave out event types that are not asked again (`skip`), and those that this version does not know."""
        self.events = events
        self.compared = 0
        self.exact_observations = 0
        self.lossy: list[str] = []
        """Observations that are the same as text, and whose values were not recorded exactly."""
        self.remarks: dict[int, str] = {}
        """Event number -> what else is known of an answer that was not let pass there."""
        self._lanes: dict[str, list[Event]] = {}
        self._at: dict[str, int] = {}
        self._answers: dict[int, Event] = {}
        for event in events:
            request = getattr(event.body, "request", None)
            if isinstance(request, int) and hasattr(event.body, "source"):
                self._answers[request] = event
            if not isinstance(event.body, (Unknown, EpisodeStarted, *skip)):
                self._lanes.setdefault(event.lane, []).append(event)

    def peek(self, lane: str) -> Event | None:
        """Return the lane's next event, or None at its end."""
        events, at = self._lanes.get(lane, []), self._at.get(lane, 0)
        return events[at] if at < len(events) else None

    def before(self, lane: str) -> Event | None:
        """Return what stands just before the lane's next event, or None at its beginning."""
        events, at = self._lanes.get(lane, []), self._at.get(lane, 0)
        return events[at - 1] if 0 < at <= len(events) else None

    def advance(self, lane: str) -> None:
        """Go past the lane's next event."""
        self._at[lane] = self._at.get(lane, 0) + 1
        self.compared += 1

    def observed(self, seq: int, body: ActCompleted) -> None:
        """Count an observation that is the same; equal placeholders do not make equal values."""
        paths = lossy_paths(body.observation.content)
        if paths:
            self.lossy.append(f"event {seq} ({', '.join(paths[:_SHOWN])}{', ...' if len(paths) > _SHOWN else ''})")
        else:
            self.exact_observations += 1

    def answer(self, request: int) -> Event:
        """Return the event that answered a question; raise RecordEnds where the run stopped before it."""
        if request not in self._answers:
            raise RecordEnds
        return self._answers[request]

    def after_lane(self, lane: str) -> Event | None:
        """Return what was recorded next after a side lane and its siblings had come to their ends, or None."""
        while lane:
            lane = lane.rpartition(".")[0]
            following = self.peek(lane)
            if following is not None:
                return None if cut_short(following) else following
        return None

    def left(self) -> Event | None:
        """Return the first recorded event that nothing asked for, or None when all were met."""
        rest = [event for lane in self._lanes if (event := self.peek(lane)) is not None]
        return min(rest, key=lambda event: event.seq, default=None)


class Comparison:
    """The log of a replay: every event written must be the recorded one. Counterpart of the Recorder."""

    def __init__(self, recording: Recording, skip: frozenset[str] = frozenset(), changes: Sequence[str] = ()) -> None:
        """`skip` names body fields that are not compared (an import's grade detail); `changes`: what the caller did."""
        self._recording = recording
        self._skip = skip
        self._changes = changes
        self.told: dict[int, Difference] = {}
        """Event number -> the difference found there. Several where lanes ran side by side."""

    def write(self, lane: str, body: Body) -> int:
        """Return the recorded event's number, or raise ReplayDiverged."""
        recorded = self._recording.peek(lane)
        if recorded is None and (following := self._recording.after_lane(lane)) is not None:
            raise self._diverged(lane, following, body, f"when lane {lane} was over, this run came to")
        if recorded is None or cut_short(recorded):
            raise RecordEnds
        if recorded.type != body.TYPE:
            raise self._diverged(lane, recorded, body, "this run came to")
        found = differences(recorded.body, body, skip=self._skip)
        if found:
            raise self._differs(lane, recorded, body, found)
        self._recording.advance(lane)
        if isinstance(body, ActCompleted):
            self._recording.observed(recorded.seq, body)
        return recorded.seq

    def ended_before(self, recorded: Event, reason: str) -> ReplayDiverged:
        """Return that this run came to its end where the record goes on."""
        cause = "The protocol or the parser took another way than the recorded version."
        first = Difference(recorded.seq, "", named(recorded.body), f"the end ({reason})", cause)
        self.told[recorded.seq] = first
        return ReplayDiverged(
            recorded.seq,
            f"event {recorded.seq}: recorded {first.recorded}, this run ended ({reason}) before it. {cause}",
        )

    def _diverged(self, lane: str, recorded: Event, body: Body, came: str) -> ReplayDiverged:
        """Return that another event came than the recorded one."""
        first = self._told(lane, recorded, body, ("", named(recorded.body), named(body)))
        between = "" if came.startswith("when") else ","
        return ReplayDiverged(
            recorded.seq,
            f"event {recorded.seq}: recorded {first.recorded}{between} {came} {first.found}. {first.cause}",
        )

    def _differs(self, lane: str, recorded: Event, body: Body, found: list[tuple[str, str, str]]) -> ReplayDiverged:
        """Return that the recorded event came with another content."""
        first = self._told(lane, recorded, body, found[0])
        words = f"{named(recorded.body)} differs in {first.field}: recorded {first.recorded}, found {first.found}."
        return ReplayDiverged(recorded.seq, f"event {recorded.seq}: {words} {first.cause}", tuple(found))

    def _told(self, lane: str, recorded: Event, body: Body, sides: tuple[str, str, str]) -> Difference:
        field, was, now = sides
        cause = likely_cause(recorded, body, field, self._recording.before(lane), self._changes)
        if (remark := self._recording.remarks.get(recorded.seq)) is not None:
            cause = f"{cause} {remark}"
        closest = nearest(self._recording.events, recorded.seq, body)
        self.told[recorded.seq] = Difference(recorded.seq, field, was, now, cause, closest)
        return self.told[recorded.seq]

    async def settle(self, *, durable: bool) -> None:
        """Do nothing: a replay writes nothing down."""

    def act_key(self, position: str) -> str:
        """Return no key: a replay's actions go nowhere, or to a fresh environment."""
        del position
        return ""


class RecordedSource:
    """Answers from the record alone: no environment and no model is reached."""

    def __init__(self, recording: Recording) -> None:
        """Read answers beside the comparison, which moves the cursors."""
        self._recording = recording

    async def generate(self, lane: str, request: int, command: Generate) -> Generated:
        """Return the recorded completion, or fail as the call failed then."""
        del lane, command
        match self._recording.answer(request).body:
            case GenerateCompleted() as body:
                return Generated(completion_of(body), EDITED if body.source == EDITED else "record")
            case GenerateFailed() as body:
                raise ModelFailed(
                    body.kind,
                    body.error,
                    partial_text=body.partial_text,
                    latency_us=body.latency_us or 0,
                    attempts=body.attempts,
                )
            case _:
                raise RecordEnds

    async def act(self, lane: str, request: int, command: Act) -> Observed | NeedsModel:
        """Return the recorded observation, or the model call that the environment needed first."""
        del command
        if (nested := self._nested(lane)) is not None:
            return nested
        match self._recording.answer(request).body:
            case ActCompleted() as body:
                by = body.authority if body.source == EDITED else None
                source = "record" if by is None else EDITED
                return Observed(
                    body.observation, body.fingerprint_before, body.fingerprint_after, body.latency_us, source, by
                )
            case ActFailed(kind=kind, error=error):
                raise EnvironmentFailed(kind, error)
            case _:
                raise RecordEnds

    async def reset(
        self, lane: str, request: int, seed: int | None, supplied: Completion | None
    ) -> Opened | NeedsModel:
        """Return the recorded opening."""
        del seed, supplied
        if (nested := self._nested(lane)) is not None:
            return nested
        match self._recording.answer(request).body:
            case ResetCompleted() as body:
                return Opened(Opening(body.messages, body.done), body.fingerprint, body.latency_us, "record")
            case ResetFailed(kind=kind, error=error):
                raise EnvironmentFailed(kind, error)
            case _:
                raise RecordEnds

    async def evaluate(self, lane: str, request: int, supplied: Completion | None) -> Graded | NeedsModel:
        """Return the recorded grade."""
        del supplied
        if (nested := self._nested(lane)) is not None:
            return nested
        match self._recording.answer(request).body:
            case EvaluateCompleted() as body:
                return Graded(Evaluation(body.reward, body.detail), body.fingerprint, body.latency_us, "record")
            case EvaluateFailed(kind=kind, error=error):
                raise EnvironmentFailed(kind, error)
            case _:
                raise RecordEnds

    async def check(self, lane: str, action: Action) -> str | None:
        """Return the recorded objection; the comparison asserts that it was to the same action."""
        del action
        following = self._recording.peek(lane)
        if following is None:
            raise RecordEnds
        return following.body.objection if isinstance(following.body, ActionChecked) else None

    def _nested(self, lane: str) -> NeedsModel | None:
        following = self._recording.peek(lane)
        if following is None or not isinstance(following.body, GenerateRequested):
            return None
        body = following.body
        if body.role not in _NESTED_ROLES:
            return None
        request = ModelRequest(body.messages, (), body.response_schema, body.parameters)
        return NeedsModel(Role(body.role), request)
