"""What a protocol starts from, and the reply shapes that follow from it.

A Setup is a pure function of `episode.started`: a replay builds the very same one from the record.
"""

import json
import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from spectrace.core.classified import BY, Classify
from spectrace.core.events import EpisodeStarted
from spectrace.core.prompts import PROTOCOL_REVISION, Prompts, Rendered
from spectrace.core.types import (
    Action,
    Call,
    Effect,
    EnvironmentFacts,
    Finish,
    Message,
    ModelFacts,
    Reply,
    Task,
    ToolSpec,
)
from spectrace.errors import Untestable

CATEGORIES = (
    "wrong_tool",
    "wrong_arguments",
    "premature",
    "missing_information",
    "policy_violation",
    "redundant",
    "unsafe",
    "ungrounded",
    "other",
)
"""Why a step is rejected (PROTOCOL section 2)."""


_DEFINITIONS = ("$defs", "definitions")
_LOCAL_REF = re.compile(r"^#/(?:\$defs|definitions)/")


@dataclass(frozen=True)
class Setup:
    """The task, the environment's tools and rules, the prompts and the models of one episode."""

    task: Task
    environment: EnvironmentFacts
    instructions: str
    tools: tuple[ToolSpec, ...]
    prompts: Prompts
    models: tuple[ModelFacts, ...]
    seed: int | None = None
    revision: int = PROTOCOL_REVISION
    """The rules that replies are read by and prompts are rendered by."""
    classify: Classify | None = field(default=None, compare=False)
    """Says the effect of a call whose tool has a classifier; without it such a call has the tool's own, a write."""

    def model(self, role: str) -> ModelFacts:
        """Return the weak, strong or user model."""
        for facts in self.models:
            if facts.role == role:
                return facts
        raise Untestable(f"the protocol asks the {role} model and the episode has none; it has {self._roles()}")

    def _roles(self) -> str:
        return ", ".join(facts.role for facts in self.models) or "no models"

    @cached_property
    def by_name(self) -> dict[str, ToolSpec]:
        """Return the tools by name."""
        return {tool.name: tool for tool in self.tools}

    @cached_property
    def rendered_steps(self) -> Rendered:
        """Return the messages of the steps that were rendered so far."""
        return {}

    @cached_property
    def rendered_systems(self) -> dict[tuple[str, bool], Message]:
        """Return the system prompts that were rendered so far: (template, native) -> message."""
        return {}

    def effect(self, action: Action) -> Effect:
        """Return the action's effect; a tool that nobody declared is a write."""
        match action:
            case Call(tool):
                spec = self.by_name.get(tool)
                if spec is not None and spec.effect_by.startswith(BY) and self.classify is not None:
                    return self.classify(action)
                return Effect.WRITE if spec is None else spec.effect
            case Reply():
                return Effect.REPLY
            case Finish():
                return Effect.FINISH

    def external(self, action: Action) -> bool:
        """Whether the action is a read that sends data to an outside party."""
        return isinstance(action, Call) and action.tool in self.by_name and self.by_name[action.tool].external

    def action_schema(self) -> dict[str, object]:
        """Return the JSON Schema of one action as the models write it."""
        return _action_schema(self._form)

    def action_schema_text(self) -> str:
        """Return it as it is sent: at every step, and alike in every episode of an environment."""
        return _action_schema_text(self._form)

    def verdict_schema(self, drafted: int) -> dict[str, object]:
        """Return the two-branch schema: an accept carries nothing, a reject names a step, so neither can contradict."""
        return _verdict_schema(self._form, drafted)

    def verdict_schema_text(self, drafted: int) -> str:
        """Return it as it is sent."""
        return _verdict_schema_text(self._form, drafted)

    def rejection_schema(self) -> dict[str, object]:
        """Return the schema of what a scored rejection still has to say: which step is wrong is known."""
        branches, definitions = _action_branches(self._form)
        return _with_definitions(_object(_explanation(self._form, branches)), definitions)

    @cached_property
    def _form(self) -> "_Form":
        return _Form(self.tools, self.environment.replies, self.environment.finish, self.prompts.reason_limit)


@dataclass(frozen=True)
class _Form:
    """All that the forms of replies depend on: the key under which their texts are kept."""

    tools: tuple[ToolSpec, ...]
    replies: bool
    finish: bool
    reason_limit: int


def _action_branches(form: _Form) -> tuple[list[object], dict[str, object]]:
    definitions: dict[str, object] = {}
    branches: list[object] = [_call_branch(tool, definitions) for tool in form.tools]
    branches += [_text_branch("reply")] if form.replies else []
    branches += [_text_branch("finish")] if form.finish else []
    return branches, definitions


def _action_schema(form: _Form) -> dict[str, object]:
    branches, definitions = _action_branches(form)
    return _with_definitions({"anyOf": branches}, definitions)


def _verdict_schema(form: _Form, drafted: int) -> dict[str, object]:
    branches, definitions = _action_branches(form)
    reject: dict[str, object] = {
        "verdict": {"const": "reject"},
        "first_wrong": {"enum": list(range(1, drafted + 1))},
        **_explanation(form, branches),
    }
    return _with_definitions({"anyOf": [_object({"verdict": {"const": "accept"}}), _object(reject)]}, definitions)


def _explanation(form: _Form, branches: list[object]) -> dict[str, object]:
    return {
        "category": {"enum": list(CATEGORIES)},
        "reason": {"type": "string", "minLength": 1, "maxLength": form.reason_limit},
        "replacement": {"anyOf": [{"type": "null"}, *branches]},
    }


@lru_cache(maxsize=32)
def _action_schema_text(form: _Form) -> str:
    return json.dumps(_action_schema(form))


@lru_cache(maxsize=256)
def _verdict_schema_text(form: _Form, drafted: int) -> str:
    return json.dumps(_verdict_schema(form, drafted))


def _call_branch(tool: ToolSpec, definitions: dict[str, object]) -> dict[str, object]:
    arguments = _hoisted(json.loads(tool.parameters), tool.name, definitions)
    return _object({"tool": {"const": tool.name}, "arguments": arguments})


def _hoisted(schema: object, owner: str, definitions: dict[str, object]) -> object:
    """Move a tool's own $defs to the root of the schema that it becomes a part of, under its name."""
    match schema:
        case list():
            return [_hoisted(item, owner, definitions) for item in schema]
        case dict():
            kept: dict[str, object] = {}
            for key, value in schema.items():
                if key in _DEFINITIONS and isinstance(value, dict):
                    for name, definition in value.items():
                        definitions[f"{owner}.{name}"] = _hoisted(definition, owner, definitions)
                elif key == "$ref" and isinstance(value, str):
                    kept[key] = _LOCAL_REF.sub(rf"#/$defs/{owner}.", value)
                else:
                    kept[key] = _hoisted(value, owner, definitions)
            return kept
        case _:
            return schema


def _with_definitions(schema: dict[str, object], definitions: dict[str, object]) -> dict[str, object]:
    return {**schema, "$defs": definitions} if definitions else schema


def _text_branch(name: str) -> dict[str, object]:
    return _object({name: {"type": "string", "minLength": 1}})


def _object(properties: dict[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def setup_of(started: EpisodeStarted, classify: Classify | None = None) -> Setup:
    """Build the Setup that an `episode.started` describes."""
    return Setup(
        task=started.task,
        environment=started.environment,
        instructions=started.instructions,
        tools=started.tools,
        prompts=Prompts.from_json(started.prompts),
        models=started.models,
        seed=started.seed,
        revision=started.protocol_revision,
        classify=classify,
    )
