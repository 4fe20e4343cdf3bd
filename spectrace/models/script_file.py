"""Reading a script from a file: `scripted:FILE`, or `scripted:FILE#MODEL` for one of the models that it holds.

A script is a JSON object: `replies` (a list), `by_task` ({text: list}, see ScriptedModel), `calls` (json or native),
`name`, `repeat`. A file may hold several, as `{"models": {MODEL: script}}`. A reply is one of

    {"content": TEXT}
    {"action": {"tool": NAME, "arguments": {...}} | {"reply": TEXT} | {"finish": TEXT}}
    {"verdict": "accept" | {"verdict": "reject", "first_wrong": 1, ...}}
    {"calls": [{"tool": NAME, "arguments": {...}}, ...]}
    {"error": {"kind": KIND, "message": TEXT}}

and beside it perhaps `reasoning`, `finish_reason` and `usage`. Arguments given as text are emitted as they stand, so
that a script can write broken JSON.
"""

import hashlib
import json
from pathlib import Path

from spectrace.core.types import Action, Call, Completion, Finish, Message, Reply, ToolCall, Usage
from spectrace.errors import ModelFailed, UsageError
from spectrace.models.scripted import Scripted, ScriptedModel, action_message

_KINDS = ("unreachable", "refused", "server", "timeout", "context", "invalid", "budget")
_FORMS = ("content", "action", "verdict", "calls", "error")
_BESIDE = ("reasoning", "finish_reason", "usage")
_COUNTS = ("input", "cached", "output", "reasoning")
_SCRIPT = ("name", "calls", "replies", "by_task", "repeat")


def read_script(name: str) -> ScriptedModel:
    """Read FILE or FILE#MODEL; raise UsageError naming the reply that is wrong, and how."""
    path, script, digest = _load(name)
    calls = script.get("calls", "json")
    if calls not in {"json", "native"}:
        raise UsageError(f"Script {name}: calls is json or native, found {calls!r}.")
    native = calls == "native"
    by_task = script.get("by_task", {})
    if not isinstance(by_task, dict):
        raise UsageError(f"Script {name}: by_task is an object of lists, found {type(by_task).__name__}.")
    return ScriptedModel(
        _listed(name, "replies", script.get("replies", []), native=native),
        by_task={text: _listed(name, f"by_task[{text!r}]", given, native=native) for text, given in by_task.items()},
        name=str(script.get("name") or name.partition("#")[2] or path.stem),
        calls="native" if native else "json",
        repeat=script.get("repeat") is True,
        source={"script": path.name, "digest": f"sha256:{digest}"},
    )


def _load(name: str) -> tuple[Path, dict[str, object], str]:
    file, _, model = name.partition("#")
    path = Path(file).expanduser()
    try:
        data = path.read_bytes()
        script = json.loads(data)
    except OSError as error:
        raise UsageError(f"Script {file} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise UsageError(f"Script {file} is not JSON: {error}.") from error
    models = script.get("models") if isinstance(script, dict) else None
    if isinstance(models, dict):
        if model not in models:
            found = f"no model {model!r}" if model else "no #MODEL after the file's name"
            raise UsageError(f"Script {file} holds the models {', '.join(models)}; found {found}.")
        script = models[model]
    elif model:
        raise UsageError(f"Script {file} holds no models: name it without #{model}.")
    if not isinstance(script, dict) or not {"replies", "by_task"} & set(script):
        raise UsageError(f"Script {name}: expected a JSON object with replies or by_task.")
    unknown = sorted(set(script) - set(_SCRIPT))
    if unknown:
        raise UsageError(f"Script {name}: {', '.join(unknown)} is not known; known: {', '.join(_SCRIPT)}.")
    return path, script, hashlib.sha256(data).hexdigest()


def _listed(name: str, where: str, given: object, *, native: bool) -> list[Scripted]:
    if not isinstance(given, list):
        raise UsageError(f"Script {name}: {where} is a list of replies, found {type(given).__name__}.")
    replies: list[Scripted] = []
    for index, reply in enumerate(given):
        try:
            replies.append(_reply(reply, native=native))
        except (KeyError, TypeError, ValueError) as error:
            why = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            raise UsageError(f"Script {name}: {where}[{index}]: {why}.") from error
    return replies


def _reply(given: object, *, native: bool) -> Completion | ModelFailed:
    """Return the reply that a script's JSON value stands for; raise KeyError, TypeError or ValueError for none."""
    if not isinstance(given, dict):
        raise TypeError(f"a reply is an object, found {type(given).__name__}")
    forms = [form for form in _FORMS if form in given]
    unknown = sorted(set(given) - {*_FORMS, *_BESIDE})
    if len(forms) != 1 or unknown:
        raise ValueError(f"a reply has one of {', '.join(_FORMS)}, found {', '.join(given) or 'nothing'}")
    value = given[forms[0]]
    if forms[0] == "error":
        if value["kind"] not in _KINDS:
            raise ValueError(f"an error's kind is one of {', '.join(_KINDS)}, found {value['kind']!r}")
        return ModelFailed(value["kind"], str(value["message"]))
    message = _message(forms[0], value, native=native)
    counts = given.get("usage", {})
    if not isinstance(counts, dict) or set(counts) - set(_COUNTS):
        raise ValueError(f"usage holds {', '.join(_COUNTS)}")
    return Completion(
        message,
        reasoning=given.get("reasoning"),
        finish_reason=given.get("finish_reason", "tool_calls" if message.calls else "stop"),
        usage=Usage(**counts),
        latency_us=0,
    )


def _message(form: str, value: object, *, native: bool) -> Message:
    match form, value:
        case "content", str():
            return Message("assistant", value)
        case "action", dict():
            return action_message(_action(value), native=native)
        case "verdict", "accept":
            return Message("assistant", '{"verdict": "accept"}')
        case "verdict", dict():
            return Message("assistant", json.dumps(value, ensure_ascii=False))
        case "calls", list():
            calls = [_call(call) for call in value]
            return Message(
                "assistant", "", tuple(ToolCall(f"call_{n}", c.tool, c.arguments) for n, c in enumerate(calls))
            )
        case _:
            raise TypeError(f"{form} cannot be {type(value).__name__}")


def _action(value: dict[str, object]) -> Action:
    match value:
        case {"reply": str(text), **rest} if not rest:
            return Reply(text)
        case {"finish": str(text), **rest} if not rest:
            return Finish(text)
        case _:
            return _call(value)


def _call(value: object) -> Call:
    match value:
        case {"tool": str(tool), "arguments": str() | dict() as given, **rest} if not rest:
            return Call(tool, given if isinstance(given, str) else json.dumps(given, ensure_ascii=False))
        case _:
            raise ValueError('an action is {"tool", "arguments"}, {"reply"} or {"finish"}')
