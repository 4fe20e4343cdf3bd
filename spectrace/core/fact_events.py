"""What a protocol decided: drafts, holds, verdicts, commits, repairs. Part of the vocabulary in `events.py`."""

from dataclasses import dataclass
from typing import ClassVar

from spectrace.core.types import Action, ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDrafted:
    """The drafter (or, under a protocol without review, the actor) wrote a step. `request`: its model call."""

    TYPE: ClassVar[str] = "step.drafted"
    VERSION: ClassVar[int] = 1

    effect: str
    tool: str | None
    segment: int
    index: int
    position: str
    action: Action
    request: int
    objection: str | None = None
    """Why the step was never sent (unknown tool, arguments against the schema): shown as its observation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionHeld:
    """A drafted step was not executed: it waits for the verdict."""

    TYPE: ClassVar[str] = "action.held"
    VERSION: ClassVar[int] = 1

    effect: str
    tool: str | None
    segment: int
    index: int
    position: str
    action: Action


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionChecked:
    """The environment's own check of a replacement; `objection` is None when it has none."""

    TYPE: ClassVar[str] = "action.checked"
    VERSION: ClassVar[int] = 1

    tool: str | None
    action: Action
    objection: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentClosed:
    """A segment ended: held, k_reads, reply, finish, stalled, unusable_draft, effect_observed, budget or failed.

    `dropped` counts the calls of the same message that came after the closing one.
    """

    TYPE: ClassVar[str] = "segment.closed"
    VERSION: ClassVar[int] = 1

    segment: int
    steps: int
    reason: str
    dropped: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictGiven:
    """The strong model's review. Header outcome: accept, reject, unusable. `review`: seq of its last model call."""

    TYPE: ClassVar[str] = "verdict.given"
    VERSION: ClassVar[int] = 1

    outcome: str
    segment: int
    drafted: int
    accepted: int
    category: str | None
    reason: str | None
    replacement: Action | None
    status: str
    cause: str | None
    raw: str
    review: int | None
    probabilities: str | None = None
    """When scored: JSON text of the decimal strings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentCommitted:
    """Steps `start`..`end` (1-based, inclusive) of a segment stay. `reviewed`: yes, no, not_applicable."""

    TYPE: ClassVar[str] = "segment.committed"
    VERSION: ClassVar[int] = 1

    segment: int
    start: int
    end: int
    reviewed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepsDiscarded:
    """Steps leave the history. `reason`: rejected, unusable, after_error, speculation_lost, budget, failed."""

    TYPE: ClassVar[str] = "steps.discarded"
    VERSION: ClassVar[int] = 1

    segment: int
    start: int
    end: int
    reason: str
    repair: bool = False
    """Whether the numbers are those of the segment's repair instead of its draft."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyUnusable:
    """A model's reply broke the form. `next`: asked_again, gave_up, or tolerated (since version 2): it was read.

    `cause` says what was wrong with it, or what was tolerated.
    """

    TYPE: ClassVar[str] = "reply.unusable"
    VERSION: ClassVar[int] = 2

    role: str
    request: int
    cause: str
    next: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairMade:
    """The strong model's own step(s) in place of the first rejected one. `kind`: fused, corrective.

    A corrective turn may hold several actions; they run in order and stop at the first error.
    """

    TYPE: ClassVar[str] = "repair.made"
    VERSION: ClassVar[int] = 1

    tool: str | None
    segment: int
    verdict: int | None
    kind: str
    actions: tuple[Action, ...]
    fused_unusable: str | None
    """Why the verdict's replacement was not used; None when it was, or when there was none to judge."""
    objections: tuple[str | None, ...]
    """For each action: why it was never sent (shown as its observation), or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsChanged:
    """The environment's tools changed in the middle of an episode."""

    TYPE: ClassVar[str] = "tools.changed"
    VERSION: ClassVar[int] = 1

    tools: tuple[ToolSpec, ...]
    tools_digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectObserved:
    """A declared read changed the environment's fingerprint: it counts as an executed, unreviewed write."""

    TYPE: ClassVar[str] = "effect.observed"
    VERSION: ClassVar[int] = 1

    effect: str
    authority: str
    tool: str | None
    request: int
    fingerprint_before: str
    fingerprint_after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StateMoved:
    """The state differed between holding an action and executing it."""

    TYPE: ClassVar[str] = "state.moved"
    VERSION: ClassVar[int] = 1

    position: str
    fingerprint_held: str
    fingerprint_executed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeSettled:
    """A person's later word on an indeterminate write: a new fact, never an edit."""

    TYPE: ClassVar[str] = "outcome.settled"
    VERSION: ClassVar[int] = 1

    authority: str
    outcome: str
    request: int
    evidence: str
