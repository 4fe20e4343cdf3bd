"""The Environment port: what a protocol acts on. Every adapter beside this file implements it.

An environment never calls a model. `reset`, `act` and `evaluate` may return NeedsModel; the driver asks that model
as a recorded call and hands the completion to `resume`, which answers for the pending question.
One instance serves one episode at a time; `config` makes a fresh one for each. An environment whose state outlives its
process (a real database, a service) may be `Attachable` as well: then an interrupted episode can be gone on with.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from spectrace.core.classified import Classify
from spectrace.core.types import (
    Action,
    Call,
    Completion,
    Effect,
    EnvironmentFacts,
    Evaluation,
    NeedsModel,
    Observation,
    Opening,
    Task,
    ToolSpec,
)


class Environment(Protocol):
    """Something that an agent acts on."""

    def tasks(self) -> tuple[Task, ...]:
        """Return every task that this environment offers, in a stable order."""
        ...

    def prepare(self, task: Task) -> EnvironmentFacts:
        """Load what the task needs and say what is here; the initial fingerprint included. Before `reset`."""
        ...

    def instructions(self, task: Task) -> str:
        """Return the policy and instructions that every model is shown."""
        ...

    def tools(self) -> tuple[ToolSpec, ...]:
        """Return the agent's tools with their effects, in a stable order."""
        ...

    async def reset(self, seed: int | None) -> Opening | NeedsModel:
        """Begin the prepared task from its initial state."""
        ...

    async def act(self, action: Action, requestor: str = "agent") -> Observation | NeedsModel:
        """Do the action. A tool's own error is an Observation with `error`; no answer at all is EnvironmentFailed."""
        ...

    async def resume(self, completion: Completion) -> Opening | Observation | Evaluation | NeedsModel:
        """Go on with the pending question after NeedsModel."""
        ...

    async def evaluate(self) -> Evaluation | NeedsModel:
        """Grade the final state."""
        ...

    def fingerprint(self) -> str | None:
        """Return a digest (`sha256:...`) of the whole state, or None where there is none."""
        ...

    def check(self, action: Action) -> str | None:
        """Return an objection to the action (an id never seen, ...), or None."""
        ...

    async def close(self) -> None:
        """Release what the episode held."""
        ...


@runtime_checkable
class Classifying(Environment, Protocol):
    """An environment some of whose tools have classifiers: their `effect_by` is `classifier:NAME`."""

    def classify(self, call: Call) -> Effect:
        """Return the effect of a call by its arguments; a write where that cannot be told. Raises nothing."""
        ...


def classifier_of(environment: Environment) -> Classify | None:
    """Return what says the effect of calls by their arguments, if the environment has such a thing."""
    return environment.classify if isinstance(environment, Classifying) else None


@runtime_checkable
class Attachable(Environment, Protocol):
    """An environment that can take up a task that another process began. `prepare` touches no state here: `reset` does.

    That it can be attached to says nothing of `restore`: the state is there once, and nothing in it is done again.
    """

    async def attach(self, task: Task, seed: int | None, done: Sequence[tuple[Action, Observation]]) -> str | None:
        """Take up the prepared task as it stands, executing nothing; return the state's fingerprint, if it has one.

        `done` are the actions that reached the environment, in order: what it knew of the episode besides its state
        (ids seen, the final answer) is made again from them. Takes the place of `reset`. Raises EnvironmentFailed where
        the state is not there.
        """
        ...
