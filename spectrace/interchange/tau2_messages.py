"""One message of a τ²-bench simulation, read; and which tool results answer which calls."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from spectrace.core.types import Message, ToolCall, Usage
from spectrace.interchange import json_text, losses

_READ = frozenset({"role", "content", "tool_calls", "id", "error"})
"""Members that event fields hold; the others go to `extra`."""
_CALL_READ = frozenset({"id", "name", "arguments", "requestor"})


@dataclass(frozen=True, slots=True)
class Said:
    """One message as filed."""

    place: int
    role: str
    content: str | None
    calls: tuple[ToolCall, ...]
    call_id: str
    """On a tool message: the id of the call that it answers."""
    error: bool
    at: int | None
    usage: Usage | None
    parts: dict[str, str]
    """Every member's exact text."""

    @property
    def message(self) -> Message:
        """The message as the core has it."""
        if self.role == "tool":
            return Message("tool", self.content or "", call_id=self.call_id)
        return Message(self.role, self.content or "", self.calls)

    @property
    def speaks(self) -> bool:
        """Whether it says something instead of calling tools."""
        return not self.calls and bool((self.content or "").strip())

    def part(self, *path: str) -> str | None:
        """Return the exact text of a member, by path."""
        parts, text = self.parts, None
        for name in path:
            text = parts.get(name)
            parts = json_text.members(text or "{}") if json_text.is_object(text) else {}
        return text

    def rest(self, *, whole: bool) -> dict[str, str]:
        """Return what no event field holds; with `whole` everything, for a message that no event carries."""
        if whole:
            return {name: text for name, text in self.parts.items() if text != "null"}
        rest = {name: text for name, text in self.parts.items() if name not in _READ and text != "null"}
        calls = [_call_rest(call) for call in _items(self.parts.get("tool_calls"))]
        return rest | ({"tool_calls": json_text.joined_items(calls)} if any(call != "{}" for call in calls) else {})


def read_messages(text: str, lost: set[str]) -> list[Said]:
    """Read a simulation's messages; what they do not say is added to `lost`."""
    return [_read(place, json_text.members(item), lost) for place, item in enumerate(_items(text))]


def _read(place: int, parts: dict[str, str], lost: set[str]) -> Said:
    role = json_text.string(parts.get("role")) or "unknown"
    content = _content(parts.get("content"), lost)
    at = microseconds(json_text.string(parts.get("timestamp")), lost)
    if role == "tool" and parts.get("error") not in {"true", "false"}:
        lost.add(losses.NO_ERROR_FLAGS)
        error = (content or "").startswith("Error")
    else:
        error = parts.get("error") == "true"
    calls = tuple(_call(json_text.members(call)) for call in _items(parts.get("tool_calls")))
    identifier = json_text.string(parts.get("id")) or ""
    return Said(place, role, content, calls, identifier, error, at, _usage(parts.get("usage")), parts)


def _content(text: str | None, lost: set[str]) -> str | None:
    if text is None or text == "null" or text.startswith('"'):
        return json_text.string(text)
    lost.add(losses.CONTENT_NOT_TEXT)
    return text


def _call(parts: dict[str, str]) -> ToolCall:
    """Return a call; arguments that a file holds as a string are that string."""
    text = parts.get("arguments", "{}")
    arguments = json_text.string(text) if text.startswith('"') else text
    return ToolCall(json_text.string(parts.get("id")) or "", json_text.string(parts.get("name")) or "", arguments or "")


def _call_rest(text: str) -> str:
    parts = json_text.members(text)
    return json_text.joined({name: value for name, value in parts.items() if name not in _CALL_READ})


def _usage(text: str | None) -> Usage | None:
    if not json_text.is_object(text):
        return None
    counts = json_text.members(text or "{}")
    return Usage(
        input=json_text.integer(counts.get("prompt_tokens")), output=json_text.integer(counts.get("completion_tokens"))
    )


def _items(text: str | None) -> list[str]:
    return json_text.items(text or "[]") if json_text.is_array(text) else []


def microseconds(text: str | None, lost: set[str]) -> int | None:
    """Return UTC microseconds of an ISO 8601 time, or None for none and for what is not one."""
    try:
        time = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    if time.tzinfo is None:
        lost.add(losses.NAIVE_TIMES)
        time = time.replace(tzinfo=UTC)
    since = time - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def results_after(messages: Sequence[Said], place: int) -> list[Said]:
    """Return the tool results that follow a message directly."""
    end = place + 1
    while end < len(messages) and messages[end].role == "tool":
        end += 1
    return list(messages[place + 1 : end])


def paired(calls: Sequence[ToolCall], results: Sequence[Said], lost: set[str]) -> list[Said | None]:
    """Return each call's result by its id, never by its place; equal ids are answered in order."""
    left = list(results)
    pairs: list[Said | None] = []
    for call in calls:
        answer = next((result for result in left if result.call_id == call.id), None)
        if answer is not None:
            left.remove(answer)
        pairs.append(answer)
    places = [answer.place for answer in pairs if answer is not None]
    if places != sorted(places):
        lost.add(losses.RESULTS_OUT_OF_ORDER)
    if left:
        lost.add(losses.RESULT_WITHOUT_CALL)
    return pairs
