"""What verifiers said of recorded segments, as plain records: what every statistic of a re-verification is made of.

Both verdicts beside each other come to one of three courses: the episode would have gone on the same, otherwise, or
nobody knows. An unusable verdict accepts nothing, as the protocol has it (PROTOCOL section 2): its effect is a stop.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["accept", "reject", "unusable", "too_long", "failed", "context_redacted"]
Course = Literal["same", "differs", "unknown"]
Fate = Literal["same", "let_through", "stopped", "unknown"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """One verdict on a segment; a kind beside accept and reject says why there is none."""

    kind: Kind
    accepted: int = 0
    category: str | None = None
    action: str | None = None
    """What the verdict puts in place of the first wrong step, in words that are equal where the actions are; None
    where that takes another model call."""

    @property
    def read(self) -> bool:
        """Whether it is a judgement at all."""
        return self.kind in {"accept", "reject"}


@dataclass(frozen=True, slots=True)
class Review:
    """One recorded review, judged again."""

    task: str
    episode: str
    number: int
    """Its place among the reviews of its episode, from 1."""
    drafted: int
    recorded: Judgement | None
    """None where nobody judged the segment when it was recorded."""
    new: Judgement
    writes: bool = False
    """Whether the segment ends in a write that waits for the verdict."""
    repeat: int = 1
    """Which of several answers to the same question; `repeats` says how they enter the statistics."""


Both = tuple[Review, Judgement, Judgement]
"""A review with the recorded judgement and the new one."""


def compared(reviews: Iterable[Review]) -> list[Both]:
    """Return the reviews that both have judged."""
    return [both for both in asked(reviews) if both[1].read and both[2].read]


def asked(reviews: Iterable[Review]) -> list[Both]:
    """Return the reviews that both were asked about, whether or not either answered."""
    return [(one, one.recorded, one.new) for one in reviews if one.recorded is not None]


def course(recorded: Judgement | None, new: Judgement) -> Course:
    """Say whether an episode would have gone on as it did after this review."""
    if recorded is None or not (_acts(recorded) and _acts(new)):
        return "unknown"
    if recorded.accepted != new.accepted or (recorded.kind == "accept") != (new.kind == "accept"):
        return "differs"
    if recorded.kind == "accept":
        return "same"
    if recorded.action is None and new.action is None:
        return "unknown"  # each would ask its own model for the action
    return "same" if recorded.action == new.action else "differs"


def fate(review: Review) -> Fate | None:
    """Say what becomes of the write that waited for this review; None where none did."""
    if not review.writes:
        return None
    if review.recorded is None or not (_acts(review.recorded) and _acts(review.new)):
        return "unknown"
    ran, runs = review.recorded.kind == "accept", review.new.kind == "accept"
    if ran == runs:
        return "same"
    return "let_through" if runs else "stopped"


def _acts(judgement: Judgement) -> bool:
    """Whether it has an effect that is known: an unusable verdict stops everything."""
    return judgement.read or judgement.kind == "unusable"
