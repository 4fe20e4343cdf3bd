"""Questions and their answers: `generate.*`, `act.*`, `reset.*`, `evaluate.*`. Part of the vocabulary of `events`."""

from dataclasses import dataclass
from typing import ClassVar

from spectrace.core.types import Action, Attempt, Message, Observation, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateRequested:
    """A model is asked. `position` says what for: `s3.2` a draft, `s3` a review, `s3.r` a repair."""

    TYPE: ClassVar[str] = "generate.requested"
    VERSION: ClassVar[int] = 1

    role: str
    who: str
    """Which of the episode's models: weak, strong, user or judge."""
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
