"""AgentCollab: the strong model plans, the weak one drives, and whoever drives asks itself whether it gets anywhere.

A stretch is `k` steps of the weak model, fewer where one changed something or spoke to the user. After each, the model
that drove judges its progress. If the weak one stagnates, the strong one takes B = 2 + 2 x (consecutive failures +
`offset`) steps, judges them too, and hands back; progress resets the count. Nothing is held and nothing is reviewed:
every step is executed at once, on the authority `actor`.

What no source says is decided here, towards the strong model: a judgement that cannot be read twice counts as
stagnation, and so does a weak model that cannot be read, without being asked. A stretch of the strong model that it
judges to stagnate counts as one more failure, so that its next one is longer.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import ClassVar, TypeVar

from spectrace.core import commands, roles
from spectrace.core import prompts as render
from spectrace.core.baselines import take, unreadable
from spectrace.core.commands import Asked, Protocol, tell
from spectrace.core.events import ControlPassed, PlanMade, ProgressJudged, ReplyUnusable
from spectrace.core.foreign_json import Unreadable, members
from spectrace.core.options import Budgeted
from spectrace.core.reading import Unusable, read, text_of
from spectrace.core.roles import Desk, Ended, Question, ask, ask_again, context
from spectrace.core.setup import Setup
from spectrace.core.steps import Ledger, finish_episode
from spectrace.core.types import Completion, Effect, History, Message, Outcome, Role, Step
from spectrace.core.unwrapping import refuse_cut_off, token_limit, unwrapped

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCollab(Budgeted):
    """The protocol and its options, as recorded in `episode.started` (PROTOCOL section 3)."""

    NAME: ClassVar[str] = "agentcollab"
    MODELS: ClassVar[tuple[str, ...]] = ("weak", "strong")

    k: int = 6
    offset: int = -1

    def run(self, setup: Setup) -> Protocol[Outcome]:
        """Return the generator of one episode."""
        return finish_episode(_episode(self, Desk(setup, self.budget)))

    def stretch(self, failures: int) -> int:
        """Return how many steps the strong model takes after so many failures in a row."""
        return 2 + 2 * (failures + self.offset)


@dataclass(slots=True)
class _Run:
    """One episode: the history, the plan, who drives, and the failures in a row."""

    options: AgentCollab
    desk: Desk
    ledger: Ledger
    plan: Message
    who: str = "weak"
    failures: int = 0

    @property
    def shown(self) -> History:
        """The history with the plan behind the request, as both models see it."""
        return History((*self.ledger.history.opening, self.plan), self.ledger.history.steps)

    def passed(self, segment: int, to: str, reason: str) -> Protocol[None]:
        """Let the other model drive."""
        self.who = to
        steps = self.options.stretch(self.failures) if to == "strong" else None
        yield from tell(ControlPassed(segment=segment, to=to, reason=reason, steps=steps))


def _episode(options: AgentCollab, desk: Desk) -> Protocol[Outcome]:
    """Plan; then drive a stretch, judge it and pass control, until the episode ends. A segment is one message."""
    ledger = Ledger(desk, (yield from commands.reset(desk.setup.seed)))
    if ledger.outcome is not None:
        return ledger.outcome
    run = _Run(options, desk, ledger, (yield from _plan(desk, ledger.history)))
    yield from run.passed(1, "weak", "planned")
    segments = count(1)
    while True:
        segment, steps = yield from _drive(run, segments)
        if run.ledger.outcome is not None:
            return run.ledger.outcome
        progress = steps is not None and (yield from _progress(run, segment, steps))
        run.failures = 0 if progress else run.failures + 1
        if run.who == "strong":
            yield from run.passed(segment + 1, "weak", "progress" if progress else "budget_spent")
        elif not progress:
            yield from run.passed(segment + 1, "strong", "stagnation")


def _drive(run: _Run, segments: "count[int]") -> Protocol[tuple[int, tuple[Step, ...] | None]]:
    """Let the model in control take its stretch; return the last segment and the steps.

    None in place of the steps: the weak model could not be read, and the strong one has to take over.
    """
    most = run.options.k if run.who == "weak" else run.options.stretch(run.failures)
    steps: tuple[Step, ...] = ()
    while True:
        segment = next(segments)
        written = yield from roles.act_next(run.desk, run.who, run.shown, f"s{segment}")
        if written is None:
            if run.who == "strong":
                raise Ended(unreadable())
            return segment, None
        taken = yield from take(run.desk, run.ledger, segment, written)
        steps = (*steps, *taken)
        boundary = run.who == "weak" and any(map(_is_boundary, taken))
        if run.ledger.outcome is not None or boundary or len(steps) >= most:
            return segment, steps


def _is_boundary(step: Step) -> bool:
    """Whether a step did something that others see, which is a good moment to look back."""
    return step.effect is not Effect.READ and step.observation is not None and not step.observation.error


def _plan(desk: Desk, history: History) -> Protocol[Message]:
    """Ask the strong model for the plan; return it as the message that both models are shown."""
    model, prompts = desk.setup.model("strong"), desk.setup.prompts
    messages = (*context(desk.setup, model, prompts.strong, history, ()), Message("user", render.fill(prompts.plan)))
    schema = _object(plan=_text(prompts.plan_limit))
    question = Question(model, Role.ACTOR, "s1.p", messages, schema)
    asked, plan = yield from _asked(desk, question, _read_plan)
    if isinstance(plan, Unusable):
        raise Ended(Outcome("failed", "no_plan"))
    yield from tell(PlanMade(segment=1, request=asked.seq, plan=plan))
    return Message("user", render.fill(prompts.plan_shown, plan=plan))


def _read_plan(found: dict[str, str]) -> str:
    _require(found, "plan")
    return text_of(found, "plan")


def _progress(run: _Run, segment: int, steps: tuple[Step, ...]) -> Protocol[bool]:
    """Let the model in control judge what it did; one that cannot be read does not speak for progress."""
    setup, failures = run.desk.setup, run.failures + 1
    model, prompts = setup.model(run.who), setup.prompts
    template = prompts.drafter if run.who == "weak" else prompts.strong
    text = render.fill(prompts.progress, count=len(steps), steps=render.numbered(steps, prompts.held))
    messages = (*context(setup, model, template, run.shown, ()), Message("user", text))
    schema = _object(progress={"type": "boolean"}, reason=_text(prompts.reason_limit))
    asked, judged = yield from _asked(
        run.desk, Question(model, Role.REVIEWER, f"s{segment}.j", messages, schema), _read_judgement
    )
    match judged:
        case Unusable():
            outcome, reason = "unusable", None
        case (True, str(reason)):
            outcome, failures = "progress", 0
        case (_, str(reason)):
            outcome = "stagnation"
    told = ProgressJudged(
        outcome=outcome, segment=segment, who=run.who, request=asked.seq, reason=reason, failures=failures
    )
    yield from tell(told)
    return outcome == "progress"


def _read_judgement(found: dict[str, str]) -> tuple[bool, str]:
    _require(found, "progress", "reason")
    progress = {"true": True, "false": False}.get(found["progress"])
    if progress is None:
        raise Unreadable(f"progress must be true or false, found {found['progress'][:40]}")
    return progress, text_of(found, "reason")


def _require(found: dict[str, str], *names: str) -> None:
    if sorted(found) != sorted(names):
        raise Unreadable(f"expected the members {', '.join(names)}, found {', '.join(found) or 'none'}")


def _asked(
    desk: Desk, question: Question, reads: Callable[[dict[str, str]], T]
) -> Protocol[tuple[Asked, T | Unusable]]:
    """Ask for an object, and once more where the reply cannot be read; return the last answer and what it says."""
    limit = token_limit(question.model.parameters)
    asked = yield from ask(desk, question)
    said = read(lambda: _read(asked.completion, limit, reads))
    if isinstance(said, Unusable):
        asked = yield from ask_again(desk, question, asked, said.cause)
        said = read(lambda: _read(asked.completion, limit, reads))
    if isinstance(said, Unusable):
        yield from tell(ReplyUnusable(role=question.role, request=asked.seq, cause=said.cause, next="gave_up"))
        return asked, said
    value, tolerated = said
    for cause in tolerated:
        yield from tell(ReplyUnusable(role=question.role, request=asked.seq, cause=cause, next="tolerated"))
    return asked, value


def _read(completion: Completion, limit: int | None, reads: Callable[[dict[str, str]], T]) -> tuple[T, tuple[str, ...]]:
    """Read one object that is the whole reply: what stands inside a text is somebody else's, and counts for nothing."""
    refuse_cut_off(completion, limit)
    if completion.message.calls:
        raise Unreadable("expected a JSON object as text, found a tool call")
    answer = unwrapped(completion.message.content)
    return reads(members(answer.text, strict=True)), answer.tolerated


def _object(**properties: dict[str, object]) -> str:
    closed = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return json.dumps(closed)


def _text(limit: int) -> dict[str, object]:
    return {"type": "string", "minLength": 1, "maxLength": limit}
