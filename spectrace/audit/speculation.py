"""The rule `speculative_write`: nothing that changes the world or speaks to somebody may run on a guess.

The published τ-bench code of Speculative Actions does so: a small model guesses the *user's* next message, the strong
one runs ahead of it on the live environment, writes and replies included, and what it did stays done, or is shown
later, whatever the user then said. An action counts as done on a guess where the log shows one of these:

1. its authority is `speculative`, or it was declared a read on that authority and changed the state;
2. it was sent while a reply to the user was still unanswered: nobody had asked for it yet;
3. its step was thrown away afterwards, though it had run;
4. it ran, no step that was ever committed holds it, and the models were asked on without it;
5. its tool is marked `(background task)`, as the published code marks what it ran ahead of the user.

Not counted: reads; what a simulated user does; an indeterminate write, whose step nobody could commit; the last act of
an episode that breaks off; a write that nobody reviewed (`audit unreviewed`). 3 and 4 ask only episodes that commit
steps, and not of what names a verdict, which other rules look up; 2 and 4, which rest on what the log does *not* say,
only where every event of it can be read. An imported file keeps no times of its own inside a turn, so there 2 shows
only what the file's order shows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from spectrace.core.deeds import FROM_THE_RECORD
from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    ActRequested,
    EffectObserved,
    EpisodeStarted,
    Event,
    GenerateCompleted,
    GenerateRequested,
    RepairMade,
    SegmentCommitted,
    StepDrafted,
    StepsDiscarded,
    StepSpeculated,
    Unknown,
)
from spectrace.core.facts import tool_of
from spectrace.core.types import Effect
from spectrace.core.versions import CLASSES

BACKGROUND = " (background task)"
"""How the published code names the calls that it made ahead of the user."""

UNKNOWN = "unknown"
"""The authority of an act whose recording named none."""

_AGENT = frozenset({"drafter", "reviewer", "repairer", "actor"})
_LOST = "speculation_lost"
_JUDGED = "verdict:"
DRAFT, REPAIR, GUESS = "draft", "repair", "guess"


@dataclass(slots=True)
class _Sent:
    """An action of the agent that reached the environment."""

    seq: int
    position: str
    tool: str | None
    effect: str
    authority: str
    ahead_of: int | None
    """The reply that was unanswered when it was sent."""
    ran: int | None = None
    """The event that says so; None where nobody knows."""
    changed: bool = False
    taken_over: bool = False
    """Whether it was done in the episode that this one goes on from: it is judged there."""

    @property
    def writes(self) -> bool:
        return not self.taken_over and (self.effect != Effect.READ or self.changed)


@dataclass(slots=True)
class _Log:
    """What the rule needs of an episode."""

    whole: bool
    """Whether every event can be read: what is not there was not told."""
    sent: dict[int, _Sent] = field(default_factory=dict)
    unanswered: list[int] = field(default_factory=list)
    """Replies to the user that are open now."""
    reads: frozenset[str] = frozenset()
    steps: dict[tuple[int, str], dict[int, str]] = field(default_factory=dict)
    """(segment, DRAFT, REPAIR or GUESS) -> number -> position."""
    committed: set[str] = field(default_factory=set)
    discarded: dict[str, int] = field(default_factory=dict)
    """Position -> the event that threw its step away."""
    last_answer: int = 0
    """The last event at which a model of the agent's answered."""

    def step(self, segment: int, kind: str, number: int, position: str) -> None:
        """Note a step that was told of."""
        self.steps.setdefault((segment, kind), {})[number] = position

    def positions(self, segment: int, kind: str, start: int, end: int) -> list[str]:
        """Return the positions of those steps that were told of; a log may name any number."""
        return [where for number, where in self.steps.get((segment, kind), {}).items() if start <= number <= end]


def speculative_writes(events: Sequence[Event]) -> Iterator[tuple[int, str]]:
    """Yield the act.requested of each action that was done on a guess, and how the log shows it."""
    log = _Log(whole=_is_whole(events))
    for event in events:
        _follow(log, event)
    for one in log.sent.values():
        why = _why(log, one) if one.writes else None
        if why is not None:
            yield one.seq, f"{one.tool or one.effect} at {one.position} {why}"


def judged(events: Sequence[Event]) -> Iterator[bool]:
    """Yield for each action that changed something or spoke to somebody whether the rule tells what it ran on.

    Where a recording names no authority, as imports do not, its order may show a guess, and cannot show that there was
    none: of such an act the rule tells only what it breaks.
    """
    log = _Log(whole=_is_whole(events))
    for event in events:
        _follow(log, event)
    for one in log.sent.values():
        if one.writes:
            yield one.authority != UNKNOWN or _why(log, one) is not None


def _is_whole(events: Sequence[Event]) -> bool:
    """Whether nothing is missing among events that were read without their prompts."""
    lost = (one.type for one in events if isinstance(one.body, Unknown) and one.type in CLASSES)
    return all(one.seq == number for number, one in enumerate(events)) and set(lost) <= {GenerateRequested.TYPE}


def _why(log: _Log, one: _Sent) -> str | None:
    if one.authority == "speculative":
        read = "was declared a read, changed the state and " if one.effect == Effect.READ else ""
        return f"{read}ran on the authority speculative"
    if one.ahead_of is not None and log.whole:
        return f"was sent while the user had not answered event {one.ahead_of}"
    if one.tool is not None and one.tool.endswith(BACKGROUND):
        return None if one.tool.removesuffix(BACKGROUND) in log.reads else "is marked as run ahead of the user"
    if one.ran is None or not log.committed or one.authority.startswith(_JUDGED):
        return None
    if one.position in log.discarded:
        return f"ran, and event {log.discarded[one.position]} threw its step away"
    if log.whole and one.position not in log.committed and log.last_answer > one.ran:
        return "ran, and no committed step holds it"
    return None


def _follow(log: _Log, event: Event) -> None:
    match event.body:
        case EpisodeStarted(tools=tools):
            log.reads = frozenset(tool.name for tool in tools if tool.effect is Effect.READ)
        case GenerateCompleted(role=role) if role in _AGENT:
            log.last_answer = event.seq
        case StepDrafted(segment=segment, index=index, position=position):
            log.step(segment, DRAFT, index, position)
        case StepSpeculated(segment=segment, index=index, position=position):
            log.step(segment, GUESS, index, position)
        case RepairMade(segment=segment, actions=actions):
            for number in range(1, len(actions) + 1):
                log.step(segment, REPAIR, number, f"s{segment}.r{number}")
            log.committed.update(log.positions(segment, REPAIR, 1, len(actions)))
        case SegmentCommitted(segment=segment, start=start, end=end):
            log.committed.update(log.positions(segment, DRAFT, start, end))
        case StepsDiscarded() as body:
            kind = REPAIR if body.repair else DRAFT
            if body.reason == _LOST and (body.segment, GUESS) in log.steps:
                kind = GUESS
            gone = log.positions(body.segment, kind, body.start, body.end)
            log.discarded.update(dict.fromkeys(gone, event.seq))
        case ActRequested(requestor="agent") as body:
            _asked(log, event.seq, body)
        case ActCompleted() | ActFailed() | EffectObserved() as body if body.request in log.sent:
            _answered(log, event.seq, body)
        case _:
            pass


def _asked(log: _Log, seq: int, body: ActRequested) -> None:
    ahead_of = log.unanswered[0] if log.unanswered and body.effect != Effect.READ else None
    log.sent[seq] = _Sent(seq, body.position, tool_of(body.action), body.effect, body.authority, ahead_of)
    if body.effect == Effect.REPLY:
        log.unanswered.append(seq)


def _answered(log: _Log, seq: int, body: ActCompleted | ActFailed | EffectObserved) -> None:
    one = log.sent[body.request]
    match body:
        case ActCompleted(fingerprint_before=before, fingerprint_after=after, source=source):
            one.ran, one.taken_over = seq, source in FROM_THE_RECORD
            one.changed = one.changed or (before is not None and after is not None and before != after)
        case EffectObserved():
            one.changed = True
        case ActFailed():
            pass
    if not isinstance(body, EffectObserved) and one.seq in log.unanswered:
        log.unanswered.remove(one.seq)
