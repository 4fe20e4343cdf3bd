"""SpecAgent's options, as recorded in `episode.started`, and what follows from them: what is held, what is reviewed."""

from dataclasses import dataclass

from spectrace.core.options import Budgeted
from spectrace.core.roles import Manner
from spectrace.core.setup import Setup
from spectrace.core.types import Action, Effect, Segment

IRREVOCABLE = ("reply", "finish", "effect_observed")
"""Reasons to close with a step that was executed and stands, whatever a review would say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecAgentOptions(Budgeted):
    """The options of PROTOCOL section 2; `options.OPTIONS` says what each does and what the seeds measured."""

    k: int = 6
    acceptance: str = "semantic"
    fused: bool = True
    hold: str = "writes"
    review: str = "held"
    finish: str = "held"
    unreviewed: str = "final"
    max_unreviewed: int | None = None
    stall: str = "review"
    repair_sees: str = "reason"
    feedback: str = "none"
    prompts: str = "shared"
    verdict: str = "decoded"
    threshold: str = "0.5"

    @property
    def manner(self) -> Manner:
        """How the models are asked."""
        return Manner(self.prompts, self.acceptance, self.verdict, self.threshold)

    def holds(self, setup: Setup, action: Action) -> bool:
        """Whether a drafted action waits for the verdict."""
        match setup.effect(action):
            case Effect.WRITE:
                return True
            case Effect.FINISH:
                return self.finish == "held"
            case Effect.REPLY:
                return self.hold == "writes+replies" or self.review == "every"
            case Effect.READ:
                return self.hold == "writes+external" and setup.external(action)

    def reviews(self, segment: Segment, unreviewed: int) -> bool:
        """Whether a closed segment is put to the strong model: never one that ends in what cannot be taken back."""
        if not segment.steps or segment.reason in IRREVOCABLE:
            return False
        overdue = self.max_unreviewed is not None and unreviewed + len(segment.steps) >= self.max_unreviewed
        return segment.reason in {"held", "stalled"} or self.review == "every" or overdue

    def leaves_open(self, segment: Segment) -> bool:
        """Whether a segment that is not reviewed may still be reached by the next review."""
        return self.unreviewed == "revisable" and segment.reason == "k_reads"
