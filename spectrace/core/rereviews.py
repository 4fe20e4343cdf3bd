"""What the child episode of a re-verification says of itself: what it was to judge, and what it has answered.

A pass over one episode may take several children: one that was killed keeps its verdicts, and the next one judges what
is left. Each names its own segments, so that it replays alone. Counterpart of `reviews`, which knows the parent.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from spectrace.core.events import (
    Body,
    EpisodeStarted,
    Event,
    GenerateFailed,
    GenerateRequested,
    Unknown,
    VerdictGiven,
)
from spectrace.core.fold import Episode, verdict_of
from spectrace.core.options import is_decimal
from spectrace.core.reviews import Review, reviews_of
from spectrace.core.types import Verdict

REVERIFY = "reverify"
"""The protocol name of a re-verification's child episode."""

_POSITION = re.compile(r"s([0-9]{1,9})(?:\.x)?", re.ASCII)
"""Of a review, or of the reason of a scored rejection: whose prompt does not fit has no whole verdict."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What a child was to judge, and how its verdicts are read."""

    only_rejected: bool = False
    repeat: int = 1
    """Which of the times that everything is judged, from 1."""
    segments: tuple[int, ...] | None = None
    """In the order asked; None where it was every selected review, and the pass ended with a prompt too long."""
    verdict: str = "decoded"
    """decoded: written by the verifier; scored: read from its probabilities (PROTOCOL section 6)."""
    threshold: str = "0.5"
    """Of a scored verdict: a step stands from this probability of *yes* on."""

    @property
    def scored_at(self) -> str | None:
        """The threshold that verdicts are read at; None where they are decoded."""
        return self.threshold if self.verdict == "scored" else None


def scope_of(started: EpisodeStarted) -> Scope:
    """Return what a child was to judge, from its options; what they do not say is as it was before they said it."""
    options = json.loads(started.options)
    found = options if isinstance(options, dict) else {}
    repeat, segments, threshold = found.get("repeat"), found.get("segments"), found.get("threshold")
    return Scope(
        only_rejected=found.get("only_rejected") is True,
        repeat=repeat if type(repeat) is int and repeat > 0 else 1,
        segments=tuple(one for one in segments if type(one) is int) if isinstance(segments, list) else None,
        verdict="scored" if found.get("verdict") == "scored" else "decoded",
        threshold=threshold if isinstance(threshold, str) and is_decimal(threshold, Decimal(1)) else "0.5",
    )


def selected(parent: Episode, *, only_rejected: bool) -> list[Review]:
    """Return the reviews that a pass selects: asking and comparing must choose the same ones.

    What an episode took over is judged with the episode that it took it from, and once; what stood in a context of
    which something is erased is not judged any more.
    """
    return [one for one in _every(parent, only_rejected=only_rejected) if not one.taken_over and not one.redacted]


def left_to_parents(parent: Episode, *, only_rejected: bool) -> int:
    """Return how many reviews a pass would select, were they not those of the episode that this one took over."""
    return sum(one.taken_over for one in _every(parent, only_rejected=only_rejected))


def _every(parent: Episode, *, only_rejected: bool) -> list[Review]:
    return [one for one in reviews_of(parent) if not only_rejected or is_rejected(one)]


def is_rejected(review: Review) -> bool:
    """Whether the recorded verdict rejects something."""
    return review.recorded is not None and review.recorded.decision == "reject"


def asked_of(scope: Scope, parent: Episode) -> list[Review]:
    """Return the reviews that a child went through, in its order: once what was taken over was judged as well."""
    reviews = _every(parent, only_rejected=scope.only_rejected)
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
    listening = Listening()
    for event in child:
        said = listening.hear(event.seq, event.body)
        if said is not None:
            yield said


class Listening:
    """Hears a child's events, as they are written or read, and tells its answers."""

    def __init__(self) -> None:
        """Nothing was said yet."""
        self._positions: dict[int, str] = {}
        self._told: set[int] = set()

    def hear(self, seq: int, body: Body | Unknown) -> Said | None:
        """Return the answer that an event is; None for any other, and for a segment's second."""
        said = self._said(seq, body)
        if said is None or said.segment in self._told:
            return None
        self._told.add(said.segment)
        return said

    def _said(self, seq: int, body: Body | Unknown) -> Said | None:
        match body:
            case GenerateRequested(position=position):
                self._positions[seq] = position
            case VerdictGiven():
                return Said(body.segment, seq, verdict_of(body), body.review)
            case GenerateFailed(kind="context", request=request):
                place = _POSITION.fullmatch(self._positions.get(request, ""))
                return None if place is None else Said(int(place[1]), seq, None, request)
            case _:
                pass
        return None
