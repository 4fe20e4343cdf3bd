"""The event vocabulary: every type that a log may hold, in the past tense. Counterpart of `commands`.

The classes stand in `episode_events`, `question_events`, `fact_events`, `rival_events` and `admin_events`; this module
is their union.
An event is a *header* (no free text) and a *body*. The classes here are both at once: the fields named in
HEADER_FIELDS travel in the header, the others in the body. Each class has a TYPE and a VERSION; its fields
are never changed, only a new version is added, with an upcast in `store/upcasts.py`.
"""

from dataclasses import dataclass, field

from spectrace.core.admin_events import (
    AdminBegun,
    AdminBody,
    AdminCopied,
    AdminErased,
    AdminImported,
    AdminKeyChanged,
    AdminOpened,
    AdminRestored,
    AdminUnpacked,
    AdminUpgraded,
)
from spectrace.core.episode_events import EpisodeEnded, EpisodeStarted, Origin, Parent, StartedBy, Totals, Versions
from spectrace.core.fact_events import (
    ActionChecked,
    ActionHeld,
    EffectObserved,
    OutcomeSettled,
    RepairMade,
    ReplyUnusable,
    SegmentClosed,
    SegmentCommitted,
    StateMoved,
    StepDrafted,
    StepsDiscarded,
    ToolsChanged,
    VerdictGiven,
)
from spectrace.core.question_events import (
    ActCompleted,
    ActFailed,
    ActRequested,
    EvaluateCompleted,
    EvaluateFailed,
    EvaluateRequested,
    GenerateCompleted,
    GenerateFailed,
    GenerateRequested,
    ResetCompleted,
    ResetFailed,
    ResetRequested,
)
from spectrace.core.rival_events import ControlPassed, PlanMade, ProgressJudged, SpeculationMatched, StepSpeculated

HEADER_FIELDS = ("effect", "authority", "outcome", "tool")
"""Fields of a body class that are lifted into the header."""

UNCOMPARED_FIELDS = frozenset(
    {"latency_us", "first_token_us", "attempts", "provider_id", "idempotency_key", "source", "started_by"}
)
"""Fields that differ between a run and its replay without meaning anything."""

MAX_SEQ = 2**20 - 1
"""seq shares an integer key with the episode's number; reaching this ends the episode truncated."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """An event without a body that can be told: of a type or version that is not known here, or erased.

    Kept and shown. Of an erased one, all that is left of it is its header.
    """

    type: str
    version: int
    body: str
    """As decoded JSON text; `null` where it is erased."""
    effect: str | None = field(default=None, compare=False)
    authority: str | None = field(default=None, compare=False)
    outcome: str | None = field(default=None, compare=False)
    tool: str | None = field(default=None, compare=False)

    @property
    def erased(self) -> bool:
        """Whether its body is gone."""
        return self.body == "null"


Body = (
    EpisodeStarted
    | GenerateRequested
    | GenerateCompleted
    | GenerateFailed
    | ActRequested
    | ActCompleted
    | ActFailed
    | ResetRequested
    | ResetCompleted
    | ResetFailed
    | EvaluateRequested
    | EvaluateCompleted
    | EvaluateFailed
    | StepDrafted
    | ActionHeld
    | ActionChecked
    | SegmentClosed
    | VerdictGiven
    | SegmentCommitted
    | StepsDiscarded
    | ReplyUnusable
    | RepairMade
    | ToolsChanged
    | EffectObserved
    | StateMoved
    | OutcomeSettled
    | StepSpeculated
    | SpeculationMatched
    | PlanMade
    | ProgressJudged
    | ControlPassed
    | EpisodeEnded
    | AdminBody
)

TYPE_NUMBERS: dict[type[Body], int] = {
    EpisodeStarted: 1,
    EpisodeEnded: 2,
    ResetRequested: 3,
    ResetCompleted: 4,
    ResetFailed: 5,
    GenerateRequested: 6,
    GenerateCompleted: 7,
    GenerateFailed: 8,
    ActRequested: 9,
    ActCompleted: 10,
    ActFailed: 11,
    EvaluateRequested: 12,
    EvaluateCompleted: 13,
    EvaluateFailed: 14,
    StepDrafted: 15,
    ActionHeld: 16,
    ActionChecked: 17,
    SegmentClosed: 18,
    VerdictGiven: 19,
    SegmentCommitted: 20,
    StepsDiscarded: 21,
    RepairMade: 22,
    ReplyUnusable: 23,
    ToolsChanged: 24,
    EffectObserved: 25,
    StateMoved: 26,
    OutcomeSettled: 27,
    AdminOpened: 28,
    AdminUpgraded: 29,
    AdminRestored: 30,
    AdminImported: 31,
    AdminUnpacked: 32,
    AdminCopied: 33,
    AdminBegun: 34,
    StepSpeculated: 35,
    SpeculationMatched: 36,
    PlanMade: 37,
    ProgressJudged: 38,
    ControlPassed: 39,
    AdminErased: 40,
    AdminKeyChanged: 41,
}
"""A database's small integer for each type: outside the chain, appended to, never renumbered.

Of the types from 35 on a database may have another number: one that it gave out before this spectrace knew the type.
"""


@dataclass(frozen=True, slots=True)
class Event:
    """One recorded event: position, time (UTC microseconds) and what happened."""

    episode: str
    seq: int
    lane: str
    at: int
    body: "Body | Unknown"

    @property
    def type(self) -> str:
        """The type's name, e.g. `verdict.given`."""
        return self.body.type if isinstance(self.body, Unknown) else self.body.TYPE

    @property
    def version(self) -> int:
        """The type's version."""
        return self.body.version if isinstance(self.body, Unknown) else self.body.VERSION


__all__ = [
    "HEADER_FIELDS",
    "MAX_SEQ",
    "TYPE_NUMBERS",
    "UNCOMPARED_FIELDS",
    "ActCompleted",
    "ActFailed",
    "ActRequested",
    "ActionChecked",
    "ActionHeld",
    "AdminBegun",
    "AdminBody",
    "AdminCopied",
    "AdminErased",
    "AdminImported",
    "AdminKeyChanged",
    "AdminOpened",
    "AdminRestored",
    "AdminUnpacked",
    "AdminUpgraded",
    "Body",
    "ControlPassed",
    "EffectObserved",
    "EpisodeEnded",
    "EpisodeStarted",
    "EvaluateCompleted",
    "EvaluateFailed",
    "EvaluateRequested",
    "Event",
    "GenerateCompleted",
    "GenerateFailed",
    "GenerateRequested",
    "Origin",
    "OutcomeSettled",
    "Parent",
    "PlanMade",
    "ProgressJudged",
    "RepairMade",
    "ReplyUnusable",
    "ResetCompleted",
    "ResetFailed",
    "ResetRequested",
    "SegmentClosed",
    "SegmentCommitted",
    "SpeculationMatched",
    "StartedBy",
    "StateMoved",
    "StepDrafted",
    "StepSpeculated",
    "StepsDiscarded",
    "ToolsChanged",
    "Totals",
    "Unknown",
    "VerdictGiven",
    "Versions",
]
