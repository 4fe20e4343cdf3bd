"""An environment that keeps the whole port, and some thirty that each break one promise: each check can fail."""

import asyncio
import json
import time
from dataclasses import dataclass, replace

from spectrace.core.digest import text_digest
from spectrace.core.types import (
    Call,
    Effect,
    EnvironmentFacts,
    Evaluation,
    Finish,
    Message,
    ModelRequest,
    NeedsModel,
    Observation,
    Opening,
    Reply,
    Role,
    Task,
    ToolSpec,
)
from spectrace.errors import EnvironmentFailed
from spectrace.testing import inspect_environment

_NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
_BOTH = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "value": {"type": "string"}},
    "required": ["name", "value"],
}
LOOK = ToolSpec("look", "Look it up.", json.dumps(_NAME), Effect.READ, "declared")
PUT = ToolSpec("put", "Put something there.", json.dumps(_BOTH), Effect.WRITE, "declared")
CALLS = (Call("look", '{"name": "a"}'), Call("put", '{"name": "a", "value": "2"}'), Call("look", '{"name": "b"}'))
TASK = Task("t1", "Put 2 into a.")
ASKED = NeedsModel(Role.USER, ModelRequest((Message("system", "You want 2 in a."),)))


class Sound:
    """A table of names; a user opens the dialogue and answers replies."""

    restore = "reset"

    def __init__(self):
        self.state = None
        self.pending = None
        self.over = False

    def tasks(self):
        return (TASK, Task("t2", "Put 3 into a."))

    def prepare(self, task):
        self.state = None
        return EnvironmentFacts("sound", "tests", "1", self.restore, "none", fingerprint=_of({"a": "1"}), replies=True)

    def instructions(self, task):
        return "Do what is asked."

    def tools(self):
        return (LOOK, PUT)

    def first(self):
        return {"a": "1"}

    async def reset(self, seed):
        self.state, self.over, self.pending = self.first(), False, "opening"
        return ASKED

    async def act(self, action, requestor="agent"):
        if self.state is None or self.over:
            raise EnvironmentFailed("unavailable", "no episode runs")
        match action:
            case Call():
                return self.call(action)
            case Reply():
                self.pending = "reply"
                return ASKED
            case Finish():
                self.over = True
                return Observation("", done=True)

    def call(self, call):
        try:
            given = self.read(call)
        except (KeyError, ValueError, TypeError) as error:
            return Observation(f"{type(error).__name__}: {error}", error=True)
        if call.tool == "put":
            self.state[given["name"]] = given["value"]
            return Observation("ok")
        return Observation(self.state[given["name"]]) if given["name"] in self.state else Observation("no", error=True)

    def read(self, call):
        wanted = {"look": {"name"}, "put": {"name", "value"}}[call.tool]
        given = json.loads(call.arguments)
        if set(given) != wanted:
            raise ValueError(f"expected {sorted(wanted)}")
        return given

    async def resume(self, completion):
        pending, self.pending = self.pending, None
        match pending:
            case "opening":
                return Opening((Message("user", completion.message.content),))
            case "reply":
                return Observation(completion.message.content)
            case _:
                raise EnvironmentFailed("unavailable", "no question is open")

    async def evaluate(self):
        return Evaluation("1.0" if self.state == {"a": "2"} else "0.0")

    def fingerprint(self):
        return None if self.state is None else _of(self.state)

    def check(self, action):
        return None

    async def close(self):
        self.state = None


class Lasting(Sound):
    """Its table outlives the instance: a second one takes it up."""

    restore = "none"
    table: dict = {}  # noqa: RUF012 - what all instances share is the point

    def first(self):
        self.table.clear()
        self.table["a"] = "1"
        return self.table

    async def attach(self, task, seed, done):
        self.state, self.over = self.table, False
        return _of(self.table)


def _of(state):
    return text_digest(json.dumps(state, sort_keys=True))


@dataclass(frozen=True)
class Broken:
    """A promise that is broken: which claim says so, and what it is called by."""

    made: type
    claim: str
    found: str


def _made(base=Sound, **methods):
    return type("Broken", (base,), methods)


def _facts(**other):
    return _made(prepare=lambda self, task: replace(Sound.prepare(self, task), **other))


def _tools(*tools):
    return _made(tools=lambda self: tools)


def _schema(parameters):
    return _tools(replace(LOOK, parameters=parameters if isinstance(parameters, str) else json.dumps(parameters)), PUT)


def _turning(*values):
    """A method that answers otherwise each time."""
    left = list(values)
    return lambda *_: left.pop(0) if len(left) > 1 else left[0]


def _coroutine(function):
    async def method(self, *given):
        return function(self, *given)

    return method


def _raises(*_):
    raise KeyError("oops")


async def _sleeps(*_):
    await asyncio.sleep(5)


def _looks_and_counts(self, call):
    self.state["looked"] = str(int(self.state.get("looked", "0")) + 1)
    return Sound.call(self, call)


def _answers_all(self, call):
    return Observation("fine") if call.tool not in {"look", "put"} else Sound.call(self, call)


def _guesses(self, call):
    try:
        return Sound.call(self, call) if self.read(call) else None
    except (KeyError, ValueError, TypeError):
        if call.tool == "put":
            self.state["guessed"] = "1"
        return Observation("no", error=True)


def _chokes_on_nul(self, call):
    if "\\u0000" in call.arguments:
        raise UnicodeError("NUL")
    return Sound.call(self, call)


_ALL = {"a": "1"}
_LATER = iter(range(10**9))
_THE_DIALOGUE = []


async def _asks_what_was_said(self, seed):
    _THE_DIALOGUE.append("again")
    self.state, self.over, self.pending = self.first(), False, "opening"
    return replace(ASKED, request=ModelRequest((Message("system", " ".join(_THE_DIALOGUE)),)))


def _objects_and_counts(self, action):
    self.state["checked"] = "1"


BROKEN = {
    "no tasks": Broken(_made(tasks=lambda self: ()), "tasks are there", "no task at all"),
    "one id twice": Broken(_made(tasks=lambda self: (TASK, TASK)), "tasks are there", "t1 more than once"),
    "tasks in turn": Broken(
        _made(tasks=_turning((TASK,), (TASK,), (TASK, Task("t2", "x")))), "tasks are there", "another order"
    ),
    "a task that cannot be prepared": Broken(
        _made(prepare=lambda self, task: Sound.prepare(self, task) if task.id == "t1" else _raises()),
        "every task can be prepared",
        "KeyError: 'oops'",
    ),
    "an unknown restore": Broken(_facts(restore="maybe"), "facts are well formed", "restore='maybe'"),
    "no version": Broken(_facts(version=""), "facts are well formed", "version ''"),
    "a fingerprint that is no digest": Broken(_facts(fingerprint="7"), "facts are well formed", "fingerprint '7'"),
    "facts in turn": Broken(
        _made(prepare=lambda self, task: replace(Sound.prepare(self, task), version=f"1.{next(_LATER)}")),
        "facts are well formed",
        "another version",
    ),
    "a first fingerprint of something else": Broken(
        _facts(fingerprint=_of({})), "the fingerprint of the facts", "after reset sha256:"
    ),
    "no instructions": Broken(_made(instructions=lambda self, task: " "), "instructions are a text", "' '"),
    "a time in the instructions": Broken(
        _made(instructions=lambda self, task: f"It is {time.monotonic_ns()}."),
        "instructions are a text",
        "another text",
    ),
    "a name that servers refuse": Broken(
        _tools(replace(LOOK, name="look up"), PUT), "tools are named", "servers refuse"
    ),
    "two tools of one name": Broken(_tools(LOOK, PUT, PUT), "tools are named", "two tools of this name"),
    "a tool without a description": Broken(_tools(LOOK, replace(PUT, description="")), "tools are named", "no descr"),
    "an effect that is none": Broken(_tools(LOOK, replace(PUT, effect="changes")), "tools are named", "'changes'"),
    "a schema that is no JSON": Broken(_schema('{"type": NaN}'), "tool schemas are JSON Schemas", "NaN is no number"),
    "a schema that is none": Broken(_schema({"type": "objekt"}), "tool schemas are JSON Schemas", "no JSON Schema"),
    "a schema of a list": Broken(_schema({"type": "array"}), "tool schemas are JSON Schemas", "not of type object"),
    "a schema elsewhere": Broken(
        _schema({"type": "object", "properties": {"x": {"$ref": "https://example.org/s"}}}),
        "tool schemas are JSON Schemas",
        "which is elsewhere",
    ),
    "a definition that is missing": Broken(
        _schema({"type": "object", "properties": {"x": {"$ref": "#/$defs/x"}}}),
        "tool schemas are JSON Schemas",
        "which is not there",
    ),
    "an opening without a message": Broken(
        _made(reset=_coroutine(lambda self, seed: setattr(self, "state", dict(_ALL)) or Opening(()))),
        "a reset opens",
        "no messages",
    ),
    "an opening by the agent": Broken(
        _made(
            reset=_coroutine(
                lambda self, seed: setattr(self, "state", dict(_ALL)) or Opening((Message("assistant", "Hi"),))
            )
        ),
        "a reset opens",
        "role 'assistant'",
    ),
    "a reset that hangs": Broken(_made(reset=_sleeps), "the fingerprint of the facts", "no answer within"),
    "a reset that is no coroutine": Broken(
        _made(reset=lambda self, seed: ASKED), "the fingerprint of the facts", "NeedsModel in place of a coroutine"
    ),
    "a fingerprint that counts": Broken(
        _made(fingerprint=lambda self: _of(next(_LATER))), "fingerprints are digests", "another one when asked again"
    ),
    "a read that writes": Broken(_made(call=_looks_and_counts), "reads leave", "the state changed"),
    "a write that the fingerprint does not see": Broken(
        _made(fingerprint=lambda self: _of(_ALL)), "writes move", "changed nothing"
    ),
    "an unknown tool that answers": Broken(_made(call=_answers_all), "an unknown tool", "no error: 'fine'"),
    "a tool that raises": Broken(
        _made(call=lambda self, call: Observation("ok") if self.read(call) else None),
        "an unknown tool",
        "KeyError: 'no_such_tool'",
    ),
    "a write on arguments that do not fit": Broken(
        _made(call=_guesses), "arguments that do not fit", "the state changed"
    ),
    "a read that chokes on NUL": Broken(_made(call=_chokes_on_nul), "any text is taken", "UnicodeError: NUL"),
    "an observation that is no text": Broken(
        _made(call=lambda self, call: Observation({"a": 1})), "reads leave", "content is a dict"
    ),
    "answers by chance": Broken(
        _made(call=lambda self, call: replace(Sound.call(self, call), content=str(next(_LATER)))),
        "the same actions after a reset",
        "after another reset",
    ),
    "a state that is shared": Broken(
        type("Shared", (Lasting,), {"restore": "reset", "attach": None}),
        "instances do not see each other",
        "changed another",
    ),
    "a reply that is refused": Broken(
        _made(act=_coroutine(lambda self, action, requestor="agent": Observation("no", error=True))),
        "a reply is answered",
        "an error: no",
    ),
    "a reply that is answered unsaid": Broken(_facts(replies=False), "a reply is answered", "an answer"),
    "a final answer that ends nothing": Broken(_facts(finish=False), "a final answer ends", "done=True"),
    "an act before the reset": Broken(
        _made(act=_coroutine(lambda self, action, requestor="agent": Observation("ok"))), "nothing is done before", "ok"
    ),
    "a reward that is no number": Broken(
        _made(evaluate=_coroutine(lambda self: Evaluation("well done"))), "grading gives a decimal", "'well done'"
    ),
    "a detail that is no JSON": Broken(
        _made(evaluate=_coroutine(lambda self: Evaluation("1.0", "{"))), "grading gives a decimal", "Expecting"
    ),
    "an objection that is no text": Broken(_made(check=lambda self, action: False), "an objection is a text", "False"),
    "a check that does": Broken(_made(check=_objects_and_counts), "an objection is a text", "the state changed"),
    "a completion that nobody asked for": Broken(
        _made(resume=_coroutine(lambda self, completion: Opening((Message("user", completion.message.content),)))),
        "what was not asked is not taken",
        "Opening where no question was open",
    ),
    "a question to the drafter": Broken(
        _made(reset=_coroutine(lambda self, seed: replace(ASKED, role=Role.DRAFTER))),
        "the fingerprint of",
        "role drafter",
    ),
    "a question of what was said before": Broken(
        _made(reset=_asks_what_was_said), "what it asks of models", "another question"
    ),
    "an attach that begins anew": Broken(
        _made(Lasting, attach=_coroutine(lambda self, task, seed, done: _of(self.first()))),
        "a task is taken up",
        "left with sha256:",
    ),
    "a close that raises": Broken(_made(close=_coroutine(_raises)), "tasks are there", "KeyError: 'oops'"),
    "a close that can be done once": Broken(
        _made(close=_coroutine(lambda self: self.__dict__.pop("over"))), "it can be closed", "KeyError: 'over'"
    ),
}


def broken_for(checks):
    """The names of those that break a claim of these checks; every check has one."""
    unbroken = [one.claim for one in checks if not any(one.claim.startswith(b.claim) for b in BROKEN.values())]
    assert unbroken == []
    return [name for name, b in BROKEN.items() if any(one.claim.startswith(b.claim) for one in checks)]


def require_found(name):
    """Insist that the broken promise is told under its claim, and every finding with where and what to do."""
    broken = BROKEN[name]
    report = inspect_environment(broken.made, CALLS, timeout_s=0.1 if "hangs" in name else 60)
    told = [one for one in report.findings if one.claim.startswith(broken.claim) and broken.found in one.found]
    assert told, report
    assert all(one.where and one.do for one in report.findings)
