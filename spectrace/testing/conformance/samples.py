"""Arguments for a tool that nobody gave a call of: the smallest that fit its schema, and some that do not."""

import json
from collections.abc import Iterator, Sequence

from spectrace.core.reading import arguments_objection
from spectrace.core.types import Call, Effect, ToolSpec

HOSTILE = "a\x00b \x1b[31m [red]<script>alert(1)</script> \u202e ``` {{x}} {x} %s </s> <|im_end|>"
_WRONG = ("not JSON", "[]", "{}", '{"no_such_argument": 1}', '{"a": 1, "a": 2}', '{"a": NaN}')
_DEEP = 5


def reads(tools: Sequence[ToolSpec]) -> tuple[Call, ...]:
    """Return a call of each read that arguments can be made up for. Writes are never made up."""
    made = (fitting(tool) for tool in tools if tool.effect is Effect.READ and not tool.external)
    return tuple(call for call in made if call is not None)


def fitting(tool: ToolSpec, text: str = "x") -> Call | None:
    """Return a call with the smallest arguments that fit, every text in it being `text`; None where none was found."""
    try:
        arguments = json.dumps(_smallest(json.loads(tool.parameters), text, 0))
    except (ValueError, RecursionError):
        return None
    return Call(tool.name, arguments) if arguments_objection(tool.parameters, arguments) is None else None


def misfits(tool: ToolSpec) -> Iterator[Call]:
    """Yield calls whose arguments break the tool's schema."""
    for arguments in _WRONG:
        if arguments_objection(tool.parameters, arguments) is not None:
            yield Call(tool.name, arguments)


def _smallest(schema: object, text: str, depth: int) -> object:
    match schema:
        case _ if depth > _DEEP:
            return None
        case {"const": value} | {"enum": [value, *_]} | {"examples": [value, *_]} | {"default": value}:
            return value
        case {"anyOf": [first, *_]} | {"oneOf": [first, *_]}:
            return _smallest(first, text, depth)
        case {"type": "string"}:
            return text
        case {"type": "integer" | "number", **rest}:
            return rest.get("minimum", 1)
        case {"type": "boolean"}:
            return False
        case {"type": "array"}:
            return []
        case {"type": "object", **rest} | {"properties": dict(), **rest}:
            properties, required = rest.get("properties", {}), rest.get("required", [])
            if not isinstance(properties, dict) or not isinstance(required, list):
                return {}
            return {name: _smallest(properties.get(name), text, depth + 1) for name in required}
        case _:
            return None
