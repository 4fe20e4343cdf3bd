"""Reading models' replies: text or native calls into actions. Verdicts: `verdict_reading.py`.

Strict form first. What cannot be read is Unusable with its cause, is asked again once, and is never executed, offered
or repaired; what is tolerated cannot change the meaning, and is said (`Actions.tolerated`, recorded as
`reply.unusable` with next=tolerated). Since revision 2:

| a reply                                                             | is                                            |
|---------------------------------------------------------------------|-----------------------------------------------|
| cut off: finish reason `length`, or as many tokens as it may have   | unusable, even if what came parses            |
| text: a byte order mark, a thinking block, a fence around all of it | read without it; said                         |
| text: thoughts without an end; prose around the object              | unusable                                      |
| text: not JSON to the letter (trailing comma, NaN, 'quotes')        | unusable                                      |
| arguments, native or not, that are no JSON object                   | unusable: a history must not hold them        |
| arguments with a whole number of more than 640 digits               | unusable: not every Python can convert it     |
| native arguments that are empty or blank                            | `{}`, said; what is missing is objected to    |
| native: neither a call nor text, whatever the finish reason says    | unusable                                      |
| native text that looks like a call nobody parsed                    | text, never executed as a call; said          |
| native text though the finish reason promised calls                 | text; said                                    |
| a tool nobody knows, control tokens in its name and all             | a write, named as sent, never sent            |

Revision 1 took a fence around a text silently, and native arguments as they came. `finish_reason`, the raw text and the
reasoning are recorded in `generate.completed`, whatever becomes of them here.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from referencing import Registry

from spectrace.core.foreign_json import Unreadable, members, refuse_long_numbers, text_at
from spectrace.core.setup import Setup
from spectrace.core.types import Action, Call, Completion, Finish, Reply, ToolCall
from spectrace.core.unwrapping import THOUGHTS, refuse_cut_off, unwrapped, without_thoughts

T = TypeVar("T")

TOLERANT = 2
"""The revision since which more forms are tolerated, and said."""

LIKE_A_CALL = "text that looks like a tool call nobody parsed; it was taken as text"
_PROMISED = "text although the finish reason says tool_calls"
_FENCE = "```"
_NO_RETRIEVAL: Registry[bool | Mapping[str, Any]] = Registry()
_CALL_MARKS = re.compile(
    r"<tool_call|<function=|<function_call|<invoke\b|<\|tool_call|<\|python_tag\|>|<\|channel\|>|\[TOOL_CALLS\]",
    re.IGNORECASE,
)
_CALL_NAME = re.compile(r'"(?:name|tool)"\s*:\s*"([^"]*)"')
_CALL_ARGUMENTS = re.compile(r'"(?:arguments|parameters)"\s*:')


@dataclass(frozen=True, slots=True)
class Unusable:
    """A reply that cannot be read, and why, in words that the model can act on."""

    cause: str


@dataclass(frozen=True, slots=True)
class Actions:
    """What a reply says to do, in order; at least one. `tolerated`: what of its form was passed over, once each."""

    actions: tuple[Action, ...]
    tolerated: tuple[str, ...] = ()


def read_actions(setup: Setup, completion: Completion, *, native: bool, limit: int | None = None) -> Actions | Unusable:
    """Return the actions of a reply. `limit`: how many tokens it could have (`unwrapping.token_limit`)."""
    return read(lambda: _actions(setup, completion, limit, native=native))


def read(reader: Callable[[], T]) -> T | Unusable:
    """Return what the reader returns, or what is wrong with the text that it read."""
    try:
        return reader()
    except (ValueError, RecursionError) as error:
        return Unusable(str(error) or type(error).__name__)


def _actions(setup: Setup, completion: Completion, limit: int | None, *, native: bool) -> Actions:
    if setup.revision < TOLERANT:
        return Actions(_native_1(setup, completion) if native else _json_1(setup, completion))
    refuse_cut_off(completion, limit)
    if not native:
        answer = unwrapped(completion.message.content)
        return Actions((action_of(setup, members(answer.text, strict=True)),), answer.tolerated)
    calls = completion.message.calls
    if calls:
        blank = any(not call.arguments.strip() for call in calls)
        read_calls = tuple(_native_call(number, call) for number, call in enumerate(calls, 1))
        return Actions(read_calls, ("empty arguments were read as {}",) if blank else ())
    return _native_text(setup, completion)


def _native_call(number: int, call: ToolCall) -> Call:
    arguments = call.arguments if call.arguments.strip() else "{}"
    _require_object(arguments, f"the arguments of call {number} ({call.name[:40]!r})")
    return Call(call.name, arguments)


def _require_object(arguments: str, what: str) -> None:
    try:
        members(arguments, strict=True)
        refuse_long_numbers(arguments)
    except Unreadable as error:
        raise Unreadable(f"{what} cannot be used: {error}") from None


def _native_text(setup: Setup, completion: Completion) -> Actions:
    promised = completion.finish_reason == "tool_calls"
    text, thoughts = without_thoughts(completion.message.content.strip())
    text = text.strip()
    if not text:
        but = ", though its finish reason says tool_calls" if promised else ""
        raise Unreadable(f"the reply is empty: neither a tool call nor text{but}")
    tolerated = [THOUGHTS] if thoughts else []
    tolerated += [LIKE_A_CALL] if _like_a_call(setup, text) else []
    tolerated += [_PROMISED] if promised else []
    return Actions((_spoken(setup, text),), tuple(tolerated))


def _like_a_call(setup: Setup, text: str) -> bool:
    if _CALL_MARKS.search(text):
        return True
    named = any(name in setup.by_name for name in _CALL_NAME.findall(text))
    return named and _CALL_ARGUMENTS.search(text) is not None


def _spoken(setup: Setup, text: str) -> Action:
    return Reply(text) if setup.environment.replies else Finish(text)


def action_of(setup: Setup, found: dict[str, str]) -> Action:
    """Return the action that a JSON object's members say; raise Unreadable where they say none."""
    match sorted(found):
        case ["arguments", "tool"]:
            if setup.revision >= TOLERANT:
                _require_object(found["arguments"], "the arguments")
            return Call(text_of(found, "tool"), found["arguments"])
        case ["reply"]:
            return Reply(text_of(found, "reply"))
        case ["finish"]:
            return Finish(text_of(found, "finish"))
        case names:
            raise Unreadable(f"expected {_forms(setup)}, found the members {', '.join(names) or 'none'}")


def _forms(setup: Setup) -> str:
    forms = ['{"tool", "arguments"}']
    forms += ['{"reply"}'] if setup.environment.replies else []
    forms += ['{"finish"}'] if setup.environment.finish else []
    return " or ".join(forms)


def text_of(found: dict[str, str], name: str) -> str:
    """Return a member that must be a text with something in it."""
    value = text_at(found, name)
    if value is None or not value.strip():
        raise Unreadable(f"{name} must be a text that is not empty")
    return value


def objection(setup: Setup, action: Action) -> str | None:
    """Return why an action cannot be sent as it stands: unknown tool, arguments against the schema; else None."""
    match action:
        case Call(tool, arguments):
            if tool not in setup.by_name:
                return f"no tool is named {tool!r}; the tools are {', '.join(setup.by_name)}"
            return arguments_objection(setup.by_name[tool].parameters, arguments)
        case Reply():
            return None if setup.environment.replies else "a reply is not an action here"
        case Finish():
            return None if setup.environment.finish else "a final answer is not an action here"


@lru_cache(maxsize=256)  # a tool is called again and again
def _validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(schema), registry=_NO_RETRIEVAL)


def arguments_objection(schema: str, arguments: str) -> str | None:
    """Return how the arguments (JSON text) break the schema (JSON text), or None."""
    try:
        members(arguments)
        value = json.loads(arguments)
        worst = best_match(_validator(schema).iter_errors(value))
    except (ValueError, RecursionError) as error:
        return f"the arguments are not a JSON object: {error}"
    except Exception as error:  # noqa: BLE001 - `jsonschema` meets somebody else's schema: TypeError, re.error, what not
        return f"the tool's own schema cannot be used: {type(error).__name__}"
    if worst is None:
        return None
    where = worst.json_path.removeprefix("$").removeprefix(".")
    return f"argument {where}: {worst.message}" if where else worst.message


def _native_1(setup: Setup, completion: Completion) -> tuple[Action, ...]:
    calls = tuple(Call(call.name, call.arguments or "{}") for call in completion.message.calls)
    if calls:
        return calls
    text = completion.message.content.strip()
    if not text:
        raise Unreadable("the reply is empty: neither a tool call nor text")
    return (_spoken(setup, text),)


def _json_1(setup: Setup, completion: Completion) -> tuple[Action, ...]:
    return (action_of(setup, members(unfenced(completion.message.content)[0])),)


def unfenced(text: str) -> tuple[str, bool]:
    """Return the text without a fence around the whole of it, and whether there was one, as revision 1 did."""
    stripped = text.strip()
    if stripped.startswith(_FENCE) and stripped.endswith(_FENCE) and "\n" in stripped:
        inner = stripped[stripped.index("\n") + 1 : -len(_FENCE)]
        if _FENCE not in inner:
            return inner.strip(), True
    return stripped, False
