"""What an episode spent: its model calls with what each was for, and its rounds of review. Pure: events -> Spending.

Counterpart of `costing`, which adds up many. A call here is not priced or estimated yet: how much of its prompt was in
a server's cache depends on the calls of other episodes between.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from spectrace.audit.standing import score_number
from spectrace.core.events import (
    EpisodeStarted,
    Event,
    GenerateCompleted,
    GenerateFailed,
    GenerateRequested,
    ReplyUnusable,
)
from spectrace.core.fold import Episode, FoldedSegment, fold
from spectrace.core.money import never_billed, never_sent
from spectrace.core.types import Message, Usage
from spectrace.cost.phases import phase_of
from spectrace.cost.prediction import HELD, READ, Round

_SEGMENT = re.compile(r"s(\d+)")


@dataclass(slots=True, eq=False)
class Asked:
    """One model call that was sent, as the log has it."""

    seq: int
    at: int
    phase: str
    who: str
    segment: int | None
    messages: tuple[Message, ...]
    tools: Message | None = None
    """The tools that were sent beside it, as one message."""
    answer: Message | None = None
    """None while unanswered, and where the call failed."""
    usage: Usage = field(default_factory=Usage)
    latency_us: int | None = None
    retries: int = 0
    failed: bool = False
    never_billed: bool = False
    """Whether nothing was read or written for it: that is known to be 0."""

    @property
    def prompt(self) -> tuple[Message, ...]:
        """The messages, before them the tools, as a template puts them."""
        return self.messages if self.tools is None else (self.tools, *self.messages)


@dataclass(frozen=True, slots=True)
class ReviewCalls:
    """A round of review, and the calls that it is made of."""

    round: Round
    review: tuple[Asked, ...]
    repair: tuple[Asked, ...]


@dataclass(frozen=True, slots=True)
class Spending:
    """An episode's calls, sorted by what they were for. What a budget refused was never sent, and is no call here."""

    episode: str
    started: EpisodeStarted
    at: int
    calls: tuple[Asked, ...]
    steps: int
    """Committed, whoever wrote them."""
    rounds: tuple[ReviewCalls, ...]
    tail: int
    """Committed after the last review that could be read."""
    acting: tuple[Asked, ...]
    """Strong calls that act, plan or judge progress."""
    apart: tuple[Asked, ...]
    """Strong calls that belong to no round: re-asks, what an unusable verdict or draft led to."""
    wall_us: int
    score: float | None = None
    """Its reward, 0 where it was truncated; None where its end says nothing of the agent, or there is none."""

    @property
    def task(self) -> str:
        """The task as a cluster: environment and digest."""
        return f"{self.started.environment.name} {self.started.task_digest}"


def spending(events: Sequence[Event]) -> Spending:
    """Return what an episode spent; the first event must be episode.started."""
    episode = fold(events)
    ended = episode.ended
    calls = _calls(events, episode.started)
    by_segment: dict[int | None, list[Asked]] = {}
    for call in calls:
        if call.who == "strong" and call.phase in {"verify", "repair"}:
            by_segment.setdefault(call.segment, []).append(call)
    rounds, tail = _rounds(episode, by_segment)
    placed = {call for one in rounds for call in (*one.review, *one.repair)}
    acting = tuple(call for call in calls if call.who == "strong" and call.phase in {"act", "plan", "progress"})
    placed.update(acting)
    return Spending(
        episode=episode.id,
        started=episode.started,
        at=episode.started_at,
        calls=tuple(calls),
        steps=sum(_committed(segment) + _repaired(segment) for segment in episode.segments),
        rounds=tuple(rounds),
        tail=tail,
        acting=acting,
        apart=tuple(call for call in calls if call.who == "strong" and call not in placed),
        wall_us=episode.took_us,
        score=None if ended is None else score_number(ended.outcome, ended.reason, ended.reward),
    )


def _calls(events: Sequence[Event], started: EpisodeStarted) -> list[Asked]:
    """Return the calls in order; what is asked again after a reply that could not be read is marked so."""
    calls: dict[int, Asked] = {}
    keys: dict[int, tuple[str, str]] = {}
    again: set[tuple[str, str]] = set()
    tools = Message("tools", "\n".join(f"{tool.name} {tool.description} {tool.parameters}" for tool in started.tools))
    for event in events:
        match event.body:
            case GenerateRequested() as body:
                key = body.role, body.position
                keys[event.seq] = key
                named = _SEGMENT.match(body.position)
                calls[event.seq] = Asked(
                    event.seq,
                    event.at,
                    phase_of(body.role, body.position, again=key in again),
                    body.who,
                    None if named is None else int(named[1]),
                    body.messages,
                    None if body.tools_digest is None else tools,
                )
                again.discard(key)
            case ReplyUnusable(request=request, next="asked_again") if request in keys:
                again.add(keys[request])
            case GenerateFailed(request=request) as body if never_sent(body):
                calls.pop(request, None)
            case GenerateCompleted() | GenerateFailed() as body if body.request in calls:
                call = calls[body.request]
                call.usage, call.latency_us, call.never_billed = body.usage, body.latency_us, never_billed(body)
                call.retries = max(len(body.attempts) - 1, 0)
                call.failed = isinstance(body, GenerateFailed)
                call.answer = body.message if isinstance(body, GenerateCompleted) else None
            case _:
                pass
    return list(calls.values())


def _rounds(episode: Episode, calls: dict[int | None, list[Asked]]) -> tuple[list[ReviewCalls], int]:
    """Return the rounds whose verdict could be read, and the steps committed after the last of them."""
    rounds: list[ReviewCalls] = []
    unreviewed = 0
    reached = {id(earlier) for segment in episode.segments for earlier in segment.earlier}
    for segment in episode.segments:
        verdict, repaired = segment.verdict, _repaired(segment)
        if verdict is None or verdict.decision == "unusable":
            unreviewed += repaired + (0 if id(segment) in reached else _committed(segment))
            continue
        steps = len(segment.judged)
        shape = READ * (steps - 1) + (HELD if segment.reason == "held" else READ) if steps else ""
        accepts = verdict.accepts_all
        made = Round(shape, min(verdict.accepted, steps), unreviewed, 0 if accepts else repaired)
        own = calls.get(segment.index, ())
        rounds.append(
            ReviewCalls(
                made,
                tuple(call for call in own if call.phase == "verify"),
                tuple(call for call in own if call.phase == "repair"),
            )
        )
        unreviewed = repaired if accepts else 0
    return rounds, unreviewed


def _committed(segment: FoldedSegment) -> int:
    return sum(folded.fate == "committed" for folded in segment.steps)


def _repaired(segment: FoldedSegment) -> int:
    return 0 if segment.repair is None else sum(folded.fate == "committed" for folded in segment.repair.steps)
