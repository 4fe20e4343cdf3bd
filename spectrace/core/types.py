"""The nouns of the protocol: tasks, actions, observations, messages, steps, verdicts.

Everything here is a frozen value. Foreign JSON (tool arguments, schemas, parameters) is kept as its exact
*text*; `str` fields may hold any Python text, lone surrogates and NUL included. Nothing is a float: times are
integer microseconds (`_us`), rewards are decimal strings.
"""

from dataclasses import dataclass, field
from enum import StrEnum


class Effect(StrEnum):
    """What an action does to the world. Unknown counts as WRITE."""

    READ = "read"
    WRITE = "write"
    REPLY = "reply"
    FINISH = "finish"


class Role(StrEnum):
    """Who a model call is made for."""

    DRAFTER = "drafter"
    REVIEWER = "reviewer"
    REPAIRER = "repairer"
    ACTOR = "actor"
    USER = "user"
    JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call; `arguments` is the exact JSON text."""

    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply to the user, who may answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Finish:
    """The final answer: ends or submits the task."""

    text: str


Action = Call | Reply | Finish


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the models see it, and what it was declared to do."""

    name: str
    description: str
    parameters: str
    """JSON Schema of the arguments, as text."""
    effect: Effect = Effect.WRITE
    effect_by: str = "default"
    """Who declared the effect: declared, default, override, environment."""
    external: bool = False
    """A read that sends data to an outside party."""
    timeout_us: int | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call inside a message, with the position id (`s3.2`) or the provider's id."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message. `role` is system, user, assistant or tool."""

    role: str
    content: str = ""
    calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None
    """On a tool message: the id of the call that it answers."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts by the server's word. Unknown is None, never 0. `input` includes the cached ones."""

    input: int | None = None
    cached: int | None = None
    output: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One transport attempt of a model call: offset of its start, duration, and the error that ended it."""

    started_us: int
    duration_us: int
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Scoring:
    """Ask for the probability of an answer about each step instead of text (PROTOCOL section 6).

    Without `rejected` every step is scored and nothing is decoded: the completion's content is JSON text
    `{"yes": [...], "no": [...]}`, log-probabilities as decimal strings. With it, the reply goes on after that step's
    *no* and is decoded under the request's schema.
    """

    steps: int
    yes: str = "yes"
    no: str = "no"
    rejected: int | None = None


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a model is asked. `tools` are sent natively; `schema` (JSON text) constrains the reply."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    schema: str | None = None
    parameters: str = "{}"
    """Sampling parameters as JSON text, e.g. temperature, max_tokens, seed."""
    scoring: Scoring | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered."""

    message: Message
    reasoning: str | None = None
    finish_reason: str | None = None
    """As the server says it: stop, length, tool_calls, ..."""
    model: str | None = None
    """The model's name as returned."""
    usage: Usage = field(default_factory=Usage)
    latency_us: int | None = None
    first_token_us: int | None = None
    attempts: tuple[Attempt, ...] = ()
    provider_id: str | None = None
    server: str | None = None
    """What else the server said of itself with this answer (weight version, ...), as JSON text."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What the environment answered to an action. `done`: the environment ended the episode."""

    content: str
    error: bool = False
    done: bool = False


@dataclass(frozen=True, slots=True)
class Opening:
    """How an episode begins: the messages before the first action (usually the user's request)."""

    messages: tuple[Message, ...]
    done: bool = False


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The environment's own grade. `reward` is a decimal string or None; `detail` is JSON text."""

    reward: str | None
    detail: str = "{}"


@dataclass(frozen=True, slots=True)
class NeedsModel:
    """An environment's answer that a model must speak first (user simulator, judge); resumed with its completion."""

    role: Role
    request: ModelRequest


@dataclass(frozen=True, slots=True)
class Task:
    """A task: its id, the user's request, and the environment's own data for it as JSON text."""

    id: str
    request: str
    data: str = "{}"


@dataclass(frozen=True, slots=True)
class Step:
    """One action with, if it ran, its observation. `position` is `s3.2`, or `s3.r1` for a repair's."""

    position: str
    action: Action
    effect: Effect
    observation: Observation | None = None


@dataclass(frozen=True, slots=True)
class History:
    """The opening and the committed steps: all that later prompts may speak of."""

    opening: tuple[Message, ...]
    steps: tuple[Step, ...] = ()

    def then(self, *steps: Step) -> "History":
        """Return the history with more steps committed."""
        return History(self.opening, (*self.steps, *steps))


@dataclass(frozen=True, slots=True)
class Segment:
    """What the weak model drafted between two boundaries. A held step is the last and has no observation."""

    index: int
    steps: tuple[Step, ...]
    reason: str
    """held, k_reads, reply, finish, stalled, unusable_draft, budget."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The review of a segment of `drafted` steps.

    `accepted` is the length of the longest semantically valid prefix. `status` is ok, repaired (something
    harmless was dropped) or unusable (its own class: neither accept nor reject; nothing is accepted).
    """

    drafted: int
    accepted: int
    status: str = "ok"
    category: str | None = None
    reason: str | None = None
    replacement: Action | None = None
    cause: str | None = None
    """Why it was repaired or is unusable."""
    raw: str = ""
    replacement_unusable: str | None = None
    """Why the replacement could not be read, though the rejection stands."""
    probabilities: str | None = None
    """When scored: JSON text, a decimal string for each step."""

    @property
    def accepts_all(self) -> bool:
        """Whether every drafted step stands."""
        return self.status != "unusable" and self.accepted == self.drafted

    @property
    def decision(self) -> str:
        """accept, reject or unusable."""
        if self.status == "unusable":
            return "unusable"
        return "accept" if self.accepts_all else "reject"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an episode ended. `status`: completed, truncated, failed, interrupted."""

    status: str
    reason: str
    answer: str | None = None
    reward: str | None = None


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """A model as it was asked for and as its server describes itself. Never a key, never credentials in `url`."""

    role: str
    """weak, strong or user."""
    provider: str
    name: str
    url: str | None = None
    parameters: str = "{}"
    calls: str = "json"
    """How the model writes actions: json (under a schema, as text) or native (tool calls)."""
    constrained: bool = True
    """Whether the server is sent the JSON Schema of the reply."""
    server: str = "{}"
    """Server facts as JSON text, secrets removed."""
    price: str | None = None
    """What its tokens cost on the day of the run, as JSON text (`cost.prices`); None where nobody knows."""


@dataclass(frozen=True, slots=True)
class EnvironmentFacts:
    """An environment as recorded with every episode."""

    name: str
    """As named on the command line: shop, tau2:airline, module:attribute."""
    package: str
    version: str
    restore: str = "none"
    """reset (reset and re-executing gives the same state), snapshot, or none."""
    clock: str = "real"
    data: tuple[tuple[str, str], ...] = ()
    """(name, digest) of the data it was built from."""
    fingerprint: str | None = None
    """Digest of the state before the first action."""
    replies: bool = False
    """Whether a reply to the user is an action here."""
    finish: bool = True
    """Whether a final answer is an action here; False where the user ends the dialogue."""
