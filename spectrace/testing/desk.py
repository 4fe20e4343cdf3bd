"""A small desk for dialogues: the tools that a Playbook has where nobody gives it any."""

import json

from spectrace.core.types import Effect, ToolSpec

SCHEMA = json.dumps(
    {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"], "additionalProperties": False}
)
TOOLS = (
    ToolSpec("look", "Look a thing up.", SCHEMA, Effect.READ, "declared"),
    ToolSpec("search", "Ask an outside party.", SCHEMA, Effect.READ, "declared", external=True),
    ToolSpec("change", "Change a thing.", SCHEMA, Effect.WRITE, "declared"),
)
"""Two reads, one of them at an outside party, and a write."""
