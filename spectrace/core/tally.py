"""Totals of an episode, counted one event at a time: by the driver as it writes, and by the fold as it reads.

`store.counting` counts the same in a database, of rows instead of events.
"""

from dataclasses import asdict

from spectrace.core.deeds import FROM_THE_RECORD, RESUME
from spectrace.core.events import (
    ActCompleted,
    Body,
    EpisodeStarted,
    GenerateRequested,
    RepairMade,
    SegmentClosed,
    StepDrafted,
    StepsDiscarded,
    Totals,
    Unknown,
    VerdictGiven,
)
from spectrace.core.taken import Taken
from spectrace.core.types import Effect


class Tally:
    """Totals that grow by one event at a time. The driver and the fold count alike."""

    def __init__(self) -> None:
        """Start from nothing."""
        self._counts = asdict(Totals())
        self._resumed = False
        self._heard = 0
        self._taken = Taken()

    def count(self, body: Body | object) -> None:
        """Count one more event, the next one of its episode.

        What a resumed episode took over was done, and is counted, in the one before it; a fork does it again, but its
        parent's reviews are the parent's.
        """
        if isinstance(body, EpisodeStarted):
            self._resumed = body.parent is not None and body.parent.kind == RESUME
        seq, self._heard = self._heard, self._heard + 1
        self._taken.hear(seq, body)
        if type(body) not in _COUNTED:
            if isinstance(body, Unknown) and body.erased:
                self._count_erased(body)
            return
        if self._resumed and isinstance(body, ActCompleted) and body.source in FROM_THE_RECORD:
            return
        if isinstance(body, VerdictGiven) and self._taken.has(seq, body.review):
            return
        for name, more in _counts(body):
            self._counts[name] += more

    def _count_erased(self, body: Unknown) -> None:
        """Count what the header of an erased event still says: fewer than there were, never others."""
        match body.type, body.effect:
            case ActCompleted.TYPE, (Effect.READ | Effect.WRITE) as effect:
                self._counts[f"{effect}s"] += 1
            case StepDrafted.TYPE, _:
                self._counts["steps"] += 1
            case SegmentClosed.TYPE, _:
                self._counts["segments"] += 1
            case RepairMade.TYPE, _:
                self._counts["repairs"] += 1
            case VerdictGiven.TYPE, _:
                self._counts["reviews"] += 1
                self._counts["rejections"] += body.outcome == "reject"
                self._counts["unusable"] += body.outcome == "unusable"
            case _:
                pass

    @property
    def totals(self) -> Totals:
        """The counts so far."""
        return Totals(**self._counts)


def _counts(body: Body | object) -> tuple[tuple[str, int], ...]:
    """Return which totals an event adds to, and how much."""
    match body:
        case GenerateRequested(who="strong"):
            return (("strong_calls", 1),)
        case GenerateRequested(who="weak"):
            return (("weak_calls", 1),)
        case GenerateRequested():
            return (("user_calls", 1),)
        case StepDrafted():
            return (("steps", 1),)
        case SegmentClosed():
            return (("segments", 1),)
        case VerdictGiven(outcome=outcome):
            return ("reviews", 1), ("rejections", outcome == "reject"), ("unusable", outcome == "unusable")
        case RepairMade(actions=actions):
            return ("repairs", 1), ("steps", len(actions))
        case ActCompleted(effect=Effect.READ):
            return (("reads", 1),)
        case ActCompleted(effect=Effect.WRITE):
            return (("writes", 1),)
        case StepsDiscarded(start=start, end=end):
            return (("discarded", end - start + 1),)
        case _:
            return ()


_COUNTED = {GenerateRequested, StepDrafted, SegmentClosed, VerdictGiven, RepairMade, ActCompleted, StepsDiscarded}
