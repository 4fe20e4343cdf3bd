"""What reached the environment or the user without a verdict of the strong model, episode by episode.

Under a protocol with reviews each such act is listed by what it was. Under one without (weak-only, strong-only,
speculative-actions, agentcollab) there is no verdict to miss: its acts are one kind, `no_review`, so that they do not
drown the others. An import tells of no reviews at all: `import`. What a resumed episode took over is its parent's.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from spectrace.core.deeds import RESUME
from spectrace.core.events import (
    ActRequested,
    EffectObserved,
    EpisodeStarted,
    Event,
    SegmentClosed,
    SegmentCommitted,
    StepDrafted,
    ToolsChanged,
    Unknown,
)
from spectrace.core.types import Effect, ToolSpec

KINDS = {
    "write": "A write ran on the authority unreviewed or speculative.",
    "effect_observed": "A declared read changed the state: it had run as a read does, at once.",
    "reply": "A reply reached the user before any verdict.",
    "finish": "A final answer was given without a verdict.",
    "external_read": "A read that sends data to an outside party ran at once.",
    "segment": "A segment was committed without a verdict.",
    "no_review": "An act under a protocol without reviews: no verdict is missing.",
    "import": "An act that a file tells of: on whose authority it ran is not known.",
}
"""Kind -> what it means, the gravest first."""

REVIEWING = "specagent"
_NO_VERDICT = frozenset({"unreviewed", "speculative", "reply", "read", "actor", "unknown"})
"""Authorities that are no verdict, no repair (the strong model's own) and no person's word."""


@dataclass(frozen=True, slots=True)
class Unreviewed:
    """One act, or one segment, that no verdict covers."""

    episode: str
    seq: int
    kind: str
    detail: str
    tool: str | None = None
    segment: int | None = None


@dataclass(slots=True)
class _Told:
    """What is known of an episode so far."""

    reviewing: bool = False
    imported: bool = False
    external: frozenset[str] = frozenset()
    until: int = -1
    """Up to which event a resumed episode has its parent's record."""

    def begin(self, body: EpisodeStarted) -> None:
        self.reviewing = body.protocol == REVIEWING
        self.imported = body.origin is not None
        self.learn(body.tools)
        if body.parent is not None and body.parent.kind == RESUME:
            self.until = -1 if body.parent.seq is None else body.parent.seq

    def learn(self, tools: Sequence[ToolSpec]) -> None:
        self.external = frozenset(tool.name for tool in tools if tool.external)


def unreviewed(events: Iterable[Event]) -> Iterator[Unreviewed]:
    """Yield what ran without a verdict, in order; of erased events what their headers tell."""
    told, steps, closed = _Told(), dict[int, dict[int, StepDrafted]](), dict[int, str]()
    for event in events:
        if event.seq and event.seq <= told.until:
            continue
        match event.body:
            case EpisodeStarted() as body:
                told.begin(body)
            case ActRequested() as body:
                if (kind := _kind(told, body.effect, body.authority, body.tool)) is not None:
                    segment = _segment_of(body.position)
                    detail = f"{_what(body.tool, body.effect)} at {body.position}, on the authority {body.authority}"
                    yield Unreviewed(event.episode, event.seq, kind, detail, body.tool, segment)
            case StepDrafted() as body:
                steps.setdefault(body.segment, {})[body.index] = body
            case SegmentClosed(segment=segment, reason=reason):
                closed[segment] = reason
            case SegmentCommitted(segment=segment, start=start, end=end, reviewed="no"):
                drafted = [steps.get(segment, {}).get(index) for index in range(start, end + 1)]
                detail = _held(drafted, closed.get(segment))
                yield Unreviewed(event.episode, event.seq, "segment", detail, None, segment)
            case ToolsChanged(tools=tools):
                told.learn(tools)
            case EffectObserved() as body:
                kind = "no_review" if body.authority == "actor" and not told.reviewing else "effect_observed"
                detail = f"{body.tool} was declared a read and changed the state, on the authority {body.authority}"
                yield Unreviewed(event.episode, event.seq, kind, detail, body.tool)
            case Unknown(erased=True) as body:
                yield from _erased(told, event, body)
            case _:
                pass


def _kind(told: _Told, effect: str, authority: str, tool: str | None) -> str | None:
    """Return what kind of unreviewed act it is; None for what a verdict covers, or for a plain read."""
    if authority not in _NO_VERDICT:
        return None
    external = effect == Effect.READ and tool in told.external
    if effect == Effect.READ and not external:
        return None
    if told.imported and authority == "unknown":
        return "import"
    if not told.reviewing and authority == "actor":
        return "no_review"
    if external:
        return "external_read"
    return effect if effect in KINDS else "write"


def _erased(told: _Told, event: Event, body: Unknown) -> Iterator[Unreviewed]:
    if body.type == ActRequested.TYPE:
        kind = _kind(told, body.effect or Effect.WRITE, body.authority or "unknown", body.tool)
        if kind is not None:
            detail = f"{_what(body.tool, body.effect)} on the authority {body.authority}; its words are erased"
            yield Unreviewed(event.episode, event.seq, kind, detail, body.tool)
    elif body.type == EffectObserved.TYPE:
        detail = f"{body.tool} was declared a read and changed the state; the event is erased"
        yield Unreviewed(event.episode, event.seq, "effect_observed", detail, body.tool)


def _held(drafted: Sequence[StepDrafted | None], reason: str | None) -> str:
    """Say what a segment held that was committed unreviewed."""
    counts = dict.fromkeys(Effect, 0)
    for step in drafted:
        if step is not None:
            counts[Effect(step.effect)] += 1
    gone = sum(step is None for step in drafted)
    said = [f"{n} {effect.value}" if n == 1 else f"{n} {_PLURAL[effect]}" for effect, n in counts.items() if n]
    said += [f"{gone} erased"] if gone else []
    only = "reads only: " if counts[Effect.READ] == len(drafted) else ""
    tools = dict.fromkeys(step.tool for step in drafted if step is not None and step.tool is not None)
    by = f" ({', '.join(tools)})" if tools else ""
    return f"{only}{', '.join(said) or 'no steps'}{by}" + (f"; closed as {reason}" if reason else "")


_PLURAL = {Effect.READ: "reads", Effect.WRITE: "writes", Effect.REPLY: "replies", Effect.FINISH: "final answers"}


def _what(tool: str | None, effect: str | None) -> str:
    return f"{effect} {tool}" if tool is not None else str(effect)


def _segment_of(position: str) -> int | None:
    number = position.partition(".")[0].removeprefix("s")
    return int(number) if number.isascii() and number.isdigit() else None
