"""What a replay says where it leaves the record: the event, both sides, why most likely, and what comes nearest.

A cause is read off the two sides and off what the caller changed, never off the clock or the code: it is a lead, not
a verdict, and says so by naming what to look at.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from spectrace.core import compare
from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    ActRequested,
    Body,
    EvaluateCompleted,
    Event,
    GenerateCompleted,
    GenerateRequested,
    ResetCompleted,
    SegmentClosed,
    Unknown,
)

_NEAREST = 3
_LOOKED_AT = 500
"""Events closest by number; comparing thousands of long prompts would take longer than the replay."""
_PATHS = 3
_OPTION_OF = {"k_reads": "k", "stalled": "stall", "reply": "hold", "held": "hold", "finish": "finish"}
"""The option that decides whether a segment closes for that reason."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """A recorded event of the type that this run came to, elsewhere in the record; `differs` is empty where equal."""

    seq: int
    name: str
    differs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a replay left the record."""

    seq: int
    field: str
    """A path as in a JSON pointer; empty where another kind of event came."""
    recorded: str
    found: str
    cause: str = ""
    nearest: tuple[Nearest, ...] = ()


def named(body: Body | Unknown) -> str:
    """Return what an event is, in short: `generate.requested(reviewer)`, `act.requested(cancel_order)`."""
    type_ = body.type if isinstance(body, Unknown) else body.TYPE
    part = _part(body)
    short = isinstance(body, (SegmentClosed, ActRequested)) or hasattr(body, "role")
    return f"{type_}({part})" if part and short else type_


def _part(body: object) -> str | None:
    """Return what tells an event from others of its type."""
    return getattr(body, "role", None) or getattr(body, "tool", None) or getattr(body, "reason", None)


def likely_cause(recorded: Event, found: Body, field: str, before: Event | None, changes: Sequence[str]) -> str:
    """Return why, most likely. `before` is what was recorded just before it in its lane."""
    if changes:
        return f"Changed here: {'; '.join(changes)}."
    if recorded.type != found.TYPE:
        return _another_way(recorded, found, before)
    match recorded.body, found:
        case GenerateRequested() as was, GenerateRequested() as now:
            return _question(was, now, field)
        case ((ActCompleted() | ActFailed() | ResetCompleted() | EvaluateCompleted()), _):
            return "The environment answered differently: another version, other data, or an altered record."
        case _:
            return _read_otherwise(before) or "The protocol decides differently than the recorded version."


def _another_way(recorded: Event, found: Body, before: Event | None) -> str:
    for body in (recorded.body, found):
        if isinstance(body, SegmentClosed) and body.reason in _OPTION_OF:
            side, option = "recorded" if body is recorded.body else "present", _OPTION_OF[body.reason]
            return f"The {side} segment closes ({body.reason}), the other goes on: look at option {option}."
    return _read_otherwise(before) or "The protocol or the parser took another way than the recorded version."


def _read_otherwise(before: Event | None) -> str:
    if before is None or not isinstance(before.body, GenerateCompleted):
        return ""
    return f"The reply of event {before.seq} is read otherwise: the parser changed, or the record was altered."


def _question(was: GenerateRequested, now: GenerateRequested, field: str) -> str:
    tools = [*_tools_told_otherwise(was, now)] or [*_tools_of_another_schema(was, now)]
    if tools:
        return f"Tool {', '.join(tools)} changed: its name, description or schema."
    if field.startswith("/parameters"):
        return "The model's parameters changed."
    if field == "/tools_digest":
        return "A tool changed: its name, description, schema or effect."
    return "The prompts or their rendering changed: replay with the recorded prompts."


def _tools_told_otherwise(was: GenerateRequested, now: GenerateRequested) -> Iterator[str]:
    """Yield the tools whose line in the system prompt is another one; a line is `name(parameters): description`."""
    recorded, found = (dict(_lines(body)) for body in (was, now))
    schemas = {*_by_tool(was.response_schema), *_by_tool(now.response_schema)}
    for name in schemas:
        if recorded.get(name) != found.get(name):
            yield name


def _lines(body: GenerateRequested) -> Iterator[tuple[str, str]]:
    text = body.messages[0].content if body.messages else ""
    for line in text.splitlines():
        name, bracket, _ = line.partition("(")
        if bracket:
            yield name, line


def _tools_of_another_schema(was: GenerateRequested, now: GenerateRequested) -> Iterator[str]:
    recorded, found = _by_tool(was.response_schema), _by_tool(now.response_schema)
    for name in {**recorded, **found}:
        if recorded.get(name) != found.get(name):
            yield name


def _by_tool(schema: str | None) -> Mapping[str, object]:
    """Return the branches of an action's schema by their tool."""
    try:
        root = json.loads(schema or "{}")
    except (ValueError, RecursionError):  # a record may hold anything
        return {}
    branches = root.get("anyOf") if isinstance(root, dict) else None
    found: dict[str, object] = {}
    for branch in branches if isinstance(branches, list) else ():
        match branch:
            case {"properties": {"tool": {"const": str(name)}}}:
                found[name] = branch
            case _:
                pass
    return found


def nearest(events: Sequence[Event], at: int, found: Body) -> tuple[Nearest, ...]:
    """Return the recorded events that come nearest to what this run came to, the one that it stands for left out."""
    same_type = (event for event in events if event.seq != at and event.type == found.TYPE)
    others = sorted(same_type, key=lambda event: abs(event.seq - at))[:_LOOKED_AT]
    ranked = sorted(
        ((compare.differences(event.body, found), event) for event in others),
        key=lambda one: (_part(one[1].body) != _part(found), len(one[0]), abs(one[1].seq - at)),
    )
    return tuple(
        Nearest(event.seq, named(event.body), tuple(path for path, _, _ in differs[:_PATHS]))
        for differs, event in ranked[:_NEAREST]
    )
