"""What the child episode of a re-verification says of itself: what it was to judge, and what it has answered.

A pass over one episode may take several children: one that was killed keeps its verdicts, and the next one judges what
is left. Each names its own segments, so that it replays alone. Counterpart of `reviews`, which knows the parent.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from spectrace.core.events import EpisodeStarted, Event, GenerateFailed, GenerateRequested, VerdictGiven
from spectrace.core.fold import Episode, verdict_of
from spectrace.core.reviews import Review, reviews_of
from spectrace.core.types import Verdict

REVERIFY = "reverify"
"""The protocol name of a re-verification's child episode."""

_POSITION = re.compile(r"s([0-9]{1,9})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Scope:
    """What a child was to judge."""

    only_rejected: bool = False
    repeat: int = 1
    """Which of the times that everything is judged, from 1."""
    segments: tuple[int, ...] | None = None
    """In the order asked; None where it was every selected review, and the pass ended with a prompt too long."""


def scope_of(started: EpisodeStarted) -> Scope:
    """Return what a child was to judge, from its options; what they do not say is as it was before they said it."""
    options = json.loads(started.options)
    found = options if isinstance(options, dict) else {}
    repeat, segments = found.get("repeat"), found.get("segments")
    return Scope(
        only_rejected=found.get("only_rejected") is True,
        repeat=repeat if type(repeat) is int and repeat > 0 else 1,
        segments=tuple(one for one in segments if type(one) is int) if isinstance(segments, list) else None,
    )


def selected(parent: Episode, *, only_rejected: bool) -> list[Review]:
    """Return the reviews that a pass selects: asking, comparing and replaying must all choose the same ones."""
    return [one for one in reviews_of(parent) if not only_rejected or is_rejected(one)]


def is_rejected(review: Review) -> bool:
    """Whether the recorded verdict rejects something."""
    return review.recorded is not None and review.recorded.decision == "reject"


def asked_of(scope: Scope, parent: Episode) -> list[Review]:
    """Return the reviews that a child went through, in its order."""
    reviews = selected(parent, only_rejected=scope.only_rejected)
    if scope.segments is None:
        return reviews
    by_segment = {one.segment: one for one in reviews}
    return [by_segment[segment] for segment in scope.segments if segment in by_segment]


@dataclass(frozen=True, slots=True)
class Said:
    """What a child answered about one segment."""

    segment: int
    seq: int
    """Its verdict.given, or the generate.failed that says that the prompt does not fit."""
    verdict: Verdict | None
    """None: the prompt was too long for the verifier, which is an answer; what failed otherwise is none."""
    asked: int | None
    """The model call that gave it."""


def answers_of(child: Iterable[Event]) -> Iterator[Said]:
    """Yield what a child has answered, each segment once."""
    positions: dict[int, str] = {}
    told: set[int] = set()
    for event in child:
        said = _said(event, positions)
        if said is not None and said.segment not in told:
            told.add(said.segment)
            yield said


def _said(event: Event, positions: dict[int, str]) -> Said | None:
    match event.body:
        case GenerateRequested(position=position):
            positions[event.seq] = position
        case VerdictGiven() as body:
            return Said(body.segment, event.seq, verdict_of(body), body.review)
        case GenerateFailed(kind="context", request=request):
            place = _POSITION.fullmatch(positions.get(request, ""))
            return None if place is None else Said(int(place[1]), event.seq, None, request)
        case _:
            pass
    return None
