"""The event vocabulary: every type that a log may hold, in the past tense. Counterpart of `commands`.

An event is a *header* (no free text) and a *body*. The classes here are both at once: the fields named in
HEADER_FIELDS travel in the header, the others in the body. Each class has a TYPE and a VERSION; its fields
are never changed, only a new version is added, with an upcast in `store/upcasts.py`.
"""

from dataclasses import dataclass, field
from typing import ClassVar

from spectrace.core.types import (
    Action,
    Attempt,
    EnvironmentFacts,
    Message,
    ModelFacts,
    Observation,
    Task,
    ToolSpec,
    Usage,
)

HEADER_FIELDS = ("effect", "authority", "outcome", "tool")
"""Fields of a body class that are lifted into the header."""

UNCOMPARED_FIELDS = frozenset(
    {"latency_us", "first_token_us", "attempts", "provider_id", "idempotency_key", "source", "started_by"}
)
"""Fields that differ between a run and its replay without meaning anything."""

MAX_SEQ = 2**20 - 1
"""seq shares an integer key with the episode's number; reaching this ends the episode truncated."""


@dataclass(frozen=True, slots=True)
class StartedBy:
    """The operating system's word on who started the episode."""

    user: str
    host: str


@dataclass(frozen=True, slots=True)
class Versions:
    """What wrote the log."""

    spectrace: str
    python: str
    redactor: str | None = None


@dataclass(frozen=True, slots=True)
class Parent:
    """Where a child episode comes from. `kind`: fork, reverify, resume."""

    kind: str
    episode: str
    seq: int | None = None
    run: str | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an imported episode comes from, and what its file did not say."""

    format: str
    file: str
    digest: str
    entry: str
    losses: tuple[str, ...] = ()
    extra: str = "{}"
    """What the file says and no event has a field for, as JSON text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeStarted:
    """First event: everything that the generator needs to be run again."""

    TYPE: ClassVar[str] = "episode.started"
    VERSION: ClassVar[int] = 1

    project: str
    labels: tuple[tuple[str, str], ...]
    started_by: StartedBy
    operator: str | None
    task: Task
    task_digest: str
    environment: EnvironmentFacts
    instructions: str
    tools: tuple[ToolSpec, ...]
    tools_digest: str
    protocol: str
    protocol_revision: int
    options: str
    """Every option of the protocol, as JSON text."""
    prompts: str
    """The Prompts value, whole, as JSON text."""
    models: tuple[ModelFacts, ...]
    seed: int | None
    trial: int
    run: str | None
    versions: Versions
    parent: Parent | None = None
    origin: Origin | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateRequested:
    """A model is asked. `position` says what for: `s3.2` a draft, `s3` a review, `s3.r` a repair."""

    TYPE: ClassVar[str] = "generate.requested"
    VERSION: ClassVar[int] = 1

    role: str
    position: str
    messages: tuple[Message, ...]
    tools_digest: str | None
    """Digest of the tools sent natively; None when none are sent."""
    response_schema: str | None
    parameters: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateCompleted:
    """The model answered. `request` is the seq of its generate.requested."""

    TYPE: ClassVar[str] = "generate.completed"
    VERSION: ClassVar[int] = 1

    request: int
    role: str
    message: Message
    reasoning: str | None
    finish_reason: str | None
    model: str | None
    usage: Usage
    latency_us: int | None
    first_token_us: int | None
    attempts: tuple[Attempt, ...]
    provider_id: str | None
    server: str | None
    source: str
    """live, record, cache, edited, import."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateFailed:
    """The model call failed; what arrived before is kept."""

    TYPE: ClassVar[str] = "generate.failed"
    VERSION: ClassVar[int] = 1

    request: int
    role: str
    kind: str
    error: str
    partial_text: str
    usage: Usage
    latency_us: int | None
    attempts: tuple[Attempt, ...]
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActRequested:
    """An action is about to reach the environment."""

    TYPE: ClassVar[str] = "act.requested"
    VERSION: ClassVar[int] = 1

    effect: str
    authority: str
    tool: str | None
    position: str
    action: Action
    requestor: str
    """agent or user."""
    idempotency_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActCompleted:
    """The environment answered. Header outcome: ok or error."""

    TYPE: ClassVar[str] = "act.completed"
    VERSION: ClassVar[int] = 1

    effect: str
    authority: str
    outcome: str
    tool: str | None
    request: int
    position: str
    observation: Observation
    fingerprint_before: str | None
    fingerprint_after: str | None
    latency_us: int | None
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActFailed:
    """No answer came. Header outcome: indeterminate for anything but a read, else error."""

    TYPE: ClassVar[str] = "act.failed"
    VERSION: ClassVar[int] = 1

    effect: str
    authority: str
    outcome: str
    tool: str | None
    request: int
    position: str
    kind: str
    error: str
    latency_us: int | None
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetRequested:
    """The environment is asked to begin the task."""

    TYPE: ClassVar[str] = "reset.requested"
    VERSION: ClassVar[int] = 1

    seed: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetCompleted:
    """The environment began; `messages` open the history."""

    TYPE: ClassVar[str] = "reset.completed"
    VERSION: ClassVar[int] = 1

    request: int
    messages: tuple[Message, ...]
    done: bool
    fingerprint: str | None
    latency_us: int | None
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetFailed:
    """The environment could not begin."""

    TYPE: ClassVar[str] = "reset.failed"
    VERSION: ClassVar[int] = 1

    request: int
    kind: str
    error: str
    latency_us: int | None
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateRequested:
    """The environment is asked for its grade."""

    TYPE: ClassVar[str] = "evaluate.requested"
    VERSION: ClassVar[int] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateCompleted:
    """The grade."""

    TYPE: ClassVar[str] = "evaluate.completed"
    VERSION: ClassVar[int] = 1

    request: int
    reward: str | None
    detail: str
    fingerprint: str | None
    latency_us: int | None
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateFailed:
    """The environment could not grade."""

    TYPE: ClassVar[str] = "evaluate.failed"
    VERSION: ClassVar[int] = 1

    request: int
    kind: str
    error: str
    latency_us: int | None
    source: str


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
    """A segment ended. `reason`: held, k_reads, reply, finish, stalled, unusable_draft, budget.

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
    """Steps leave the history. `reason`: rejected, after_held, after_error, speculation_lost, budget."""

    TYPE: ClassVar[str] = "steps.discarded"
    VERSION: ClassVar[int] = 1

    segment: int
    start: int
    end: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyUnusable:
    """A model's reply could not be read. `next`: asked_again, gave_up."""

    TYPE: ClassVar[str] = "reply.unusable"
    VERSION: ClassVar[int] = 1

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


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts over the episode. Tokens are None where no call of that model said them."""

    steps: int = 0
    segments: int = 0
    weak_calls: int = 0
    strong_calls: int = 0
    user_calls: int = 0
    reviews: int = 0
    rejections: int = 0
    unusable: int = 0
    repairs: int = 0
    writes: int = 0
    reads: int = 0
    discarded: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeEnded:
    """Last event. `status` (completed, truncated, failed, interrupted) is also the header's outcome."""

    TYPE: ClassVar[str] = "episode.ended"
    VERSION: ClassVar[int] = 1

    outcome: str
    reason: str
    answer: str | None
    reward: str | None
    totals: Totals = field(default_factory=Totals)


@dataclass(frozen=True, slots=True)
class Unknown:
    """An event of a type or version that this spectrace does not know: kept and shown, body as decoded JSON text."""

    type: str
    version: int
    body: str


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
    | EpisodeEnded
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
}
"""A database's small integer for each type: outside the chain, appended to, never renumbered."""


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
