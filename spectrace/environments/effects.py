"""Effects as declared by a tool's author, and as overridden by the operator.

A declaration is a claim of whoever wrote the tool: an operator may overrule it by tool name, and `effect_by` of the
spec then says so. The third kind, an *observed* effect, is the core's: a declared read that moved the fingerprint.
A tool that sometimes writes is declared a write, or with a classifier of its arguments (`core.classified`), which an
override of its effect switches off.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from spectrace.core.classified import BY
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
from spectrace.environments.environment import Attachable, Environment, classifier_of
from spectrace.environments.volatile import volatile_places
from spectrace.errors import UsageError


@dataclass(frozen=True, slots=True)
class Override:
    """The operator's word on one tool; None leaves the declaration as it is."""

    effect: Effect | None = None
    external: bool | None = None


Overrides = Mapping[str, Override]


def parse_overrides(table: Mapping[str, object]) -> dict[str, Override]:
    """Read `{"tool": "write"}` or `{"tool": {"effect": "read", "external": true}}`, as spectrace.toml has it."""
    return {name: _override(name, value) for name, value in table.items()}


def effective(spec: ToolSpec, overrides: Overrides) -> ToolSpec:
    """Return the spec with the operator's word in place of the declaration, and saying so."""
    override = overrides.get(spec.name)
    if override is None:
        return spec
    external = spec.external if override.external is None else override.external
    if override.effect is None and spec.effect_by.startswith(BY):  # its classifier still decides
        return replace(spec, external=external)
    return replace(spec, effect=override.effect or spec.effect, external=external, effect_by="override")


def unknown_tools(specs: Iterable[ToolSpec], overrides: Overrides) -> tuple[str, ...]:
    """Return the overridden names that no tool has: probably misspelt, so that a write would pass as a read."""
    return tuple(sorted(set(overrides) - {spec.name for spec in specs}))


class Overridden:
    """An environment whose tools carry the operator's overrides; everything else is the environment's own."""

    def __init__(self, environment: Environment, overrides: Overrides) -> None:
        """Wrap the environment."""
        self._environment = environment
        self._overrides = overrides

    def tools(self) -> tuple[ToolSpec, ...]:
        """Return the tools with their effective effects; refuse an override that names no tool."""
        specs = self._environment.tools()
        if unknown := unknown_tools(specs, self._overrides):
            known = ", ".join(spec.name for spec in specs)
            msg = f"effects: expected the names of tools, found {', '.join(unknown)}; the tools are {known}"
            raise UsageError(msg)
        return tuple(effective(spec, self._overrides) for spec in specs)

    def classify(self, call: Call) -> Effect:
        """Return the effect of a call by its arguments, for tools that no override is about."""
        return Effect.WRITE if (classify := classifier_of(self._environment)) is None else classify(call)

    def volatile(self) -> Mapping[str, tuple[str, ...]]:
        """Return the places that differ in the environment's answers."""
        return volatile_places(self._environment)

    def tasks(self) -> tuple[Task, ...]:
        """Return the environment's tasks."""
        return self._environment.tasks()

    def prepare(self, task: Task) -> EnvironmentFacts:
        """Prepare the environment."""
        return self._environment.prepare(task)

    def instructions(self, task: Task) -> str:
        """Return the environment's instructions."""
        return self._environment.instructions(task)

    async def reset(self, seed: int | None) -> Opening | NeedsModel:
        """Reset the environment."""
        return await self._environment.reset(seed)

    async def act(self, action: Action, requestor: str = "agent") -> Observation | NeedsModel:
        """Act on the environment."""
        return await self._environment.act(action, requestor)

    async def resume(self, completion: Completion) -> Opening | Observation | Evaluation | NeedsModel:
        """Resume the environment."""
        return await self._environment.resume(completion)

    async def evaluate(self) -> Evaluation | NeedsModel:
        """Let the environment grade."""
        return await self._environment.evaluate()

    def fingerprint(self) -> str | None:
        """Return the environment's fingerprint."""
        return self._environment.fingerprint()

    def check(self, action: Action) -> str | None:
        """Return the environment's objection."""
        return self._environment.check(action)

    async def close(self) -> None:
        """Close the environment."""
        await self._environment.close()


class OverriddenAttachable(Overridden):
    """The same of an environment that can take up a task that another process began."""

    def __init__(self, environment: Attachable, overrides: Overrides) -> None:
        """Wrap the environment."""
        super().__init__(environment, overrides)
        self._attachable = environment

    async def attach(self, task: Task, seed: int | None, done: Sequence[tuple[Action, Observation]]) -> str | None:
        """Let the environment take the task up."""
        return await self._attachable.attach(task, seed, done)


def overridden(environment: Environment, overrides: Overrides | None) -> Environment:
    """Return the environment with the operator's word on its tools; itself where there is none."""
    if not overrides:
        return environment
    if isinstance(environment, Attachable):
        return OverriddenAttachable(environment, overrides)
    return Overridden(environment, overrides)


def _override(name: str, value: object) -> Override:
    fields = {"effect": value} if isinstance(value, str) else value
    effects = [member.value for member in Effect]
    match fields:
        case {**given} if given and set(given) <= {"effect", "external"}:
            effect, external = given.get("effect"), given.get("external")
            if (effect is None or effect in effects) and (external is None or isinstance(external, bool)):
                return Override(None if effect is None else Effect(effect), external)
    kinds = " | ".join(f'"{effect}"' for effect in effects)
    msg = f"effects: expected {name} = {kinds}, or {{ effect = ..., external = true | false }}, found {value!r}"
    raise UsageError(msg)
