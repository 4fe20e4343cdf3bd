"""Following a record with its own protocol: run again, it has to ask and to say what is recorded, event by event.

As a replay from the record alone does (`runs/replay.py`), without a driver and at once: every answer is the recorded
one, so what is compared is what the protocol makes of it, prompts and all, and what the driver derives from it (an
act's outcome). What cannot be followed (erased, of rules that are not carried here) raises Untestable. A record that
stops is followed as far as it goes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from spectrace.core.compare import differences
from spectrace.core.endings import cut_short
from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    ActionChecked,
    Body,
    EpisodeEnded,
    EpisodeStarted,
    EvaluateCompleted,
    EvaluateFailed,
    EvaluateRequested,
    Event,
    GenerateCompleted,
    GenerateFailed,
    GenerateRequested,
    ResetCompleted,
    ResetFailed,
    ResetRequested,
    Unknown,
)
from spectrace.core.facts import tool_of
from spectrace.core.questions import EDITED, act_question, completion_of, model_question, unanswered
from spectrace.core.types import Evaluation, ModelRequest, NeedsModel, Opening, Outcome, Role

T = TypeVar("T")

_NESTED = frozenset({Role.USER.value, Role.JUDGE.value})


@dataclass(frozen=True, slots=True)
class Parting:
    """Where the protocol leaves the record: the event, a field's path or nothing, what is recorded, what came."""

    seq: int
    field: str
    recorded: str
    found: str


class _Parted(Exception):
    def __init__(self, parting: Parting) -> None:
        super().__init__(parting)
        self.parting = parting


class _Ends(Exception):
    """The record stops here."""


def follow(protocol: commands.Protocol[Outcome], events: Sequence[Event]) -> Parting | None:
    """Return the first difference between what the protocol asks and says and what is recorded; None where none is."""
    record = _Record(events)
    try:
        record.end(_run(record, protocol, ""))
    except _Parted as parted:
        return parted.parting
    except _Ends:
        left = record.left()
        if left is not None and not cut_short(left):
            return Parting(left.seq, "", left.type, "nothing: a question before it has no answer")
    return None


class _Record:
    """One episode's events with a cursor for each lane."""

    def __init__(self, events: Sequence[Event]) -> None:
        self.pending: dict[str, int] = {}
        self._lanes: dict[str, list[Event]] = {}
        self._at: dict[str, int] = {}
        self._answers: dict[int, Body] = {}
        for event in events:
            if isinstance(event.body, (Unknown, EpisodeStarted)):
                continue
            self._lanes.setdefault(event.lane, []).append(event)
            request = getattr(event.body, "request", None)
            if isinstance(request, int) and hasattr(event.body, "source"):
                self._answers[request] = event.body

    def peek(self, lane: str) -> Event | None:
        events, at = self._lanes.get(lane, []), self._at.get(lane, 0)
        return events[at] if at < len(events) else None

    def answer(self, request: int) -> Body:
        if request not in self._answers:
            raise _Ends
        return self._answers[request]

    def left(self) -> Event | None:
        rest = [event for lane in self._lanes if (event := self.peek(lane)) is not None]
        return min(rest, key=lambda event: event.seq, default=None)

    def meet(self, lane: str, body: Body) -> int:
        """Go past the lane's next event, which must be this one; return its number."""
        recorded = self.peek(lane)
        if recorded is None and (following := self._behind(lane)) is not None:
            raise _Parted(Parting(following.seq, "", following.type, f"{body.TYPE} in lane {lane}"))
        if recorded is None or cut_short(recorded):
            raise _Ends
        if recorded.type != body.TYPE:
            raise _Parted(Parting(recorded.seq, "", recorded.type, body.TYPE))
        for field, was, now in differences(recorded.body, body)[:1]:
            raise _Parted(Parting(recorded.seq, field, was, now))
        self._at[lane] = self._at.get(lane, 0) + 1
        return recorded.seq

    def _behind(self, lane: str) -> Event | None:
        """Return what was recorded next after a side lane and its siblings were over, or None."""
        while lane:
            lane = lane.rpartition(".")[0]
            if (following := self.peek(lane)) is not None:
                return None if cut_short(following) else following
        return None

    def end(self, outcome: Outcome) -> None:
        """Compare the outcome with the recorded end, totals aside: these are counted."""
        left = self.left()
        if left is None:
            return
        if not isinstance(left.body, EpisodeEnded):
            raise _Parted(Parting(left.seq, "", left.type, f"the end ({outcome.reason})"))
        said = replace(
            left.body, outcome=outcome.status, reason=outcome.reason, answer=outcome.answer, reward=outcome.reward
        )
        self.meet(left.lane, said)

    def nested(self, lane: str) -> NeedsModel | None:
        """Return the model call that the environment needed first, if it is what comes next."""
        following = self.peek(lane)
        if following is None or not isinstance(following.body, GenerateRequested):
            return None
        body = following.body
        if body.role not in _NESTED:
            return None
        return NeedsModel(Role(body.role), ModelRequest(body.messages, (), body.response_schema, body.parameters))


def _run(record: _Record, protocol: commands.Protocol[T], lane: str) -> T:
    answer: object = None
    failure: CommandFailed | None = None
    try:
        while True:
            command = protocol.send(answer) if failure is None else protocol.throw(failure)
            answer, failure = None, None
            try:
                answer = _perform(record, lane, command)
            except CommandFailed as failed:
                failure = failed
    except StopIteration as stop:
        result: T = stop.value
        return result
    finally:
        protocol.close()


def _perform(record: _Record, lane: str, command: Command) -> object:
    match command:
        case Tell(body):
            return record.meet(lane, body)
        case Generate():
            return _generate(record, lane, command)
        case Act():
            return _act(record, lane, command)
        case Reset():
            return _reset(record, lane, command)
        case Evaluate():
            return _evaluate(record, lane, command)
        case Check(action):
            following = record.peek(lane)
            there = following.body if following is not None else None
            objection = there.objection if isinstance(there, ActionChecked) else None
            record.meet(lane, ActionChecked(tool=tool_of(action), action=action, objection=objection))
            return objection
        case Parallel(branches):
            return _parallel(record, lane, branches)
        case _:
            assert_never(command)


def _parallel(
    record: _Record, lane: str, branches: tuple[commands.Protocol[object], ...]
) -> tuple[Completed | Failed, ...]:
    """Follow every branch to its own end, whatever becomes of the others; the earliest difference counts."""
    done, parted, ends = list[Completed | Failed](), list[Parting](), False
    for number, branch in enumerate(branches):
        try:
            done.append(Completed(_run(record, branch, f"{lane}.{number}" if lane else str(number))))
        except CommandFailed as failure:
            done.append(Failed(failure))
        except _Parted as found:
            parted.append(found.parting)
        except _Ends:
            ends = True
    if parted:
        raise _Parted(min(parted, key=lambda one: one.seq))
    if ends:
        raise _Ends
    return tuple(done)


def _generate(record: _Record, lane: str, command: Generate) -> Asked:
    request = record.meet(lane, model_question(command))
    match record.answer(request):
        case GenerateCompleted() as body:
            record.meet(lane, replace(body, role=command.role))
            return Asked(completion_of(body), request, body.model if body.source == EDITED else None)
        case GenerateFailed() as body:
            seq = record.meet(lane, replace(body, role=command.role))
            raise CommandFailed("generate", body.kind, body.error, seq)
        case _:
            raise _Ends


def _act(record: _Record, lane: str, command: Act) -> Acted | NeedsModel:
    effect, tool = command.effect, tool_of(command.action)
    if command.supplied is None:
        record.pending[lane] = record.meet(lane, act_question(command, ""))
    if (nested := record.nested(lane)) is not None:
        return nested
    request = record.pending[lane]
    match record.answer(request):
        case ActCompleted() as body:
            said = replace(
                body,
                effect=effect,
                authority=body.authority if body.source == EDITED else command.authority,
                outcome="error" if body.observation.error else "ok",
                tool=tool,
                position=command.position,
            )
            record.meet(lane, said)
            return Acted(body.observation, request, body.fingerprint_before, body.fingerprint_after)
        case ActFailed() as body:
            lost = replace(
                body,
                effect=effect,
                authority=command.authority,
                outcome=unanswered(effect),
                tool=tool,
                position=command.position,
            )
            raise CommandFailed("act", body.kind, body.error, record.meet(lane, lost))
        case _:
            raise _Ends


def _reset(record: _Record, lane: str, command: Reset) -> Began | NeedsModel:
    if command.supplied is None:
        record.pending[lane] = record.meet(lane, ResetRequested(seed=command.seed))
    if (nested := record.nested(lane)) is not None:
        return nested
    match record.answer(record.pending[lane]):
        case ResetCompleted() as body:
            record.meet(lane, body)
            return Began(Opening(body.messages, body.done), body.fingerprint)
        case ResetFailed() as body:
            raise CommandFailed("reset", body.kind, body.error, record.meet(lane, body))
        case _:
            raise _Ends


def _evaluate(record: _Record, lane: str, command: Evaluate) -> Evaluation | NeedsModel:
    if command.supplied is None:
        record.pending[lane] = record.meet(lane, EvaluateRequested())
    if (nested := record.nested(lane)) is not None:
        return nested
    match record.answer(record.pending[lane]):
        case EvaluateCompleted() as body:
            record.meet(lane, body)
            return Evaluation(body.reward, body.detail)
        case EvaluateFailed() as body:
            raise CommandFailed("evaluate", body.kind, body.error, record.meet(lane, body))
        case _:
            raise _Ends
