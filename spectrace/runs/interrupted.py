"""What an interrupted episode left: the record that can be taken over, and what people said of its open write.

Pure: it reads events and decides nothing but whether they can be gone on with. `resume` does that.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from spectrace.core.deeds import FORK, RESUME, changes_state, deeds
from spectrace.core.endings import cut_short
from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    ActRequested,
    EpisodeEnded,
    EpisodeStarted,
    EvaluateCompleted,
    EvaluateRequested,
    Event,
    GenerateRequested,
    OutcomeSettled,
    ResetCompleted,
    ResetRequested,
)
from spectrace.core.types import Action, Observation
from spectrace.errors import Unsettled, Untestable, UsageError
from spectrace.runs.preflight import IMPORTED, readable
from spectrace.runs.reverify import REVERIFY

_ASKED = (GenerateRequested, ActRequested, ResetRequested, EvaluateRequested)
_FULL = "max_events"


@dataclass(frozen=True, slots=True)
class Left:
    """What an interrupted episode left: the record to take over, and what a person said of the write it ends with."""

    events: tuple[Event, ...]
    """The whole log."""
    told: tuple[Event, ...]
    """What is taken over: without what was asked and not answered, but for a write that a person says was tried."""
    words: Mapping[int, OutcomeSettled]
    """act.requested in `told` -> the word that answers it."""
    never: Mapping[int, OutcomeSettled]
    """act.requested that is asked again -> the word that it never ran."""

    @property
    def started(self) -> EpisodeStarted:
        """How the episode began."""
        return readable(self.events)

    @property
    def begun(self) -> bool:
        """Whether the environment had begun the task."""
        return any(isinstance(event.body, ResetCompleted) for event in self.told)

    @property
    def last_state(self) -> tuple[int, str] | None:
        """The last recorded fingerprint, with its event."""
        known = [(event.seq, print_) for event in self.told if (print_ := _fingerprint(event)) is not None]
        return known[-1] if known else None

    @property
    def done(self) -> tuple[tuple[Action, Observation], ...]:
        """Every action that reached the environment, with what it answered, or what a person says of it."""
        asked = {event.seq: event.body.action for event in self.told if isinstance(event.body, ActRequested)}
        found = {
            event.body.request: event.body.observation for event in self.told if isinstance(event.body, ActCompleted)
        }
        found |= {request: word_as_observation(word) for request, word in self.words.items()}
        return tuple((asked[request], found[request]) for request in sorted(found))


def left_by(events: Sequence[Event]) -> Left:
    """Return what an interrupted episode left to go on with.

    Raises UsageError for one that was not interrupted, Untestable for one that no protocol here goes on with, and
    Unsettled where it ends with a write of which nobody has said what became of it.
    """
    first = readable(events)
    name = events[0].episode
    if first.protocol == IMPORTED:
        raise Untestable(f"{name} was imported: no generator of ours made it, so none can go on with it")
    if first.protocol == REVERIFY:
        run = "" if first.run is None else f" `--name {first.run}`"
        raise UsageError(f"{name} is a re-verification: `spectrace reverify` goes on with it under its name{run}.")
    if first.parent is not None and first.parent.kind == RESUME and len(events) - _ended(events) == 1:
        raise UsageError(
            f"{name} was interrupted before it had taken over the record of {first.parent.episode}, and did nothing: "
            f"resume {first.parent.episode}."
        )
    _require_at_fork(first, events)
    said = {event.body.request: event.body for event in events if isinstance(event.body, OutcomeSettled)}
    open_ = [
        deed.seq
        for deed in deeds(event for event in events if not isinstance(event.body, OutcomeSettled))
        if deed.outcome == "indeterminate" and changes_state(deed)
    ]
    _require_interrupted(events, open_)
    for seq in open_:
        if seq not in said:
            raise _unsettled(events[seq])
    words = {seq: said[seq] for seq in open_ if said[seq].outcome != "never"}
    never = {seq: said[seq] for seq in open_ if said[seq].outcome == "never"}
    return Left(tuple(events), tuple(_told(events, frozenset(open_), words)), words, never)


def word_as_observation(word: OutcomeSettled) -> Observation:
    """Return a person's word on an action as what was observed of it: the evidence."""
    return Observation(word.evidence, error=word.outcome == "error")


def _require_at_fork(first: EpisodeStarted, events: Sequence[Event]) -> None:
    """Raise UsageError for a fork that was cut off before it had come to its fork point.

    The rest of its parent's record, and the verdict that a person put in place of the last answer, are not in its log:
    what went on from there would be another episode than the one that was asked for.
    """
    parent = first.parent
    if parent is None or parent.kind != FORK or parent.seq is None:
        return
    # It writes what its parent wrote, event by event.
    reached = sum(not isinstance(event.body, EpisodeEnded | OutcomeSettled) for event in events) - 1
    if reached < parent.seq:
        at = f"{parent.episode}:{parent.seq}"
        raise UsageError(
            f"{events[0].episode} is a fork of {at} and was cut off at event {reached}, before it had come there: what "
            f"is left of that record, and a verdict that was edited there, are not in it. Fork again: `spectrace fork "
            f"{at}` with what this one was given."
        )


def _ended(events: Sequence[Event]) -> int:
    return sum(isinstance(event.body, EpisodeEnded) for event in events)


def _require_interrupted(events: Sequence[Event], open_: Sequence[int]) -> None:
    """Raise UsageError for an episode that went to an end of its own; a write without outcome is none."""
    ended = next((event for event in reversed(events) if isinstance(event.body, EpisodeEnded)), None)
    if ended is None or not isinstance(ended.body, EpisodeEnded):
        return
    outcome, reason = ended.body.outcome, ended.body.reason
    broken_off = cut_short(ended) and reason != _FULL
    if not broken_off and not (open_ and (outcome, reason) == ("failed", "indeterminate")):
        raise UsageError(
            f"{ended.episode} was not interrupted: it ended {outcome} ({reason}) at event {ended.seq}. "
            f"`spectrace fork {ended.episode}:SEQ` goes another way from an event before its end."
        )


def _unsettled(asked: Event) -> Unsettled:
    body = asked.body
    assert isinstance(body, ActRequested)  # noqa: S101 - a deed's number is that of its act.requested
    where = f"{asked.episode}:{asked.seq}"
    return Unsettled(
        f"{where} ({body.tool or body.effect}, idempotency key {body.idempotency_key}) was asked and has no outcome: "
        "it may have happened, and nothing goes on past it. Look there whether it did, and say so: "
        f"`spectrace audit settle {where} --outcome ok|error|never --evidence TEXT --by NAME`. Then resume."
    )


def _told(events: Sequence[Event], open_: frozenset[int], words: Mapping[int, OutcomeSettled]) -> Iterator[Event]:
    """Yield the record, each lane up to its first question without an answer; that one too where a person answers it.

    What a failed write led to (the end that the protocol came to) is no answer either: it is another way now.
    """
    answered = {
        request
        for event in events
        if hasattr(event.body, "source") and isinstance(request := getattr(event.body, "request", None), int)
        if not (isinstance(event.body, ActFailed) and request in open_)
    }
    ends: dict[str, int] = {}
    for event in events:
        if isinstance(event.body, _ASKED) and event.seq not in answered:
            ends.setdefault(event.lane, event.seq + (event.seq in words))
    for event in events:
        goes_on = event.seq < ends.get(event.lane, event.seq + 1)
        if goes_on and not isinstance(event.body, EpisodeEnded | OutcomeSettled):
            yield event


def _fingerprint(event: Event) -> str | None:
    match event.body:
        case ActCompleted(fingerprint_after=found) | ResetCompleted(fingerprint=found):
            return found
        case EvaluateCompleted(fingerprint=found):
            return found
        case _:
            return None
