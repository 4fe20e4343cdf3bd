"""What the rivals of SpecAgent decide: guesses, plans, progress, control. Part of the vocabulary in `events.py`.

PROTOCOL section 3: speculative-actions guesses the strong model's next step, agentcollab hands control to and fro.
"""

from dataclasses import dataclass
from typing import ClassVar

from spectrace.core.types import Action


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSpeculated:
    """The weak model guessed a step of the strong one. `launched`: it only reads, and was started (speculative)."""

    TYPE: ClassVar[str] = "step.speculated"
    VERSION: ClassVar[int] = 1

    effect: str
    tool: str | None
    segment: int
    index: int
    position: str
    action: Action
    request: int
    launched: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculationMatched:
    """The strong model's own step at `position` is the guess (seq of its step.speculated): its observation is taken."""

    TYPE: ClassVar[str] = "speculation.matched"
    VERSION: ClassVar[int] = 1

    segment: int
    position: str
    guess: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanMade:
    """The strong model wrote the plan that the weak one works by."""

    TYPE: ClassVar[str] = "plan.made"
    VERSION: ClassVar[int] = 1

    segment: int
    request: int
    plan: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressJudged:
    """The model in control judged its own segment. Header outcome: progress, stagnation, unusable."""

    TYPE: ClassVar[str] = "progress.judged"
    VERSION: ClassVar[int] = 1

    outcome: str
    segment: int
    who: str
    request: int
    reason: str | None
    failures: int
    """Those in a row, this one included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPassed:
    """The next steps are another model's. `reason`: planned, stagnation, budget_spent, progress."""

    TYPE: ClassVar[str] = "control.passed"
    VERSION: ClassVar[int] = 1

    segment: int
    to: str
    reason: str
    steps: int | None
    """How many it may take before it hands back; None: until it stagnates."""
