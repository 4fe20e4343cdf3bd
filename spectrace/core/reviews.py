"""The reviews that a recorded episode holds, or could have had: what a re-verification puts to another verifier.

A recording without reviews (one model, or imported) is cut into segments by SpecAgent's own rule. Such a *derived*
review ends at the write: its recorded observation, and all after it, is withheld.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from spectrace.core.commands import Protocol, tell
from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    EffectObserved,
    RepairMade,
    ResetCompleted,
    SegmentCommitted,
    StepDrafted,
    StepsDiscarded,
    VerdictGiven,
)
from spectrace.core.facts import verdict_given
from spectrace.core.fold import Episode, FoldedSegment
from spectrace.core.reviewing import review
from spectrace.core.roles import Desk, Ended
from spectrace.core.sameness import same_action
from spectrace.core.types import Effect, History, Message, Outcome, Step, Verdict
from spectrace.errors import ModelFailed

_SEEN = frozenset(
    cls.TYPE
    for cls in (
        *(ResetCompleted, StepDrafted, ActCompleted, ActFailed, EffectObserved),
        *(VerdictGiven, SegmentCommitted, StepsDiscarded, RepairMade),
    )
)
"""Types of events that a reviewer's context is made of."""


@dataclass(frozen=True, slots=True)
class Review:
    """A segment as its reviewer saw it: the history, the steps (a held one without observation), and the verdict."""

    segment: int
    history: History
    steps: tuple[Step, ...]
    recorded: Verdict | None
    """None where the segment is derived: nobody judged it."""
    verdict_seq: int | None
    derived: bool
    drafted_seq: int = -1
    """The event that drafted its last step; -1 where a foreign log has none."""
    corrected: bool = False
    """Whether its rejection led to a turn of a model: it had no replacement, or one that was refused or not wanted."""

    taken_over: bool = False
    """Whether it is the parent's of a forked or resumed episode: it was judged, or drafted, there."""

    redacted: bool = False
    """Whether something of what its reviewer saw, or its verdict, is erased: nobody can be put in his place."""

    @property
    def key(self) -> int:
        """The event that names this review in its episode: its verdict, or where nobody judged it its last draft."""
        return self.drafted_seq if self.verdict_seq is None else self.verdict_seq


def reviews_of(episode: Episode, k: int = 6) -> list[Review]:
    """Return the recorded reviews; where the episode's protocol has none, the derived ones with segments of k steps.

    A forked or resumed episode has its parent's as well, marked `taken_over`.
    """
    if episode.started.protocol == "specagent":
        found = [_recorded(episode, segment) for segment in episode.segments if segment.verdict_seq is not None]
    else:
        found = list(_derived(episode, k))
    erased = [seq for seq, type_ in episode.erased.items() if type_ in _SEEN]
    return [replace(one, redacted=any(seq <= one.key for seq in erased)) for one in found] if erased else found


def _recorded(episode: Episode, segment: FoldedSegment) -> Review:
    return Review(
        segment=segment.index,
        history=segment.history,
        steps=segment.under_review,
        recorded=segment.verdict,
        verdict_seq=segment.verdict_seq,
        derived=False,
        drafted_seq=max((folded.seq for folded in segment.judged), default=-1),
        corrected=segment.repair is not None and segment.repair.kind == "corrective",
        taken_over=segment.verdict_seq is not None and episode.taken.has(segment.verdict_seq, segment.review),
    )


def _derived(episode: Episode, k: int) -> Iterator[Review]:
    drafted = [folded for segment in episode.segments for folded in segment.steps if folded.fate == "committed"]
    history, segment, numbers = History(_opening(episode)), list[Step](), count(1)
    for folded in drafted:
        step = folded.step
        segment.append(step)
        # What was never sent, for the tool or its schema refused it, is held by nobody: the drafter read why.
        held = step.effect in {Effect.WRITE, Effect.FINISH} and folded.objection is None
        if held:
            under_review = (*segment[:-1], replace(step, observation=None))
            theirs = episode.taken.has(folded.seq, folded.request)
            yield Review(
                next(numbers),
                history,
                under_review,
                None,
                None,
                derived=True,
                drafted_seq=folded.seq,
                taken_over=theirs,
            )
        elif (step.effect is Effect.READ or folded.objection is not None) and len(segment) < k:
            continue
        else:
            next(numbers)  # k reads, or a reply: committed without review
        history, segment = history.then(*segment), []


def _opening(episode: Episode) -> tuple[Message, ...]:
    return episode.history.opening


def rereview(desk: Desk, reviews: Sequence[Review], *, each: bool = False) -> Protocol[Outcome]:
    """Put every review to the verifier that the desk has as its strong model; record each verdict.

    With `each`, a review that has no verdict for a reason of its own (its prompt does not fit, its answer breaks the
    API) keeps none of the others from theirs. A verifier that is gone, or a budget, ends it.
    """
    failed: Outcome | None = None
    for item in reviews:
        try:
            verdict, call = yield from review(desk, item.history, item.steps, f"s{item.segment}")
        except Ended as ended:
            if not each or not _of_its_own(ended.outcome):
                return ended.outcome
            failed = failed or (ended.outcome if ended.outcome.status == "failed" else None)
            continue
        yield from tell(verdict_given(verdict, item.segment, call))
    return failed or Outcome("completed", "reviewed")


def _of_its_own(outcome: Outcome) -> bool:
    """Whether a call had no answer because of what was asked, not because of who was."""
    if outcome.status == "truncated":
        return outcome.reason == "context_reviewer"
    return outcome.reason not in {f"model_strong_{kind}" for kind in ModelFailed.PROVIDER_TROUBLE}


def agrees(recorded: Verdict | None, new: Verdict) -> bool | None:
    """Whether both say the same to `accept everything?`; None where one of them cannot be compared."""
    if recorded is None or "unusable" in {recorded.status, new.status}:
        return None
    return recorded.accepts_all == new.accepts_all


def differs(review: Review, new: Verdict) -> bool:
    """Whether the episode would have gone on differently, or nobody knows: what follows is counterfactual."""
    recorded = review.recorded
    if recorded is None or "unusable" in {recorded.status, new.status}:
        return True
    if recorded.accepted != new.accepted:
        return True
    one, other = recorded.replacement, new.replacement
    # Without a replacement that can be used a model is asked for one, and nobody knows what another one would say.
    if recorded.accepts_all or review.corrected or one is None or other is None:
        return not recorded.accepts_all
    return not same_action(one, other)
