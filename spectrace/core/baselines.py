"""The protocols without review: one model writes and executes every step, on the authority `actor`.

`take` is how an actor's message is carried out; the rivals (`speculative_actions`, `agentcollab`) do it the same way.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

from spectrace.core import commands, roles
from spectrace.core.commands import Protocol, tell
from spectrace.core.events import SegmentCommitted, StepsDiscarded
from spectrace.core.facts import step_drafted
from spectrace.core.options import Budgeted
from spectrace.core.reading import objection
from spectrace.core.roles import Desk, Ended, Written
from spectrace.core.setup import Setup
from spectrace.core.steps import Ledger, finish_episode
from spectrace.core.types import Observation, Outcome, Step

Execute = Callable[[Step, str | None], Protocol[Step]]
"""Gives a drafted step its observation; the text is why it cannot be sent, if it cannot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _OneModel(Budgeted):
    """One model acts at every step; a message with several calls runs them in order up to the first error."""

    NAME: ClassVar[str]
    MODELS: ClassVar[tuple[str, ...]]

    def run(self, setup: Setup) -> Protocol[Outcome]:
        """Return the generator of one episode."""
        return finish_episode(_episode(self.MODELS[0], Desk(setup, self.budget)))


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
            raise Ended(unreadable())
        yield from take(desk, ledger, index, written)
    raise AssertionError  # count() has no end


def unreadable() -> Outcome:
    """Return how an episode ends whose actor could not be read twice."""
    return Outcome("failed", "unusable_reply")


def take(  # noqa: PLR0913 - one message, where it stands, and how it is carried out
    desk: Desk, ledger: Ledger, segment: int, written: Written, execute: Execute | None = None, before: int = 0
) -> Protocol[tuple[Step, ...]]:
    """Execute the actions of one message in order; stop at the first error or at the end of the episode.

    Return the steps taken. They are numbered on from the `before` steps that the segment already has.
    """
    execute, taken = execute or executes(ledger), tuple[Step, ...]()
    last = before + len(written.actions)
    for number, action in enumerate(written.actions, before + 1):
        desk.meter.steps += 1
        step, wrong = Step(f"s{segment}.{number}", action, desk.setup.effect(action)), objection(desk.setup, action)
        yield from tell(step_drafted(step, segment, number, written.request, wrong))
        step = yield from execute(step, wrong)
        yield from tell(SegmentCommitted(segment=segment, start=number, end=number, reviewed="not_applicable"))
        ledger.commit(step)
        taken = (*taken, step)
        failed = step.observation is None or step.observation.error
        if (failed or ledger.outcome is not None) and number < last:
            yield from tell(StepsDiscarded(segment=segment, start=number + 1, end=last, reason="after_error"))
            break
    return taken


def executes(ledger: Ledger) -> Execute:
    """Return what lets a step reach the environment on the authority `actor`, unless something is wrong with it."""

    def execute(step: Step, wrong: str | None) -> Protocol[Step]:
        if wrong is not None:  # never sent
            return Step(step.position, step.action, step.effect, Observation(wrong, error=True))
        return (yield from ledger.execute(step.action, step.effect, "actor", step.position))[0]

    return execute
