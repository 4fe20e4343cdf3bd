"""One message of an OpenAI chat, read: what events hold of it, and its shape, from which it is given back as it was.

A shape is the message with HELD (or HELD_JSON) in place of each value that an event holds; the rest stands in it as its
exact text. So null, "" and absent stay three things, and both spellings of reasoning stay what they are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from spectrace.core.types import ToolCall
from spectrace.interchange import json_text, losses
from spectrace.interchange.tau2_messages import Said, results_after

HELD, HELD_JSON = "=", "=json"
"""In a shape: the value is a text that an event holds, or the JSON text that it holds. Neither is JSON itself."""
REASONING = ("reasoning_content", "reasoning")
"""Both are in use; the first that is a text counts as the call's reasoning, the other is kept in the shape."""

Shape = dict[str, object]
"""Member -> HELD, HELD_JSON, its exact JSON text, or (of calls) a list of shapes, and a shape for `function`."""


@dataclass(slots=True)
class Read:
    """The messages of a dialogue, and what was made up for them."""

    said: list[Said] = field(default_factory=list)
    shapes: list[Shape] = field(default_factory=list)
    synthetic: list[str] = field(default_factory=list)
    """Ids of calls that had none."""
    inferred: list[int] = field(default_factory=list)
    """Places of results that named no call and were paired by position."""


def read_messages(texts: Sequence[str], lost: set[str]) -> Read:
    """Read a dialogue's messages; what they do not say is added to `lost`."""
    found = Read()
    given = {identifier for text in texts for identifier in _ids(json_text.members(text))}
    for place, text in enumerate(texts):
        parts = json_text.members(text)
        calls, shapes = _calls(place, parts, given, found) if _is_assistant(parts) else ((), [])
        found.said.append(_said(place, parts, calls, lost))
        found.shapes.append(_shape(parts, shapes))
    _pair(found)
    if found.synthetic:
        lost.add(losses.SYNTHETIC_IDS)
    if found.inferred:
        lost.add(losses.INFERRED_PAIRS)
    return found


def restored(shape: Mapping[str, object], held: Mapping[str, str], calls: Sequence[ToolCall] = ()) -> str:
    """Return a message's JSON text: `held` are the texts of its members that events hold."""
    parts = {}
    for name, value in shape.items():
        match value:
            case str(code) if code in {HELD, HELD_JSON}:
                parts[name] = _spelled(code, held[name])
            case str(text):
                parts[name] = text
            case list(shapes):
                parts[name] = json_text.joined_items(
                    [_restored_call(one, call) for one, call in zip(shapes, calls, strict=True)]
                )
    return json_text.joined(parts)


def _restored_call(shape: object, call: ToolCall) -> str:
    if isinstance(shape, str):
        return shape
    held = {"id": call.id, "name": call.name, "arguments": call.arguments}
    parts = {}
    for name, value in shape.items() if isinstance(shape, dict) else ():
        if isinstance(value, dict):
            inner = {key: _spelled(text, held.get(key, "")) for key, text in value.items()}
            parts[name] = json_text.joined(inner)
        else:
            parts[name] = _spelled(value, held.get(name, ""))
    return json_text.joined(parts)


def _spelled(code: str, text: str) -> str:
    """Return the JSON text of a value: what an event holds, or what stands in the shape."""
    return json_text.quoted(text) if code == HELD else text if code == HELD_JSON else code


def _ids(parts: Mapping[str, str]) -> list[str]:
    calls = [json_text.members(call) for call in _items(parts.get("tool_calls")) if json_text.is_object(call)]
    return [identifier for call in calls if (identifier := json_text.string(call.get("id")))]


def _said(place: int, parts: Mapping[str, str], calls: tuple[ToolCall, ...], lost: set[str]) -> Said:
    content = parts.get("content")
    if content is not None and content != "null" and not content.startswith('"'):
        lost.add(losses.CONTENT_NOT_TEXT)
    else:
        content = json_text.string(content)
    role = json_text.string(parts.get("role")) or ""
    if role == "tool":
        lost.add(losses.NO_ERROR_FLAGS)
    if "function_call" in parts:
        lost.add(losses.FUNCTION_CALLS)
    spelled = _reasoning(parts)
    reasoning = {"reasoning": parts[spelled[0]]} if spelled else {}
    identifier = json_text.string(parts.get("tool_call_id")) or ""
    failed = role == "tool" and (content or "").startswith("Error")
    return Said(place, role, content, calls, identifier, failed, None, None, reasoning)


def _is_assistant(parts: Mapping[str, str]) -> bool:
    return json_text.string(parts.get("role")) == "assistant"


def _reasoning(parts: Mapping[str, str]) -> list[str]:
    """Return the name of the member that holds the reasoning, if one does."""
    return [name for name in REASONING if json_text.string(parts.get(name)) is not None][:1]


def _shape(parts: Mapping[str, str], calls: list[object]) -> Shape:
    shape: Shape = dict(parts)
    content = parts.get("content")
    if json_text.string(content) is not None:
        shape["content"] = HELD
    elif content is not None and content != "null":
        shape["content"] = HELD_JSON
    if _is_assistant(parts):
        shape |= dict.fromkeys(_reasoning(parts), HELD)
    if calls:
        shape["tool_calls"] = calls
    return shape


def _calls(
    place: int, parts: Mapping[str, str], given: set[str], found: Read
) -> tuple[tuple[ToolCall, ...], list[object]]:
    """Return a message's calls and their shapes; a call without an id gets one made from its place."""
    calls, shapes = [], list[object]()
    for number, text in enumerate(_items(parts.get("tool_calls")), 1):
        members = json_text.members(text) if json_text.is_object(text) else {}
        function = json_text.members(members["function"]) if json_text.is_object(members.get("function")) else None
        identifier = json_text.string(members.get("id")) or ""
        shape: Shape = dict(members)
        if identifier:
            shape["id"] = HELD
        else:
            identifier = _made_up(place, number, given)
            found.synthetic.append(identifier)
        if function is None:  # no call of a function: kept whole, and what it calls is its own JSON
            calls.append(ToolCall(identifier, json_text.string(members.get("type")) or "unknown", text))
            shapes.append(text)
            continue
        call, inner = _function(identifier, function)
        calls.append(call)
        shapes.append({**shape, "function": inner})
    return tuple(calls), shapes


def _function(identifier: str, function: Mapping[str, str]) -> tuple[ToolCall, Shape]:
    """Return a call of a function; arguments that a file holds as an object are its text."""
    name, arguments = json_text.string(function.get("name")), function.get("arguments")
    text = json_text.string(arguments)
    shape: Shape = dict(function)
    if name is not None:
        shape["name"] = HELD
    if arguments is not None and arguments != "null":
        shape["arguments"] = HELD_JSON if text is None else HELD
    held = text if text is not None else arguments if arguments is not None and arguments != "null" else ""
    return ToolCall(identifier, name or "", held), shape


def _made_up(place: int, number: int, given: set[str]) -> str:
    """Return an id for a call that has none: the same on every reading, and no other call's."""
    identifier = f"synthetic-{place + 1}.{number}"
    while identifier in given:
        identifier += "'"
    return identifier


def _pair(found: Read) -> None:
    """Let results that name no call answer those calls before them that no result names, in their order."""
    for said in [one for one in found.said if one.calls]:
        results = results_after(found.said, said.place)
        named = {result.call_id for result in results}
        free = [call.id for call in said.calls if call.id not in named]
        for result, identifier in zip([one for one in results if not one.call_id], free, strict=False):
            found.said[result.place] = replace(result, call_id=identifier)
            found.inferred.append(result.place)


def _items(text: str | None) -> list[str]:
    return json_text.items(text or "[]") if json_text.is_array(text) else []
