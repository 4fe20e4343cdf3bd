"""What the log does not know, or cannot prove, episode by episode: an unknown that is listed is none that hides.

Each kind has its sentence below. Most are found in the events as they pass; what reached no checkpoint is found beside
them (`covering`). A reader who finds nothing here knows that every action has an outcome, a declared effect and words.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from spectrace.audit.erasures import numbers
from spectrace.core.deeds import Deed, changes_state, own_deeds
from spectrace.core.events import (
    ActCompleted,
    ActRequested,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    OutcomeSettled,
    Unknown,
    VerdictGiven,
)
from spectrace.core.types import Effect
from spectrace.core.versions import is_foreign, is_newer
from spectrace.redaction.findings import PLACEHOLDER

KINDS = {
    "indeterminate": "A write or reply was asked and got no answer; what a person settled is said.",
    "interrupted": "The episode has no end of its own: its writer went away.",
    "running": "By its row it is still being written: what it asked, and lacks an answer to, may be answered yet.",
    "uncovered": "It is newer than the newest checkpoint, or in none: nothing outside the database vouches for it.",
    "erased": "Events without a body: their headers are left.",
    "redacted": "A placeholder stands in the arguments or the answer of a write.",
    "undeclared_effect": "Nobody declared the tool's effect: it was taken for a write.",
    "no_fingerprint": "Writes ran on an environment that has no fingerprint: whether it changed is its word.",
    "imported": "A file tells of it: on whose authority it was done is that file's word, or unknown.",
    "unusable": "A verdict could not be read; nothing was accepted by it.",
    "unknown_event": "An event of a type or version that this spectrace does not know.",
    "clock_skew": "The clock went backwards: times do not give the order, or the length, of what was done.",
    "missing_blob": "A text that an event refers to is not there.",
}
"""Kind -> what it means, in the order of the counts."""

LOG = "(database)"
"""In place of an episode, where an unknown is the whole log's."""


@dataclass(frozen=True, slots=True)
class NotKnown:
    """One thing that is not known. `seq`: the event that it begins with; None where no event is meant."""

    episode: str
    seq: int | None
    kind: str
    detail: str
    tool: str | None = None


@dataclass(slots=True)
class _Clock:
    """Hears times in the order of the events."""

    last: int | None = None
    backwards: int = 0
    most_us: int = 0
    first: int | None = None

    def hear(self, event: Event) -> None:
        if self.last is not None and event.at < self.last:
            self.backwards += 1
            self.most_us = max(self.most_us, self.last - event.at)
            self.first = event.seq if self.first is None else self.first
        self.last = event.at


@dataclass(slots=True)
class _Seen:
    """What is kept of an episode while its events pass."""

    clock: _Clock = field(default_factory=_Clock)
    started: EpisodeStarted | None = None
    ended: EpisodeEnded | None = None
    erased: list[int] = field(default_factory=list)
    acts: dict[int, ActRequested] = field(default_factory=dict)
    answers: dict[int, ActCompleted] = field(default_factory=dict)
    words: dict[int, tuple[int, OutcomeSettled]] = field(default_factory=dict)
    prints: int = 0


def unknowns(events: Sequence[Event], *, running: bool = False) -> Iterator[NotKnown]:
    """Yield what is not known of one episode. A `running` one may get its end, and answers, yet.

    That it is running is the word of a row that nothing guards: so what is open is listed all the same.
    """
    seen = _Seen()
    for event in events:
        seen.clock.hear(event)
        yield from _at(event, seen)
    if not events:
        return
    newer = any(is_newer(event) for event in events)  # an account that may be misread is none
    ledger = [] if newer else [deed for deed in own_deeds(events) if changes_state(deed)]
    yield from _of_deeds(ledger, seen, running=running)
    yield from _of_the_whole(events, ledger, seen, running=running)


def _at(event: Event, seen: _Seen) -> Iterator[NotKnown]:
    match event.body:
        case EpisodeStarted() as body:
            seen.started = body
        case EpisodeEnded() as body:
            seen.ended = body
        case ActRequested() as body:
            seen.acts[event.seq] = body
        case ActCompleted() as body:
            seen.answers[body.request] = body
            seen.prints += body.fingerprint_after is not None
        case OutcomeSettled() as body:
            seen.words[body.request] = (event.seq, body)
        case VerdictGiven(outcome="unusable", cause=cause, segment=segment):
            yield NotKnown(event.episode, event.seq, "unusable", f"the verdict on segment {segment}: {cause or '-'}")
        case Unknown(erased=True):
            seen.erased.append(event.seq)
        case Unknown(type=type_, version=version) if is_foreign(event) or is_newer(event):
            yield NotKnown(event.episode, event.seq, "unknown_event", f"{type_} version {version}: kept, in no account")
        case _:
            pass


def _of_deeds(ledger: Iterable[Deed], seen: _Seen, *, running: bool) -> Iterator[NotKnown]:
    undeclared: dict[str, list[Deed]] = {}
    for deed in ledger:
        what = deed.tool or deed.kind
        word = seen.words.get(deed.seq)
        if word is not None:
            seq, body = word
            by = body.authority.removeprefix("person:")
            detail = f"{what}: no answer; settled as {body.outcome} by {by} (event {seq}): {body.evidence}"
            yield NotKnown(deed.episode, deed.seq, "indeterminate", detail, deed.tool)
        elif deed.outcome == "indeterminate":
            late = "running: not answered yet" if running else "asked and not answered, so it may have happened"
            detail = f"{what}: {late}"
            yield NotKnown(deed.episode, deed.seq, "indeterminate", detail, deed.tool)
        if deed.tool is not None and deed.effect_by == "default":
            undeclared.setdefault(deed.tool, []).append(deed)
        yield from _redacted(deed, seen)
    for tool, found in undeclared.items():
        ran = sum(deed.requested_at is not None for deed in found)
        detail = f"{tool}: nobody declared its effect; drafted {len(found)} times, sent {ran} times"
        yield NotKnown(found[0].episode, found[0].seq, "undeclared_effect", detail, tool)


def _redacted(deed: Deed, seen: _Seen) -> Iterator[NotKnown]:
    answer = seen.answers.get(deed.seq)
    texts = {"arguments": deed.arguments, "answer": "" if answer is None else answer.observation.content}
    for where, text in texts.items():
        if found := dict.fromkeys(PLACEHOLDER.findall(text)):
            named = ", ".join(found)
            detail = f"{deed.tool or deed.kind}: its {where} hold {named}; the texts are nowhere in the log"
            yield NotKnown(deed.episode, deed.seq, "redacted", detail, deed.tool)


def _of_the_whole(events: Sequence[Event], ledger: Sequence[Deed], seen: _Seen, *, running: bool) -> Iterator[NotKnown]:
    episode, last = events[-1].episode, events[-1].seq
    if running and seen.ended is None:
        yield NotKnown(episode, last, "running", f"no end is recorded; its last event is of {_time(events[-1].at)}")
    elif not running and (seen.ended is None or seen.ended.outcome == "interrupted"):
        why = "no end is recorded" if seen.ended is None else f"ended as interrupted: {seen.ended.reason}"
        ends = next((event.seq for event in reversed(events) if isinstance(event.body, EpisodeEnded)), last)
        yield NotKnown(episode, ends, "interrupted", why)
    if seen.erased:
        yield NotKnown(episode, seen.erased[0], "erased", f"events {numbers(episode, seen.erased)}")
    if seen.started is not None and seen.started.origin is not None:
        origin = seen.started.origin
        lost = f"; it did not say: {', '.join(origin.losses)}" if origin.losses else ""
        yield NotKnown(episode, 0, "imported", f"from {origin.format} {origin.file}{lost}")
    sent = [deed for deed in ledger if deed.requested_at is not None and deed.effect_declared == Effect.WRITE]
    answered = [deed for deed in sent if deed.completed_at is not None and not deed.erased]
    blind = [deed for deed in answered if deed.state_changed is None]
    if blind:
        tools = ", ".join(f"{tool} {n}" for tool, n in Counter(deed.tool or deed.kind for deed in blind).items())
        yield NotKnown(episode, blind[0].seq, "no_fingerprint", f"whether these changed the state: {tools}")
    yield from _of_the_clock(episode, seen)


def _of_the_clock(episode: str, seen: _Seen) -> Iterator[NotKnown]:
    clock = seen.clock
    if clock.backwards:
        detail = f"{clock.backwards} times the clock went back, by {clock.most_us / 1e6:.6f} s at most"
        yield NotKnown(episode, clock.first, "clock_skew", detail)


def of_row(episode: str, started_at: int, ended_at: int | None, events: int, now: int) -> Iterator[NotKnown]:
    """Yield what an episode's row says of times that cannot be: an end before its start, a start that is still to come.

    A slow clock elsewhere and a database's row are what this tells; the events' own times are in `unknowns`.
    """
    if ended_at is not None and ended_at < started_at:
        detail = f"it ended {_time(ended_at)}, before it began {_time(started_at)}"
        yield NotKnown(episode, events - 1, "clock_skew", detail)
    if started_at > now:
        yield NotKnown(episode, 0, "clock_skew", f"it began {_time(started_at)}, which is still to come")


def _time(at: int) -> str:
    try:
        return datetime.fromtimestamp(at / 1e6, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return f"{at} us"
