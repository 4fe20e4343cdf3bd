"""The wire format of chat completions: ModelRequest to request body, response body to Completion.

Pure. Servers differ in what they leave out, so nothing is assumed: an absent count is None, never 0; a list of
content parts is joined; arguments stay the text that was sent, empty or broken (the core parses it and says what is
wrong). What was odd is listed in `Reply.anomalies`. Counterpart of `openai.py`, which does the transport; `stream.py`
makes the same body from the pieces of a stream.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from spectrace.core.types import Message, ModelRequest, ToolSpec, Usage
from spectrace.models import finish
from spectrace.models.calls import Calls, InvalidReply, SentCall, read_calls, sendable_arguments

__all__ = [
    "FORMER_CALL",
    "InvalidReply",
    "Reply",
    "content",
    "count",
    "cut_anomaly",
    "disagreement",
    "error_text",
    "pieced",
    "read_body",
    "read_object",
    "read_reply",
    "request_body",
    "says_context",
    "sendable",
    "with_anomalies",
]

_CONTEXT = re.compile(
    r"context.?length|context.?size|context.?window|maximum.?context|prompt is too long|longer than the model's",
    re.IGNORECASE,
)


FORMER_CALL = "a function_call (the former shape of a call) was not read"


@dataclass(frozen=True, slots=True)
class Reply:
    """A response body, read."""

    message: Message
    reasoning: str | None
    finish_reason: str | None
    model: str | None
    usage: Usage
    provider_id: str | None
    body: Mapping[str, object]
    choice: Mapping[str, object]
    anomalies: tuple[str, ...] = ()
    """What was odd about it, in words."""


def request_body(
    model: str, request: ModelRequest, defaults: Mapping[str, object], *, constrained: bool
) -> dict[str, object]:
    """Return the body to send. The request's parameters win over the defaults; a null takes a default away."""
    body: dict[str, object] = {"model": model, "messages": [_message(message) for message in request.messages]}
    parameters = {**defaults, **json.loads(request.parameters)}
    body.update({name: value for name, value in parameters.items() if value is not None})
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if request.schema is not None and constrained:
        schema = {"name": "reply", "strict": True, "schema": json.loads(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def sendable(body: dict[str, object]) -> dict[str, object]:
    """Return the body with each lone surrogate as U+FFFD: UTF-8 has no bytes for one, and no tokenizer an id."""
    text = json.dumps(body, ensure_ascii=False, allow_nan=False)
    if text.isascii():
        return body
    clean = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return body if clean == text else dict(json.loads(clean))


def _message(message: Message) -> dict[str, object]:
    wire: dict[str, object] = {"role": message.role, "content": message.content}
    if message.calls:
        wire["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": sendable_arguments(call.arguments)},
            }
            for call in message.calls
        ]
    if message.call_id is not None:
        wire["tool_call_id"] = message.call_id
    return wire


def _tool(tool: ToolSpec) -> dict[str, object]:
    function = {"name": tool.name, "description": tool.description, "parameters": json.loads(tool.parameters)}
    return {"type": "function", "function": function}


def read_reply(text: str) -> Reply:
    """Read the text of a response; raise InvalidReply where it is no chat completion."""
    return read_body(read_object(text))


def read_body(body: dict[str, object]) -> Reply:
    """Read a response body; raise InvalidReply where it is no chat completion."""
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices:
        raise InvalidReply("it has no choices")
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise InvalidReply("its first choice has no message")
    called = _calls(message.get("tool_calls"))
    finish_reason, odd = finish.read(choice.get("finish_reason"))
    return Reply(
        message=Message("assistant", content(message.get("content")), called.calls),
        reasoning=_text(message.get("reasoning_content")) or _text(message.get("reasoning")),
        finish_reason=finish_reason,
        model=_text(body.get("model")),
        usage=_usage(body.get("usage")),
        provider_id=_text(body.get("id")),
        body=body,
        choice=choice,
        anomalies=(
            *called.anomalies,
            *odd,
            *disagreement(finish_reason, "tool_calls", called=bool(called.calls)),
            *([f"{len(choices) - 1} more choices were left out"] if len(choices) > 1 else []),
            *([FORMER_CALL] if message.get("function_call") else []),
        ),
    )


def disagreement(finish_reason: str | None, of_calls: str, *, called: bool) -> tuple[str, ...]:
    """Return what is odd about a finish reason beside the content; the content alone decides what was called."""
    if finish_reason == of_calls and not called:
        return (f"the finish reason is {of_calls!r}, and there is no call",)
    if finish_reason in {"stop", "end_turn"} and called:
        return (f"the finish reason is {finish_reason!r}, and there is a call",)
    return ()


def with_anomalies(reply: Reply, anomalies: tuple[str, ...]) -> Reply:
    """Return the reply with these notes."""
    return replace(reply, anomalies=anomalies)


def cut_anomaly(reply: Reply, limit: object) -> tuple[str, ...]:
    """Return a note where the reply used up the limit of its tokens and claims to be whole."""
    told = reply.finish_reason in {None, "length", "max_tokens"}
    if told or not isinstance(limit, int) or reply.usage.output != limit:
        return ()
    return (f"the reply has as many tokens as its limit ({limit}): it may be cut off",)


def read_object(text: str) -> dict[str, object]:
    """Read a JSON object; raise InvalidReply where the text is something else."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidReply("it is not JSON") from error
    if not isinstance(body, dict):
        raise InvalidReply("it is not a JSON object")
    return body


def error_text(body: object) -> str | None:
    """Return the message of an error body, in any of the shapes that servers use; None where it is none."""
    if not isinstance(body, dict):
        return None
    error = body.get("error") or _choice_error(body.get("choices"))
    if isinstance(error, str) and error:
        return error
    if isinstance(error, dict):
        return _joined(error)
    if body.get("object") == "error" or ("message" in body and "choices" not in body):
        return _joined(body)
    detail = body.get("detail")
    return None if detail is None or "choices" in body else detail if isinstance(detail, str) else json.dumps(detail)


def _choice_error(choices: object) -> object:
    """Return the error that a router puts inside the choice whose provider failed (finish reason `error`)."""
    first = choices[0] if isinstance(choices, list) and choices else None
    return first.get("error") if isinstance(first, dict) else None


def _joined(error: Mapping[str, object]) -> str:
    """Return `message (type)`: the type is often the only stable word (exceed_context_size_error)."""
    message = _text(error.get("message")) or json.dumps(error)
    kind = _text(error.get("type")) or _text(error.get("code"))
    return message if kind is None or kind in message else f"{message} ({kind})"


def says_context(message: str) -> bool:
    """Whether an error's text says that the prompt does not fit; servers share no code for it."""
    return _CONTEXT.search(message) is not None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def content(value: object) -> str:
    """Return a message's content, in any of its shapes, as text."""
    match value:
        case None:
            return ""
        case str():
            return value
        case list():
            parts = [part.get("text") for part in value if isinstance(part, dict)]
            return pieced(part for part in parts if isinstance(part, str))
        case _:
            raise InvalidReply(f"its content is {type(value).__name__}, not text")


def pieced(parts: Iterable[str]) -> str:
    """Return the pieces of one text as one; a character whose halves came in two pieces is one again."""
    text = "".join(parts)
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _calls(value: object) -> Calls:
    if value is None:
        return read_calls(())
    if not isinstance(value, list):
        raise InvalidReply(f"its tool_calls are {type(value).__name__}, not a list")
    return read_calls([_call(number, call) for number, call in enumerate(value, 1)])


def _call(number: int, call: object) -> SentCall:
    function = call.get("function") if isinstance(call, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(call, dict) or not isinstance(function, dict) or not isinstance(name, str):
        raise InvalidReply(f"its tool call {number} names no function")
    return SentCall(call.get("id"), name, function.get("arguments"))


def count(value: object) -> int | None:
    """Return a token count, or None for whatever is not one, or more than a log's integers hold."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None


def _usage(value: object) -> Usage:
    usage = value if isinstance(value, dict) else {}
    prompt, output = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    reasoning = output.get("reasoning_tokens") if isinstance(output, dict) else usage.get("reasoning_tokens")
    return Usage(
        input=count(usage.get("prompt_tokens")),
        cached=count(prompt.get("cached_tokens")) if isinstance(prompt, dict) else None,
        output=count(usage.get("completion_tokens")),
        reasoning=count(reasoning),
    )
