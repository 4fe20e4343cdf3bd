"""Protocol dialogues: a command expected, an answer given. Facts that are told in between are collected."""

import json
from dataclasses import dataclass, field

from spectrace.core.commands import (
    Act,
    Acted,
    Asked,
    Began,
    Check,
    Command,
    CommandFailed,
    Completed,
    Evaluate,
    Failed,
    Generate,
    Parallel,
    Reset,
    Tell,
)
from spectrace.core.events import Body
from spectrace.core.prompts import Prompts
from spectrace.core.setup import Setup
from spectrace.core.types import (
    Action,
    Call,
    Completion,
    Effect,
    EnvironmentFacts,
    Evaluation,
    Finish,
    Message,
    ModelFacts,
    ModelRequest,
    NeedsModel,
    Observation,
    Opening,
    Outcome,
    Reply,
    Role,
    Task,
    ToolCall,
    ToolSpec,
    Usage,
)

SCHEMA = json.dumps(
    {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"], "additionalProperties": False}
)
TOOLS = (
    ToolSpec("look", "Look a thing up.", SCHEMA, Effect.READ, "declared"),
    ToolSpec("search", "Ask an outside party.", SCHEMA, Effect.READ, "declared", external=True),
    ToolSpec("change", "Change a thing.", SCHEMA, Effect.WRITE, "declared"),
)


def setup(*, calls: str = "json", replies: bool = False, finish: bool = True) -> Setup:
    """Return a small desk with two reads and a write, and two models."""
    models = tuple(ModelFacts(role, "scripted", role, calls=calls) for role in ("weak", "strong"))
    environment = EnvironmentFacts("desk", "tests", "1", replies=replies, finish=finish)
    return Setup(Task("t1", "Change A.", "{}"), environment, "Be careful.", TOOLS, Prompts(), models)


def look(id_: str = "A") -> Call:
    return Call("look", json.dumps({"id": id_}))


def change(id_: str = "A") -> Call:
    return Call("change", json.dumps({"id": id_}))


def written(action: Action) -> str:
    match action:
        case Call(tool, arguments):
            return json.dumps({"tool": tool, "arguments": json.loads(arguments)})
        case Reply(text):
            return json.dumps({"reply": text})
        case Finish(text):
            return json.dumps({"finish": text})


def accept() -> str:
    return json.dumps({"verdict": "accept"})


def reject(first_wrong: int, replacement: Action | None = None, category: str = "premature", reason: str = "no") -> str:
    step = None if replacement is None else json.loads(written(replacement))
    verdict = {
        "verdict": "reject",
        "first_wrong": first_wrong,
        "category": category,
        "reason": reason,
        "replacement": step,
    }
    return json.dumps(verdict)


@dataclass
class _Lane:
    """One branch: what it asks now, or what it came to."""

    branch: object
    command: Command | None
    result: Completed | Failed | None


@dataclass
class Playbook:
    """Plays one protocol: `command` is what it asks now; every method answers it."""

    protocol: object
    facts: list[Body] = field(default_factory=list)
    acts: list[Act] = field(default_factory=list)
    prompts: list[Generate] = field(default_factory=list)
    command: Command | None = None
    outcome: Outcome | None = None
    seq: int = 0
    lanes: list["_Lane"] = field(default_factory=list)
    """The branches that run side by side now; `lane` chooses the one that is answered."""
    here: int = 0

    def __post_init__(self) -> None:
        self._advance(None)

    def _advance(self, answer: object, failure: CommandFailed | None = None) -> None:
        if not self.lanes:
            self._step(answer, failure)
            return
        lane = self.lanes[self.here]
        lane.command, lane.result = self._run(lane.branch, answer, failure)
        self._choose()

    def _choose(self) -> None:
        """Stay with the branch that was answered, else take the first that asks; where none does, join them."""
        asking = [number for number, one in enumerate(self.lanes) if one.command is not None]
        if asking:
            self.lane(self.here if self.here in asking else asking[0])
            return
        results, self.lanes = tuple(one.result for one in self.lanes), []
        self._step(results)

    def _step(self, answer: object, failure: CommandFailed | None = None) -> None:
        """Answer the protocol itself; where it goes side by side, begin every branch, in order."""
        self.command, ended = self._run(self.protocol, answer, failure)
        if isinstance(ended, Failed):
            raise ended.error
        self.outcome = None if ended is None else ended.value
        if isinstance(self.command, Parallel):
            self.lanes = [_Lane(branch, *self._run(branch, None)) for branch in self.command.branches]
            self.here = 0
            self._choose()

    def _run(self, protocol: object, answer: object, failure: CommandFailed | None = None) -> tuple:
        """Return the next command that is to be answered and None, or None and what the generator came to."""
        try:
            command = protocol.throw(failure) if failure else protocol.send(answer)
            while isinstance(command, Tell):
                self.seq += 1
                self.facts.append(command.body)
                command = protocol.send(self.seq)
        except StopIteration as stop:
            return None, Completed(stop.value)
        except CommandFailed as failed:
            return None, Failed(failed)
        return command, None

    def lane(self, number: int) -> "Playbook":
        """Answer that branch from here on."""
        self.here, self.command = number, self.lanes[number].command
        return self

    def _expect(self, kind: type) -> None:
        assert isinstance(self.command, kind), f"expected {kind.__name__}, the protocol asks {self.command}"

    def begins(self, *texts: str, fingerprint: str | None = "f0") -> "Playbook":
        self._expect(Reset)
        messages = tuple(Message("user", text) for text in texts or ("Change A.",))
        self._advance(Began(Opening(messages), fingerprint))
        return self

    def says(self, who: str, *said: Action | str, tokens: int | None = None) -> "Playbook":
        """Let a model write an action, raw text, or (several actions) native tool calls."""
        self._expect(Generate)
        assert self.command.who == who, f"expected a question to {who}, found one to {self.command.who}"
        self.prompts.append(self.command)
        if len(said) == 1:
            text = said[0] if isinstance(said[0], str) else written(said[0])
            message = Message("assistant", text)
        else:
            calls = tuple(ToolCall(f"p{n}", action.tool, action.arguments) for n, action in enumerate(said))
            message = Message("assistant", "", calls)
        self.seq += 2
        self._advance(
            Asked(Completion(message, usage=Usage(input=None if tokens is None else 0, output=tokens)), self.seq)
        )
        return self

    def needs_user(self) -> "Playbook":
        """Let the environment ask its user before it answers."""
        self._expect(Act)
        self._advance(NeedsModel(Role.USER, ModelRequest((Message("user", "what now?"),))))
        return self

    def observes(
        self, content: str = "ok", *, error: bool = False, done: bool = False, after: str = "f0", before: str = "f0"
    ):
        self._expect(Act)
        self.acts.append(self.command)
        self.seq += 2
        self._advance(Acted(Observation(content, error, done), self.seq, before, after))
        return self

    def objects(self, objection: str | None) -> "Playbook":
        self._expect(Check)
        self._advance(objection)
        return self

    def fails(self, kind: str, error: str = "no answer") -> "Playbook":
        what = {Act: "act", Generate: "generate", Reset: "reset", Evaluate: "evaluate"}[type(self.command)]
        if what == "act":
            self.acts.append(self.command)
        self._advance(None, CommandFailed(what, kind, error, self.seq))
        return self

    def graded(self, reward: str | None = "1.0") -> "Playbook":
        self._expect(Evaluate)
        self._advance(Evaluation(reward))
        return self

    def told(self, kind: type) -> list:
        """Return the facts of one type."""
        return [fact for fact in self.facts if isinstance(fact, kind)]

    @property
    def authorities(self) -> list[tuple[str, str]]:
        """(position, authority) of every act, in order."""
        return [(act.position, act.authority) for act in self.acts]
