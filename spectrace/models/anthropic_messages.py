"""The wire format of Anthropic's Messages API: ModelRequest to request body, response body to Reply.

Pure. The API differs from chat completions in what it counts and how it groups: system prompts stand apart, a turn is
all that one side says in a row, results of tools are blocks of the user's turn, ids hold letters, digits, _ and - only,
and `input_tokens` leaves out what the cache held. Counterpart of `anthropic.py`; `message_stream.py` makes the same
body from a stream.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from spectrace.core.types import Message, ModelRequest, ToolSpec, Usage
from spectrace.models import chat, finish
from spectrace.models.calls import InvalidReply, SentCall, read_calls, sendable_arguments

NOT_SENT = ("seed",)
"""Parameters that the API does not have: they are left out, and the answer says so."""

_NO_ID = re.compile(r"[^A-Za-z0-9_-]")
_NAMES = {"max_completion_tokens": "max_tokens", "stop": "stop_sequences"}
_CHOICES = {"required": "any"}
_EMPTY = "(empty)"
"""In place of a turn without text, which the API refuses."""


@dataclass(frozen=True, slots=True)
class Body:
    """A request body, and the parameters that were left out of it."""

    sent: dict[str, object]
    not_sent: tuple[str, ...]


def request_body(
    model: str, request: ModelRequest, defaults: Mapping[str, object], *, schema: Mapping[str, object] | None
) -> Body:
    """Return the body to send. The request's parameters win over the defaults; a null takes a default away."""
    asked = {**defaults, **json.loads(request.parameters)}
    asked = {_NAMES.get(name, name): value for name, value in asked.items() if value is not None}
    not_sent = tuple(name for name in NOT_SENT if name in asked)
    body: dict[str, object] = {"model": model, "messages": _turns(request.messages)}
    body |= {name: _value(name, value) for name, value in asked.items() if name not in NOT_SENT}
    system = [message.content for message in _leading(request.messages) if message.content.strip()]
    if system:
        body["system"] = system[0] if len(system) == 1 else [_text(text) for text in system]
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if schema is not None:
        config = body.get("output_config")
        form = {"format": {"type": "json_schema", "schema": dict(schema)}}
        body["output_config"] = {**config, **form} if isinstance(config, Mapping) else form
    return Body(body, not_sent)


def _value(name: str, value: object) -> object:
    """Return a parameter in this API's form, where it came in the other one's."""
    if name == "tool_choice" and isinstance(value, str):
        return {"type": _CHOICES.get(value, value)}
    if name == "stop_sequences" and isinstance(value, str):
        return [value]
    return value


def _leading(messages: Iterable[Message]) -> Iterable[Message]:
    for message in messages:
        if message.role != "system":
            return
        yield message


def _turns(messages: tuple[Message, ...]) -> list[object]:
    """Return what each side says, all that stands in a row as one turn."""
    turns: list[tuple[str, list[object]]] = []
    for message in messages[len(list(_leading(messages))) :]:
        # A later system message is said by the user's side: the API has no place for it among the turns.
        side = "assistant" if message.role == "assistant" else "user"
        if not turns or turns[-1][0] != side:
            turns.append((side, []))
        turns[-1][1].extend(_blocks(message))
    return [{"role": side, "content": blocks or [_text(_EMPTY)]} for side, blocks in turns]


def _blocks(message: Message) -> Iterable[object]:
    if message.role == "tool":
        yield {"type": "tool_result", "tool_use_id": _id(message.call_id or ""), "content": message.content}
        return
    if message.content.strip():
        yield _text(message.content)
    for call in message.calls:
        arguments = json.loads(sendable_arguments(call.arguments))
        yield {"type": "tool_use", "id": _id(call.id), "name": call.name, "input": arguments}


def _text(text: str) -> dict[str, object]:
    return {"type": "text", "text": text}


def _id(id_: str) -> str:
    """Return an id in the API's alphabet; the same for a call and its result."""
    return _NO_ID.sub("_", id_) or "_"


def _tool(tool: ToolSpec) -> dict[str, object]:
    return {"name": tool.name, "description": tool.description, "input_schema": json.loads(tool.parameters)}


def read_reply(text: str) -> chat.Reply:
    """Read the text of a response; raise InvalidReply where it is no message."""
    return read_body(chat.read_object(text))


def read_body(body: dict[str, object]) -> chat.Reply:
    """Read a response body; raise InvalidReply where it is no message."""
    content = body.get("content")
    if not isinstance(content, list):
        raise InvalidReply("it has no content")
    blocks = [block for block in content if isinstance(block, dict)]
    if len(blocks) != len(content):
        raise InvalidReply("a block of its content is no object")
    called = read_calls([_call(block) for block in blocks if block.get("type") == "tool_use"], objects=True)
    finish_reason, odd = finish.read(body.get("stop_reason"))
    return chat.Reply(
        message=Message("assistant", _joined(blocks, "text"), called.calls),
        reasoning=_joined(blocks, "thinking") or None,
        finish_reason=finish_reason,
        model=_words(body.get("model")),
        usage=_usage(body.get("usage")),
        provider_id=_words(body.get("id")),
        body=body,
        choice={},
        anomalies=(
            *called.anomalies,
            *odd,
            *chat.disagreement(finish_reason, "tool_use", called=bool(called.calls)),
            *_unread(blocks),
        ),
    )


def _joined(blocks: list[dict[str, object]], kind: str) -> str:
    return chat.pieced(_string(block.get(kind)) for block in blocks if block.get("type") == kind)


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidReply(f"the text of a block is {type(value).__name__}")
    return value


def _call(block: Mapping[str, object]) -> SentCall:
    name = block.get("name")
    if not isinstance(name, str):
        raise InvalidReply("a tool_use block names no tool")
    return SentCall(block.get("id"), name, block.get("input"))


def _unread(blocks: list[dict[str, object]]) -> Iterable[str]:
    known = {"text", "thinking", "redacted_thinking", "tool_use"}
    for kind in dict.fromkeys(str(block.get("type")) for block in blocks):
        if kind not in known:
            yield f"a block of type {kind!r} was not read"


def _words(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _usage(value: object) -> Usage:
    """Return the counts. What was read from the cache, or written to it, is part of our input and not of theirs."""
    usage = value if isinstance(value, Mapping) else {}
    cached = chat.count(usage.get("cache_read_input_tokens"))
    parts = [chat.count(usage.get("input_tokens")), cached, chat.count(usage.get("cache_creation_input_tokens"))]
    details = usage.get("output_tokens_details")
    return Usage(
        input=None if parts[0] is None else sum(part or 0 for part in parts),
        cached=cached,
        output=chat.count(usage.get("output_tokens")),
        reasoning=chat.count(details.get("thinking_tokens")) if isinstance(details, Mapping) else None,
    )


def error_text(event: Mapping[str, object]) -> str | None:
    """Return the message of an error inside a stream; None where the event is none."""
    return chat.error_text({"error": event.get("error")}) if event.get("type") == "error" else None
