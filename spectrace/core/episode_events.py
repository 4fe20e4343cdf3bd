"""How an episode begins and ends: `episode.started` and `episode.ended`. Part of the vocabulary in `events.py`."""

from dataclasses import dataclass, field
from typing import ClassVar

from spectrace.core.types import EnvironmentFacts, ModelFacts, Task, ToolSpec


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
    unfit: str | None = None
    """Why the entry cannot be a run of the task that it names; None when nothing speaks against it."""
    extra: str = "{}"
    """What the file says and no event has a field for, as JSON text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeStarted:
    """First event: everything that the generator needs to be run again."""

    TYPE: ClassVar[str] = "episode.started"
    VERSION: ClassVar[int] = 2

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
    concurrency: int | None = None
    """Episodes at once in the run that recorded it (since version 2): wall times compare only where it is equal."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts over the episode. Tokens are None where no call of that model said them."""

    # Calls are those that were asked for, one that a budget then refused among them; `audit.spending` has those sent.

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
