"""Tool calls as servers send them -> ours: one text of arguments and one distinct id each, and what was odd about them.

Every dialect reads its calls through here. Ids are labels that servers repeat, leave empty or leave out; what pairs a
call with its result is its position, so an id that cannot serve is replaced by one made from the position: the same
bytes give the same ids. Nothing is guessed: the very same block twice is transport noise, anything else is two calls.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from spectrace.core.types import ToolCall


class InvalidReply(Exception):
    """The response body is no reply of its dialect; the text says in what way."""


@dataclass(frozen=True, slots=True)
class SentCall:
    """A call as sent: `arguments` is text, an object, or anything else that JSON holds."""

    id: object
    name: str
    arguments: object


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls, and what was odd."""

    calls: tuple[ToolCall, ...]
    anomalies: tuple[str, ...]


def read_calls(sent: Sequence[SentCall], *, objects: bool = False) -> Calls:
    """Return the calls in order. `objects`: the dialect sends arguments as an object, which is then nothing odd."""
    calls: list[ToolCall] = []
    anomalies: list[str] = []
    for number, call in enumerate(sent, 1):
        arguments = _arguments(call.arguments)
        if not objects and not isinstance(call.arguments, str | None):
            kind = "an object" if isinstance(call.arguments, dict) else f"{type(call.arguments).__name__}, not text"
            anomalies.append(f"call {number}: the arguments came as {kind}")
        given = call.id if isinstance(call.id, str) and call.id else None
        if any(_twin(earlier, given, call.name, arguments) for earlier in calls):
            anomalies.append(f"call {number}: the same block as before (id {given!r}), counted once")
            continue
        taken = given is not None and any(earlier.id == given for earlier in calls)
        if given is None or taken:
            why = f"id {given!r} is another call's" if taken else "it has no id"
            given = _made(number, sent)
            anomalies.append(f"call {number}: {why}; {given!r} was made from its position")
        calls.append(ToolCall(given, call.name, arguments))
    return Calls(tuple(calls), tuple(anomalies))


def _made(number: int, sent: Sequence[SentCall]) -> str:
    """Return an id made from a call's position that no call was sent with."""
    made = f"synthetic_{number}"
    while any(call.id == made for call in sent):
        made += "_"
    return made


def _arguments(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise InvalidReply("its arguments hold a number that JSON cannot express") from None


def _twin(earlier: ToolCall, id_: str | None, name: str, arguments: str) -> bool:
    return (earlier.id, earlier.name) == (id_, name) and canonical(earlier.arguments) == canonical(arguments)


def canonical(arguments: str) -> str:
    """Return equal text for equal JSON; what is not JSON stands for itself. 1, 1.0 and true stay different."""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments


def json_object(text: str) -> dict[str, object] | None:
    """Return the JSON object that the text is, or None; NaN and Infinity are no JSON."""
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse(constant: str) -> object:
    raise ValueError(constant)


def sendable_arguments(text: str) -> str:
    """Return the arguments of a past call as a server can read them.

    Servers parse what they are sent, and chat templates iterate over it: broken JSON in a history fails every later
    call. Nothing is repaired: text that is no JSON object goes as a member that shows it.
    """
    if not text.strip():
        return "{}"
    return text if json_object(text) is not None else json.dumps({"not_json": text}, ensure_ascii=False)
