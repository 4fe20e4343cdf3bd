"""The protocols without review: one model writes and executes every step, on the authority `actor`."""

from dataclasses import dataclass
from itertools import count
from typing import ClassVar

from spectrace.core import commands, roles
from spectrace.core.commands import Protocol, tell
from spectrace.core.events import SegmentCommitted, StepsDiscarded
from spectrace.core.facts import step_drafted
from spectrace.core.reading import objection
from spectrace.core.roles import Budget, Desk, Ended, Written
from spectrace.core.setup import Setup
from spectrace.core.steps import Ledger, finish_episode
from spectrace.core.types import Observation, Outcome, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class _OneModel:
    """One model acts at every step; a message with several calls runs them in order up to the first error."""

    max_steps: int = 60
    max_strong_calls: int | None = None
    max_tokens: int | None = None

    NAME: ClassVar[str]
    MODELS: ClassVar[tuple[str, ...]]

    def run(self, setup: Setup) -> Protocol[Outcome]:
        """Return the generator of one episode."""
        desk = Desk(setup, Budget(self.max_steps, self.max_strong_calls, self.max_tokens))
        return finish_episode(_episode(self.MODELS[0], desk))


@dataclass(frozen=True, slots=True, kw_only=True)
class WeakOnly(_OneModel):
    """The weak model acts alone."""

    NAME: ClassVar[str] = "weak-only"
    MODELS: ClassVar[tuple[str, ...]] = ("weak",)


@dataclass(frozen=True, slots=True, kw_only=True)
class StrongOnly(_OneModel):
    """The strong model acts alone."""

    NAME: ClassVar[str] = "strong-only"
    MODELS: ClassVar[tuple[str, ...]] = ("strong",)


def _episode(who: str, desk: Desk) -> Protocol[Outcome]:
    ledger = Ledger(desk, (yield from commands.reset(desk.setup.seed)))
    for index in count(1):
        if ledger.outcome is not None:
            return ledger.outcome
        written = yield from roles.act_next(desk, who, ledger.history, f"s{index}")
        if written is None:
            raise Ended(Outcome("failed", "unusable_reply"))
        yield from _message(desk, ledger, index, written)
    raise AssertionError  # count() has no end


def _message(desk: Desk, ledger: Ledger, index: int, written: Written) -> Protocol[None]:
    """Execute the actions of one message in order; stop at the first error or at the end of the episode."""
    for number, action in enumerate(written.actions, 1):
        desk.meter.steps += 1
        step, wrong = Step(f"s{index}.{number}", action, desk.setup.effect(action)), objection(desk.setup, action)
        yield from tell(step_drafted(step, index, number, written.request, wrong))
        if wrong is None:
            step, _ = yield from ledger.execute(action, step.effect, "actor", step.position)
        else:  # never sent
            step = Step(step.position, action, step.effect, Observation(wrong, error=True))
        yield from tell(SegmentCommitted(segment=index, start=number, end=number, reviewed="not_applicable"))
        ledger.commit(step)
        failed = step.observation is None or step.observation.error
        if (failed or ledger.outcome is not None) and number < len(written.actions):
            last = len(written.actions)
            yield from tell(StepsDiscarded(segment=index, start=number + 1, end=last, reason="after_error"))
            return
