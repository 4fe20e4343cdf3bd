"""A small desk for dialogues: what an episode starts from where a Playbook is given nothing else."""

import json
from collections.abc import Sequence

from spectrace.core.prompts import Prompts
from spectrace.core.setup import Setup
from spectrace.core.types import Effect, EnvironmentFacts, ModelFacts, Task, ToolSpec

SCHEMA = json.dumps(
    {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"], "additionalProperties": False}
)
TOOLS = (
    ToolSpec("look", "Look a thing up.", SCHEMA, Effect.READ, "declared"),
    ToolSpec("search", "Ask an outside party.", SCHEMA, Effect.READ, "declared", external=True),
    ToolSpec("change", "Change a thing.", SCHEMA, Effect.WRITE, "declared"),
)
"""Two reads, one of them at an outside party, and a write."""


def setup(  # noqa: PLR0913 - what an episode starts from, by name
    *,
    tools: Sequence[ToolSpec] = TOOLS,
    request: str = "Change A.",
    instructions: str = "Be careful.",
    calls: str = "json",
    replies: bool = False,
    finish: bool = True,
    prompts: Prompts | None = None,
) -> Setup:
    """Return what an episode on the desk starts from, with two models that write actions as json or native calls."""
    models = tuple(ModelFacts(role, "scripted", role, calls=calls) for role in ("weak", "strong"))
    facts = EnvironmentFacts("desk", "tests", "1", replies=replies, finish=finish)
    return Setup(Task("t1", request), facts, instructions, tuple(tools), prompts or Prompts(), models)
