"""A protocol as a dialogue: what it asks is expected, what it is answered is said, and no model or environment runs.

    played = play(SpecAgent(k=6), request="Cancel A.").begins()
    played.says("weak", call("change", id="A"))                          # drafted, and held: a write
    played.says("strong", reject(1, call("look", id="A"), reason="look first"))
    played.objects(None).observes("A is open")                           # the repair, checked and done

    assert played.authorities == [("s1.r1", "repair:6")]

Every method answers what the protocol asks just now and returns the playbook; one that does not fit raises
AssertionError with the dialogue so far. Facts that the protocol tells in between are collected.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, TypeVar, overload

from spectrace.core import commands
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
    Completion,
    Evaluation,
    Message,
    ModelRequest,
    NeedsModel,
    Observation,
    Opening,
    Outcome,
    Role,
    ToolCall,
    ToolSpec,
    Usage,
)
from spectrace.environments.tools import toolbox
from spectrace.testing.desk import TOOLS, setup
from spectrace.testing.replies import written
from spectrace.testing.told import asks

F = TypeVar("F")

_ASKED: dict[type[Command], str] = {Act: "act", Generate: "generate", Reset: "reset", Evaluate: "evaluate"}


class Playable(Protocol):
    """A protocol value, e.g. `SpecAgent(k=6)`."""

    def run(self, setup: Setup, /) -> "commands.Protocol[Outcome]":
        """Return the generator of one episode."""
        ...


def play(  # noqa: PLR0913 - what an episode starts from, by name
    protocol: Playable,
    *,
    tools: Sequence[Callable[..., Any] | ToolSpec] = TOOLS,
    request: str = "Change A.",
    instructions: str = "Be careful.",
    calls: str = "json",
    replies: bool = False,
    finish: bool = True,
    prompts: Prompts | None = None,
) -> "Playbook":
    """Begin a dialogue with a protocol; its first question is the reset, which `begins` answers.

    `tools` are functions, as an environment has them (they are never run), or specs; without any, a desk with look and
    search (reads) and change (a write), each of an `id`. `calls` is how both models write an action: json or native.
    """
    specs = [one if isinstance(one, ToolSpec) else toolbox([one])[one.__name__].spec for one in tools]
    desk = setup(
        tools=specs,
        request=request,
        instructions=instructions,
        calls=calls,
        replies=replies,
        finish=finish,
        prompts=prompts,
    )
    return Playbook(protocol.run(desk))


@dataclass
class _Lane:
    """One branch: what it asks now, or what it came to."""

    branch: "commands.Protocol[Any]"
    command: Command | None
    result: Completed | Failed | None


@dataclass
class Playbook:
    """Plays one protocol: `command` is what it asks now; every method answers it."""

    protocol: "commands.Protocol[Outcome]"
    facts: list[Body] = field(default_factory=list)
    """What the protocol has told, in order."""
    acts: list[Act] = field(default_factory=list)
    """The actions that reached the environment."""
    prompts: list[Generate] = field(default_factory=list)
    """The questions to models that were answered."""
    command: Command | None = None
    outcome: Outcome | None = None
    """How the episode ended; None as long as it goes on."""
    seq: int = 0
    lanes: list[_Lane] = field(default_factory=list)
    """The branches that run side by side now; `lane` chooses the one that is answered."""
    here: int = 0
    transcript: list[str] = field(default_factory=list)
    """The dialogue so far, a line for each answer."""

    def __post_init__(self) -> None:
        """Run to the first question."""
        self._advance(None)

    def begins(self, *texts: str, fingerprint: str | None = "f0") -> Self:
        """Answer the reset with what the user says first."""
        self._expect(Reset)
        messages = tuple(Message("user", text) for text in texts or ("Change A.",))
        return self._answer(Began(Opening(messages), fingerprint), " / ".join(texts))

    def says(self, who: str, *said: Action | str, tokens: int | None = None) -> Self:
        """Let a model (weak, strong, user) write an action, raw text, or (several actions) native tool calls."""
        asked = self._expect(Generate)
        if asked.who != who:
            raise self._unexpected(f"a question to {who}")
        self.prompts.append(asked)
        texts = [one if isinstance(one, str) else written(one) for one in said]
        if len(said) == 1:
            message = Message("assistant", texts[0])
        else:
            calls = (self._native(number, one) for number, one in enumerate(said))
            message = Message("assistant", "", tuple(calls))
        self.seq += 2
        usage = Usage(input=None if tokens is None else 0, output=tokens)
        return self._answer(Asked(Completion(message, usage=usage), self.seq), " ".join(texts))

    def needs_user(self) -> Self:
        """Let the environment ask its user before it answers an action."""
        self._expect(Act)
        request = ModelRequest((Message("user", "what now?"),))
        return self._answer(NeedsModel(Role.USER, request), "(asks its user)")

    def observes(
        self, content: str = "ok", *, error: bool = False, done: bool = False, after: str = "f0", before: str = "f0"
    ) -> Self:
        """Answer an action; `before` and `after` are the fingerprints around it."""
        self.acts.append(self._expect(Act))
        self.seq += 2
        return self._answer(Acted(Observation(content, error, done), self.seq, before, after), content)

    def objects(self, objection: str | None) -> Self:
        """Answer whether the environment objects to an action before it is done; None: it does not."""
        self._expect(Check)
        return self._answer(objection, str(objection))

    def fails(self, kind: str, error: str = "no answer") -> Self:
        """Let the question go without an answer: a model's or an environment's failure of that kind."""
        command = self.command
        if command is None or type(command) not in _ASKED:
            raise self._unexpected("a question that can fail")
        if isinstance(command, Act):
            self.acts.append(command)
        failure = CommandFailed(_ASKED[type(command)], kind, error, self.seq)
        return self._answer(None, f"(fails: {kind}, {error})", failure)

    def graded(self, reward: str | None = "1.0") -> Self:
        """Answer the grading."""
        self._expect(Evaluate)
        return self._answer(Evaluation(reward), str(reward))

    def lane(self, number: int) -> Self:
        """Answer that branch from here on."""
        self.here, self.command = number, self.lanes[number].command
        return self

    @overload
    def told(self, kind: type[F]) -> list[F]: ...
    @overload
    def told(self, kind: str) -> list[Body]: ...
    def told(self, kind: type[Any] | str) -> list[Any]:
        """Return the facts of one type: `told("verdict.given")`."""
        if isinstance(kind, str):
            return [fact for fact in self.facts if kind == fact.TYPE]
        return [fact for fact in self.facts if isinstance(fact, kind)]

    @property
    def authorities(self) -> list[tuple[str, str]]:
        """(position, authority) of every act, in order."""
        return [(act.position, act.authority) for act in self.acts]

    def _native(self, number: int, action: Action | str) -> ToolCall:
        tool, arguments = getattr(action, "tool", None), getattr(action, "arguments", None)
        if tool is None or arguments is None:
            raise AssertionError(f"several actions in one message are native tool calls, found {action!r} among them")
        return ToolCall(f"p{number}", tool, arguments)

    def _expect(self, kind: type[Any]) -> Any:
        if not isinstance(self.command, kind):
            raise self._unexpected(asks(kind))
        return self.command

    def _unexpected(self, wanted: str) -> AssertionError:
        ended = f"has ended: {self.outcome.status} ({self.outcome.reason})" if self.outcome else "has ended"
        found = ended if self.command is None else f"asks {asks(self.command)}"
        before = "".join(f"\n  {number}. {line}" for number, line in enumerate(self.transcript, 1))
        return AssertionError(f"expected {wanted}; the protocol {found}. The dialogue so far:{before or ' nothing'}")

    def _answer(self, answer: object, said: str, failure: CommandFailed | None = None) -> Self:
        self.transcript.append(f"{'nothing' if self.command is None else asks(self.command)}: {said}")
        self._advance(answer, failure)
        return self

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
        self.outcome = None if ended is None else ended.value  # type: ignore[assignment] # the generator's own result
        if isinstance(self.command, Parallel):
            self.lanes = [_Lane(branch, *self._run(branch, None)) for branch in self.command.branches]
            self.here = 0
            self._choose()

    def _run(
        self, protocol: "commands.Protocol[Any]", answer: object, failure: CommandFailed | None = None
    ) -> tuple[Command | None, Completed | Failed | None]:
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
