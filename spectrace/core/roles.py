"""The models' roles: draft, repair, act: render the prompt, ask, read the reply, ask again once. Reviews: `reviewing`.

Each is a sub-generator that a re-verification can run alone. `Meter` counts what the budgets are checked against;
it counts only recorded answers, so a replay counts the same.
"""

from dataclasses import dataclass, field, replace

from spectrace.core import prompts as render
from spectrace.core.commands import Asked, CommandFailed, Protocol, generate, tell
from spectrace.core.endings import TOKENS_UNKNOWN
from spectrace.core.events import ReplyUnusable
from spectrace.core.prompts import PROTOCOL_REVISION
from spectrace.core.reading import Unusable, read_actions
from spectrace.core.setup import Setup
from spectrace.core.types import Action, History, Message, ModelFacts, ModelRequest, Outcome, Role, Scoring, Step, Usage
from spectrace.core.unwrapping import token_limit

_COUNTS_OR_ENDS = 2
"""From this revision on nobody's silence counts as no tokens under `max_tokens`."""


@dataclass(slots=True)
class Meter:
    """What the models have used so far, by `weak` and `strong`."""

    calls: dict[str, int] = field(default_factory=dict)
    tokens: int = 0
    steps: int = 0
    uncounted: int = 0
    """Calls whose server did not count their tokens: `tokens` is then at least."""

    def count(self, who: str, usage: Usage) -> None:
        """Count one answered call, and what is known of its tokens."""
        self.calls[who] = self.calls.get(who, 0) + 1
        self.uncounted += usage.input is None or usage.output is None
        self.tokens += (usage.input or 0) + (usage.output or 0)


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one episode, checked before each model call and never between a verdict and its act."""

    max_steps: int = 60
    """Drafted and repaired steps."""
    max_strong_calls: int | None = None
    max_tokens: int | None = None
    """Input and output tokens of both models, by their servers' word."""

    def spent(self, meter: Meter, revision: int = PROTOCOL_REVISION) -> str | None:
        """Return which limit is reached, or cannot be kept; None where there is something left."""
        if meter.steps >= self.max_steps:
            return "max_steps"
        if self.max_strong_calls is not None and meter.calls.get("strong", 0) >= self.max_strong_calls:
            return "max_strong_calls"
        if self.max_tokens is not None and meter.tokens >= self.max_tokens:
            return "max_tokens"
        if self.max_tokens is not None and meter.uncounted and revision >= _COUNTS_OR_ENDS:
            return TOKENS_UNKNOWN
        return None


class Ended(Exception):
    """The protocol cannot go on: the outcome says why. Raised by roles, caught where a protocol returns."""

    def __init__(self, outcome: Outcome) -> None:
        """Keep the outcome."""
        super().__init__(outcome.reason)
        self.outcome = outcome


@dataclass(frozen=True, slots=True)
class Written:
    """Actions that a model wrote, and the event number of the request that they answer."""

    actions: tuple[Action, ...]
    request: int


@dataclass(frozen=True, slots=True)
class Manner:
    """How the strong model is asked: options of SpecAgent of the same names, or what a re-verification takes over."""

    prompts: str = "shared"
    acceptance: str = "semantic"
    verdict: str = "decoded"
    threshold: str = "0.5"


@dataclass(frozen=True, slots=True)
class Desk:
    """What every role works with: the setup, the budget, the manner of asking and the meter."""

    setup: Setup
    budget: Budget
    meter: Meter = field(default_factory=Meter)
    manner: Manner = Manner()
    edited: dict[int, str] = field(default_factory=dict)
    """Model calls whose answer a person edited -> person:NAME."""

    def check_budget(self) -> None:
        """Raise Ended(truncated) when a limit is reached."""
        limit = self.budget.spent(self.meter, self.setup.revision)
        if limit is not None:
            raise Ended(Outcome("truncated", limit))

    def authority(self, review: int | None, own: str) -> str:
        """Return what a decision of that review is done on: its own event, or the person who edited the verdict."""
        return own if review is None else self.edited.get(review, own)

    def template(self, role: Role) -> str:
        """Return the strong model's system prompt in a role: one for all, or (prompts=separate) one each."""
        prompts = self.setup.prompts
        if self.manner.prompts == "shared":
            return prompts.strong
        return {Role.REVIEWER: prompts.reviewer, Role.REPAIRER: prompts.repairer}.get(role, prompts.drafter)


@dataclass(frozen=True, slots=True)
class Shown:
    """What a corrective turn is shown of the rejection."""

    reason: str
    rejected: Action | None = None


def draft(
    desk: Desk, history: History, steps: tuple[Step, ...], position: str, notes: tuple[tuple[int, str], ...] = ()
) -> Protocol[Written | None]:
    """Let the weak model write the next step(s); None after two unusable replies."""
    model = desk.setup.model("weak")
    messages = context(desk.setup, model, desk.setup.prompts.drafter, history, steps, notes)
    return (yield from _write(desk, model, Role.DRAFTER, position, messages))


def act_next(desk: Desk, who: str, history: History, position: str) -> Protocol[Written | None]:
    """Let one model write the next step(s) of its own episode; None after two unusable replies."""
    model = desk.setup.model(who)
    prompts = desk.setup.prompts
    template = prompts.drafter if who == "weak" else prompts.strong
    messages = context(desk.setup, model, template, history, ())
    return (yield from _write(desk, model, Role.ACTOR, position, messages))


def act_instead(desk: Desk, history: History, position: str) -> Protocol[Written | None]:
    """Let the strong model write its own next step, to be compared with a drafted one (acceptance=exact)."""
    model = desk.setup.model("strong")
    messages = context(desk.setup, model, desk.template(Role.ACTOR), history, ())
    return (yield from _write(desk, model, Role.REVIEWER, position, messages))


def repair(desk: Desk, history: History, position: str, shown: Shown | None) -> Protocol[Written | None]:
    """Let the strong model write its own step(s) in place of the rejected one; None after two unusable replies."""
    messages = repair_messages(desk, history, shown)
    return (yield from _write(desk, desk.setup.model("strong"), Role.REPAIRER, position, messages))


def repair_messages(desk: Desk, history: History, shown: Shown | None) -> tuple[Message, ...]:
    """Return the repairer's prompt: the accepted history, and the question last."""
    prompts = desk.setup.prompts
    before = context(desk.setup, desk.setup.model("strong"), desk.template(Role.REPAIRER), history, ())
    rejection = render.rejection(prompts, shown.reason, shown.rejected) if shown else ""
    return (*before, Message("user", render.fill(prompts.repair, rejection=rejection)))


def context(  # noqa: PLR0913 - what a prompt is made of
    setup: Setup,
    model: ModelFacts,
    template: str,
    history: History,
    steps: tuple[Step, ...],
    notes: tuple[tuple[int, str], ...] = (),
) -> tuple[Message, ...]:
    """Return what every role's prompt begins with: the system prompt, the history and the open steps."""
    native = model.calls == "native"
    told = render.history_messages(
        setup.prompts, history, steps, native=native, notes=notes, rendered=setup.rendered_steps
    )
    return (_system(setup, template, native=native), *told)


def _system(setup: Setup, template: str, *, native: bool) -> Message:
    """Return a system prompt; every question of an episode begins with one of a few."""
    key = template, native
    if key not in setup.rendered_systems:
        setup.rendered_systems[key] = render.system_message(
            template,
            setup.prompts,
            setup.instructions,
            setup.tools,
            native=native,
            replies=setup.environment.replies,
            finish=setup.environment.finish,
        )
    return setup.rendered_systems[key]


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a model: for whom, what for, the prompt, and the form of the reply."""

    model: ModelFacts
    role: Role
    position: str
    messages: tuple[Message, ...]
    schema: str | None = None
    """JSON Schema of the reply, as text; sent to servers that can constrain."""
    scoring: Scoring | None = None


def _write(
    desk: Desk, model: ModelFacts, role: Role, position: str, messages: tuple[Message, ...]
) -> Protocol[Written | None]:
    native = model.calls == "native"
    schema = None if native else desk.setup.action_schema_text()
    question = Question(model, role, position, messages, schema)
    limit = token_limit(model.parameters)
    asked = yield from ask(desk, question)
    read = read_actions(desk.setup, asked.completion, native=native, limit=limit)
    if isinstance(read, Unusable):
        asked = yield from ask_again(desk, question, asked, read.cause)
        read = read_actions(desk.setup, asked.completion, native=native, limit=limit)
    if isinstance(read, Unusable):
        yield from tell(ReplyUnusable(role=role, request=asked.seq, cause=read.cause, next="gave_up"))
        return None
    for cause in read.tolerated:
        yield from tell(ReplyUnusable(role=role, request=asked.seq, cause=cause, next="tolerated"))
    return Written(read.actions, asked.seq)


def ask_again(desk: Desk, question: Question, asked: Asked, cause: str) -> Protocol[Asked]:
    """Ask once more, with what was wrong with the first answer appended."""
    yield from tell(ReplyUnusable(role=question.role, request=asked.seq, cause=cause, next="asked_again"))
    answer = replace(asked.completion.message, calls=())
    spoken = (answer,) if answer.content else ()
    again = Message("user", render.fill(desk.setup.prompts.again, cause=cause))
    return (yield from ask(desk, replace(question, messages=(*question.messages, *spoken, again))))


def ask(desk: Desk, question: Question) -> Protocol[Asked]:
    """Ask a model, within the budget; raise Ended where it does not answer."""
    desk.check_budget()
    model = question.model
    tools = desk.setup.tools if model.calls == "native" else ()
    schema = question.schema if model.constrained else None
    request = ModelRequest(question.messages, tools, schema, model.parameters, question.scoring)
    try:
        asked = yield from generate(question.role, model.role, question.position, request)
    except CommandFailed as failure:
        raise Ended(_model_outcome(model.role, failure)) from failure
    desk.meter.count(model.role, asked.completion.usage)
    if asked.by is not None:
        desk.edited[asked.seq] = asked.by
    return asked


def _model_outcome(who: str, failure: CommandFailed) -> Outcome:
    """Return how an episode ends whose model did not answer: a prompt that does not fit is truncation, not failure."""
    match failure.kind:
        case "context":
            return Outcome("truncated", "context_drafter" if who == "weak" else "context_reviewer")
        case "budget":
            return Outcome("truncated", failure.error)
        case kind:
            return Outcome("failed", f"model_{who}_{kind}")
