"""The reviews of a re-verification as the statistics take them: with task, place, and what became of the held write.

Counterpart of `passes`, which reads a run, and of `stats.agreement` and `stats.survival`, which know no log.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from spectrace.core.fold import Episode, FoldedSegment
from spectrace.core.options import recorded_options
from spectrace.core.prompts import written
from spectrace.core.reviews import Review as Recorded
from spectrace.core.reviews import reviews_of
from spectrace.core.sameness import same_action
from spectrace.core.types import Action, Effect, Verdict
from spectrace.stats.judgements import Judgement, Kind, Review


def episode_reviews(
    episode: Episode, judged: Mapping[int, Verdict | Kind], *, only_rejected: bool = False
) -> Iterator[Review]:
    """Yield an episode's reviews, by segment: the new verdict, or the kind of judgement that stands in its place.

    A segment that `judged` does not name was not to be judged; one that was taken over is its parent's. One whose
    context is erased cannot be judged, whatever was said of it before.
    """
    task = f"{episode.started.environment.name} {episode.started.task_digest}"
    for number, one in enumerate(reviews_of(episode), start=1):
        new: Verdict | Kind | None = "context_redacted" if one.redacted else judged.get(one.segment)
        if new is None or one.taken_over or (only_rejected and not _is_rejected(one)):
            continue
        repairs = _Repairs.of(episode, one)
        yield Review(
            task=task,
            episode=episode.id,
            number=number,
            drafted=len(one.steps),
            recorded=None if one.recorded is None else repairs.judgement(one.recorded),
            new=repairs.judgement(new) if isinstance(new, Verdict) else Judgement(new),
            writes=bool(one.steps) and one.steps[-1].effect is Effect.WRITE and one.steps[-1].observation is None,
        )


def _is_rejected(one: Recorded) -> bool:
    return one.recorded is not None and one.recorded.decision == "reject"


@dataclass(frozen=True, slots=True)
class _Repairs:
    """Which action a rejection of one segment leads to, as far as the record knows."""

    fused: bool
    recorded: Action | None
    """The recorded verdict's replacement."""
    refused: bool
    """Whether the environment, or the tool's schema, had an objection to it."""

    @classmethod
    def of(cls, episode: Episode, review: Recorded) -> "_Repairs":
        fused = (recorded_options(episode.started.options) or {}).get("fused", True) is not False
        repair = next((one.repair for one in episode.segments if _gave(one, review)), None)
        replacement = None if review.recorded is None else review.recorded.replacement
        return cls(fused, replacement, repair is not None and repair.fused_unusable is not None)

    def judgement(self, verdict: Verdict) -> Judgement:
        match verdict.decision:
            case "accept":
                return Judgement("accept", verdict.accepted)
            case "reject":
                return Judgement("reject", verdict.accepted, verdict.category, self._action(verdict.replacement))
            case _:
                return Judgement("unusable")

    def _action(self, replacement: Action | None) -> str | None:
        if replacement is None or not self.fused:
            return None
        if self.recorded is not None and same_action(self.recorded, replacement):
            return None if self.refused else written(self.recorded)
        return written(replacement)


def _gave(segment: FoldedSegment, review: Recorded) -> bool:
    return segment.verdict_seq is not None and segment.verdict_seq == review.verdict_seq
