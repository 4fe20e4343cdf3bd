"""The models' roles: draft, review, repair, act: render the prompt, ask, read the reply, ask again once.

Each is a sub-generator that a re-verification can run alone. `Meter` counts what the budgets are checked against;
it counts only recorded answers, so a replay counts the same.
"""

import json
from dataclasses import dataclass, field, replace

from spectrace.core import prompts as render
from spectrace.core.commands import Asked, CommandFailed, Protocol, generate, tell
from spectrace.core.events import ReplyUnusable
from spectrace.core.reading import Unusable, read_actions, read_verdict
from spectrace.core.setup import CATEGORIES, Setup
from spectrace.core.types import Action, History, Message, ModelFacts, ModelRequest, Outcome, Role, Step, Usage, Verdict


@dataclass(slots=True)
class Meter:
    """What the models have used so far, by `weak` and `strong`."""

    calls: dict[str, int] = field(default_factory=dict)
    tokens: int = 0
    steps: int = 0

    def count(self, who: str, usage: Usage) -> None:
        """Count one answered call; unknown tokens count as none, because nobody knows them."""
        self.calls[who] = self.calls.get(who, 0) + 1
        self.tokens += (usage.input or 0) + (usage.output or 0)


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one episode, checked before each model call and never between a verdict and its act."""

    max_steps: int = 60
    """Drafted and repaired steps."""
    max_strong_calls: int | None = None
    max_tokens: int | None = None
    """Input and output tokens of both models, by their servers' word."""

    def spent(self, meter: Meter) -> str | None:
        """Return which limit is reached, or None."""
        if meter.steps >= self.max_steps:
            return "max_steps"
        if self.max_strong_calls is not None and meter.calls.get("strong", 0) >= self.max_strong_calls:
            return "max_strong_calls"
        if self.max_tokens is not None and meter.tokens >= self.max_tokens:
            return "max_tokens"
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
class Desk:
    """What every role works with: the setup, the budget and the meter."""

    setup: Setup
    budget: Budget
    meter: Meter = field(default_factory=Meter)

    def check_budget(self) -> None:
        """Raise Ended(truncated) when a limit is reached."""
        limit = self.budget.spent(self.meter)
        if limit is not None:
            raise Ended(Outcome("truncated", limit))


def draft(desk: Desk, history: History, steps: tuple[Step, ...], position: str) -> Protocol[Written | None]:
    """Let the weak model write the next step(s); None after two unusable replies."""
    model = desk.setup.model("weak")
    messages = _context(desk.setup, model, desk.setup.prompts.drafter, history, steps)
    return (yield from _write(desk, model, Role.DRAFTER, position, messages))


def act_next(desk: Desk, who: str, history: History, position: str) -> Protocol[Written | None]:
    """Let one model write the next step(s) of its own episode; None after two unusable replies."""
    model = desk.setup.model(who)
    prompts = desk.setup.prompts
    template = prompts.drafter if who == "weak" else prompts.strong
    messages = _context(desk.setup, model, template, history, ())
    return (yield from _write(desk, model, Role.ACTOR, position, messages))


def repair(desk: Desk, history: History, position: str, reason: str | None) -> Protocol[Written | None]:
    """Let the strong model write its own step(s) in place of the rejected one; None after two unusable replies."""
    model, prompts = desk.setup.model("strong"), desk.setup.prompts
    context = _context(desk.setup, model, prompts.strong, history, ())
    rejection = render.fill(prompts.rejection, reason=reason) if reason else ""
    question = Message("user", render.fill(prompts.repair, rejection=rejection))
    return (yield from _write(desk, model, Role.REPAIRER, position, (*context, question)))


def review(desk: Desk, history: History, steps: tuple[Step, ...], position: str) -> Protocol[tuple[Verdict, int]]:
    """Put a drafted segment to the strong model: its verdict and the number of the model call that gave it.

    An unusable reply is asked again once with its cause; then the verdict is `unusable`: nothing is accepted.
    """
    setup, model = desk.setup, desk.setup.model("strong")
    schema = json.dumps(setup.verdict_schema(len(steps)))
    messages = review_messages(setup, model, history, steps)
    asked = yield from _ask(desk, model, Role.REVIEWER, position, messages, schema)
    verdict = read_verdict(setup, asked.completion, len(steps))
    if isinstance(verdict, Unusable):
        asked = yield from _ask_again(desk, model, Role.REVIEWER, position, messages, schema, asked, verdict.cause)
        verdict = read_verdict(setup, asked.completion, len(steps))
    if isinstance(verdict, Unusable):
        yield from tell(ReplyUnusable(role=Role.REVIEWER, request=asked.seq, cause=verdict.cause, next="gave_up"))
        raw = asked.completion.message.content
        verdict = Verdict(len(steps), 0, status="unusable", cause=verdict.cause, raw=raw)
    return verdict, asked.seq


def review_messages(setup: Setup, model: ModelFacts, history: History, steps: tuple[Step, ...]) -> tuple[Message, ...]:
    """Return the reviewer's prompt: the shared context, the segment inside it, and the question last."""
    prompts = setup.prompts
    context = _context(setup, model, prompts.strong, history, steps)
    question = render.fill(
        prompts.review,
        count=len(steps),
        steps=render.numbered(steps, prompts.held),
        categories=", ".join(CATEGORIES),
    )
    return (*context, Message("user", question))


def _context(
    setup: Setup, model: ModelFacts, template: str, history: History, steps: tuple[Step, ...]
) -> tuple[Message, ...]:
    native = model.calls == "native"
    system = render.system_message(
        template,
        setup.prompts,
        setup.instructions,
        setup.tools,
        native=native,
        replies=setup.environment.replies,
        finish=setup.environment.finish,
    )
    return (system, *render.history_messages(setup.prompts, history, steps, native=native))


def _write(
    desk: Desk, model: ModelFacts, role: Role, position: str, messages: tuple[Message, ...]
) -> Protocol[Written | None]:
    native = model.calls == "native"
    schema = None if native else json.dumps(desk.setup.action_schema())
    asked = yield from _ask(desk, model, role, position, messages, schema)
    actions = read_actions(desk.setup, asked.completion, native=native)
    if isinstance(actions, Unusable):
        asked = yield from _ask_again(desk, model, role, position, messages, schema, asked, actions.cause)
        actions = read_actions(desk.setup, asked.completion, native=native)
    if isinstance(actions, Unusable):
        yield from tell(ReplyUnusable(role=role, request=asked.seq, cause=actions.cause, next="gave_up"))
        return None
    return Written(actions, asked.seq)


def _ask_again(  # noqa: PLR0913 - the first question's parts and what was wrong with its answer
    desk: Desk,
    model: ModelFacts,
    role: Role,
    position: str,
    messages: tuple[Message, ...],
    schema: str | None,
    asked: Asked,
    cause: str,
) -> Protocol[Asked]:
    yield from tell(ReplyUnusable(role=role, request=asked.seq, cause=cause, next="asked_again"))
    answer = replace(asked.completion.message, calls=())
    question = Message("user", render.fill(desk.setup.prompts.again, cause=cause))
    spoken = (answer,) if answer.content else ()
    return (yield from _ask(desk, model, role, position, (*messages, *spoken, question), schema))


def _ask(  # noqa: PLR0913 - what a question is made of
    desk: Desk, model: ModelFacts, role: Role, position: str, messages: tuple[Message, ...], schema: str | None
) -> Protocol[Asked]:
    desk.check_budget()
    tools = desk.setup.tools if model.calls == "native" else ()
    request = ModelRequest(messages, tools, schema if model.constrained else None, model.parameters)
    try:
        asked = yield from generate(role, model.role, position, request)
    except CommandFailed as failure:
        raise Ended(_model_outcome(model.role, failure)) from failure
    desk.meter.count(model.role, asked.completion.usage)
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
