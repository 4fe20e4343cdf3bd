"""Reading models' replies: text or native calls into actions and verdicts, strictly.

What cannot be read is Unusable with its cause; nothing is guessed. The one tolerance is a markdown fence around the
whole reply, which cannot change its meaning. Foreign JSON keeps its exact text: `members` cuts it out, unparsed.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from json import JSONDecoder
from typing import Any, TypeVar

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, best_match
from referencing import Registry
from referencing.exceptions import Unresolvable

from spectrace.core.setup import CATEGORIES, Setup
from spectrace.core.types import Action, Call, Completion, Finish, Reply, Verdict

T = TypeVar("T")

_DECODER = JSONDecoder()
_FENCE = "```"
_NO_RETRIEVAL: Registry[bool | Mapping[str, Any]] = Registry()


@dataclass(frozen=True, slots=True)
class Unusable:
    """A reply that cannot be read, and why, in words that the model can act on."""

    cause: str


class _Unreadable(ValueError):
    """The reply breaks the form; the text is the cause."""


def read_actions(setup: Setup, completion: Completion, *, native: bool) -> tuple[Action, ...] | Unusable:
    """Return the actions of a reply, in order; at least one."""
    return _read(lambda: _native_actions(setup, completion) if native else (_json_action(setup, completion),))


def read_verdict(setup: Setup, completion: Completion, drafted: int) -> Verdict | Unusable:
    """Return the verdict on a segment of `drafted` steps.

    A reason beside an accept is dropped (status `repaired`); anything else contradictory is Unusable.
    """
    return _read(lambda: _verdict(setup, completion, drafted))


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


def arguments_objection(schema: str, arguments: str) -> str | None:
    """Return how the arguments (JSON text) break the schema (JSON text), or None."""
    try:
        members(arguments)
        value = json.loads(arguments)
        validator = Draft202012Validator(json.loads(schema), registry=_NO_RETRIEVAL)
        worst = best_match(validator.iter_errors(value))
    except (ValueError, RecursionError) as error:
        return f"the arguments are not a JSON object: {error}"
    except (SchemaError, Unresolvable) as error:
        return f"the tool's own schema cannot be used: {type(error).__name__}"
    if worst is None:
        return None
    where = worst.json_path.removeprefix("$").removeprefix(".")
    return f"argument {where}: {worst.message}" if where else worst.message


def members(text: str) -> dict[str, str]:
    """Return the members of a JSON object as {name: exact text of the value}; refuse duplicates and trailing text."""
    text = text.strip()
    if not text.startswith("{"):
        raise _Unreadable(f"expected one JSON object, found {text[:40]!r}")
    found: dict[str, str] = {}
    at = _skip(text, 1)
    while text[at : at + 1] != "}":
        name, at = _decode(text, at)
        if not isinstance(name, str) or name in found:
            raise _Unreadable(f"member {name!r} is not a name, or stands twice")
        at = _skip(text, at)
        if text[at : at + 1] != ":":
            raise _Unreadable(f"expected ':' after {name!r}")
        start = _skip(text, at + 1)
        _, at = _decode(text, start)
        found[name] = text[start:at]
        at = _skip(text, at)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != "}":
            raise _Unreadable("the JSON object is cut off" if at >= len(text) else f"unexpected text at {at}")
    if text[at + 1 :].strip():
        raise _Unreadable("text follows the JSON object")
    return found


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _decode(text: str, at: int) -> tuple[object, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        cut = " (is the reply cut off?)" if error.pos >= len(text) - 1 else ""
        raise _Unreadable(f"not JSON: {error.msg} at character {error.pos}{cut}") from None


def _read(reader: Callable[[], T]) -> T | Unusable:
    try:
        return reader()
    except (ValueError, RecursionError) as error:
        return Unusable(str(error) or type(error).__name__)


def _native_actions(setup: Setup, completion: Completion) -> tuple[Action, ...]:
    calls = tuple(Call(call.name, call.arguments or "{}") for call in completion.message.calls)
    if calls:
        return calls
    text = completion.message.content.strip()
    if not text:
        raise _Unreadable("the reply is empty: neither a tool call nor text")
    return (Reply(text),) if setup.environment.replies else (Finish(text),)


def _json_action(setup: Setup, completion: Completion) -> Action:
    return _action(setup, members(unfenced(completion.message.content)[0]))


def _action(setup: Setup, found: dict[str, str]) -> Action:
    match sorted(found):
        case ["arguments", "tool"]:
            return Call(_text(found, "tool"), found["arguments"])
        case ["reply"]:
            return Reply(_text(found, "reply"))
        case ["finish"]:
            return Finish(_text(found, "finish"))
        case names:
            raise _Unreadable(f"expected {_forms(setup)}, found the members {', '.join(names) or 'none'}")


def _forms(setup: Setup) -> str:
    forms = ['{"tool", "arguments"}']
    forms += ['{"reply"}'] if setup.environment.replies else []
    forms += ['{"finish"}'] if setup.environment.finish else []
    return " or ".join(forms)


def _text(found: dict[str, str], name: str) -> str:
    value = json.loads(found[name])
    if not isinstance(value, str) or not value.strip():
        raise _Unreadable(f"{name} must be a text that is not empty")
    return value


def unfenced(text: str) -> tuple[str, bool]:
    """Return the text without a markdown fence around the whole of it, and whether there was one."""
    stripped = text.strip()
    if stripped.startswith(_FENCE) and stripped.endswith(_FENCE) and "\n" in stripped:
        inner = stripped[stripped.index("\n") + 1 : -len(_FENCE)]
        if _FENCE not in inner:
            return inner.strip(), True
    return stripped, False


def _verdict(setup: Setup, completion: Completion, drafted: int) -> Verdict:
    raw = completion.message.content
    text, fenced = unfenced(raw)
    found = members(text)
    decision = json.loads(found.get("verdict", "null"))
    verdict = Verdict(
        drafted, drafted, raw=raw, status="repaired" if fenced else "ok", cause="fenced" if fenced else None
    )
    if decision == "accept":
        return _accept(verdict, found)
    if decision == "reject":
        return _reject(setup, verdict, found)
    raise _Unreadable(f'expected "verdict": "accept" or "reject", found {found.get("verdict", "no verdict")}')


def _accept(verdict: Verdict, found: dict[str, str]) -> Verdict:
    beside = sorted(name for name in found if name != "verdict" and found[name] != "null")
    if not beside:
        return verdict
    if beside == ["reason"]:
        return replace(verdict, status="repaired", cause="a reason beside an accept was dropped")
    raise _Unreadable(f"an accept carries nothing, found {', '.join(beside)} beside it")


def _reject(setup: Setup, verdict: Verdict, found: dict[str, str]) -> Verdict:
    unknown = sorted(set(found) - {"verdict", "first_wrong", "category", "reason", "replacement"})
    if unknown:
        raise _Unreadable(f"a verdict has no member {', '.join(unknown)}")
    first_wrong = json.loads(found.get("first_wrong", "null"))
    if type(first_wrong) is not int or not 1 <= first_wrong <= verdict.drafted:
        raise _Unreadable(f"first_wrong must be a whole number from 1 to {verdict.drafted}, found {first_wrong!r}")
    category = json.loads(found.get("category", "null"))
    if category not in CATEGORIES:
        raise _Unreadable(f"category must be one of {', '.join(CATEGORIES)}, found {category!r}")
    rejected = replace(
        verdict,
        accepted=first_wrong - 1,
        category=category,
        reason=_text(found, "reason") if "reason" in found else _missing("reason"),
    )
    replacement = found.get("replacement", "null")
    if replacement == "null":
        return rejected
    try:
        return replace(rejected, replacement=_action(setup, members(replacement)))
    except _Unreadable as error:  # the rejection stands; only its proposal is lost
        why = f"the replacement is no action: {error}"
        return replace(rejected, status="repaired", cause=why, replacement_unusable=why)


def _missing(name: str) -> str:
    raise _Unreadable(f"a reject needs a {name}")
