"""Reviewing: a drafted segment is put to the strong model, which says how much of it stands. Counterpart of `drafting`.

Three manners (options `acceptance` and `verdict`): the verdict is *decoded* under a schema; it is *scored*, read from
the probability of *yes* after each step with nothing decoded; or (acceptance=exact) the strong model writes its own
action at each step and equal ones are accepted. A verdict that cannot be read is asked for once more and then
`unusable`: nothing is accepted.
"""

import json
import math
import re
from dataclasses import replace

from spectrace.core import prompts as render
from spectrace.core.commands import Asked, Protocol, tell
from spectrace.core.events import ReplyUnusable
from spectrace.core.foreign_json import Unreadable, members
from spectrace.core.reading import Unusable
from spectrace.core.roles import Desk, Question, act_instead, ask, ask_again, context
from spectrace.core.sameness import same_action
from spectrace.core.setup import CATEGORIES
from spectrace.core.types import Action, Completion, History, Message, Role, Scoring, Step, Verdict
from spectrace.core.unwrapping import token_limit
from spectrace.core.verdict_reading import read_verdict, shown_to_reviewer

_DECIMAL = re.compile(r"-?[0-9]{1,20}(?:\.[0-9]{1,40})?(?:[eE][-+]?[0-9]{1,3})?", re.ASCII)
_ROUNDED = 1e-3
"""A log-probability is at most 0, but for the last digits of somebody's arithmetic."""


def review(
    desk: Desk, history: History, steps: tuple[Step, ...], position: str
) -> Protocol[tuple[Verdict, int | None]]:
    """Return the verdict on a segment and the number of the model call that gave it."""
    if desk.manner.acceptance == "exact":
        return (yield from _exact(desk, history, steps, position))
    if desk.manner.verdict == "scored":
        return (yield from _scored(desk, history, steps, position))
    return (yield from _decoded(desk, history, steps, position))


def review_messages(desk: Desk, history: History, steps: tuple[Step, ...]) -> tuple[Message, ...]:
    """Return the reviewer's prompt: the shared context, the segment inside it, and the question last."""
    prompts = desk.setup.prompts
    before = context(desk.setup, desk.setup.model("strong"), desk.template(Role.REVIEWER), history, steps)
    template = prompts.score if desk.manner.verdict == "scored" else prompts.review
    question = render.fill(
        template,
        count=len(steps),
        steps=render.numbered(steps, prompts.held),
        categories=", ".join(CATEGORIES),
    )
    return (*before, Message("user", question))


def _decoded(
    desk: Desk, history: History, steps: tuple[Step, ...], position: str
) -> Protocol[tuple[Verdict, int | None]]:
    question = _question(desk, history, steps, position, desk.setup.verdict_schema_text(len(steps)))
    shown, limit = shown_to_reviewer(history, steps), token_limit(question.model.parameters)
    asked = yield from ask(desk, question)
    verdict = read_verdict(desk.setup, asked.completion, len(steps), shown=shown, limit=limit)
    if isinstance(verdict, Unusable):
        asked = yield from ask_again(desk, question, asked, verdict.cause)
        verdict = read_verdict(desk.setup, asked.completion, len(steps), shown=shown, limit=limit)
    if isinstance(verdict, Unusable):
        return (yield from _unusable(steps, asked, verdict.cause)), asked.seq
    return verdict, asked.seq


def _question(
    desk: Desk, history: History, steps: tuple[Step, ...], position: str, schema: str | None = None
) -> Question:
    messages = review_messages(desk, history, steps)
    return Question(desk.setup.model("strong"), Role.REVIEWER, position, messages, schema)


def _unusable(steps: tuple[Step, ...], asked: Asked, cause: str) -> Protocol[Verdict]:
    """Fail closed: nothing is accepted, and it counts as neither an accept nor a reject."""
    yield from tell(ReplyUnusable(role=Role.REVIEWER, request=asked.seq, cause=cause, next="gave_up"))
    return Verdict(len(steps), 0, status="unusable", cause=cause, raw=asked.completion.message.content)


def _scored(
    desk: Desk, history: History, steps: tuple[Step, ...], position: str
) -> Protocol[tuple[Verdict, int | None]]:
    """Read the verdict from probabilities; a rejection decodes its reason and replacement after the first *no*."""
    question = _question(desk, history, steps, position)
    scored = Question(question.model, question.role, position, question.messages, None, Scoring(len(steps)))
    asked = yield from ask(desk, scored)
    probabilities = _probabilities(asked.completion.message.content, len(steps))
    if isinstance(probabilities, Unusable):  # the same question would be answered alike
        return (yield from _unusable(steps, asked, probabilities.cause)), asked.seq
    threshold = float(desk.manner.threshold)
    stand = [probability >= threshold for probability in probabilities]
    accepted = stand.index(False) if False in stand else len(steps)
    raw, shown = asked.completion.message.content, json.dumps([f"{one:.6f}" for one in probabilities])
    if accepted == len(steps):
        return Verdict(len(steps), accepted, raw=raw, probabilities=shown), asked.seq

    schema, scoring = json.dumps(desk.setup.rejection_schema()), Scoring(len(steps), rejected=accepted + 1)
    why = Question(question.model, question.role, f"{position}.x", question.messages, schema, scoring)
    asked = yield from ask(desk, why)
    limit = token_limit(question.model.parameters)
    return replace(_rejected(desk, asked.completion, len(steps), accepted, limit), probabilities=shown), asked.seq


def _rejected(desk: Desk, completion: Completion, drafted: int, accepted: int, limit: int | None) -> Verdict:
    """Read what a scored rejection says; the rejection stands whatever became of its explanation."""
    content = completion.message.content
    whole = f'{{"verdict": "reject", "first_wrong": {accepted + 1}, {content.lstrip().removeprefix("{")}'
    verdict = read_verdict(desk.setup, replace(completion, message=Message("assistant", whole)), drafted, limit=limit)
    if isinstance(verdict, Unusable):
        cause = f"the explanation of the scored rejection could not be read: {verdict.cause}"
        reason = "Scored below the threshold."
        return Verdict(drafted, accepted, "repaired", "other", reason, cause=cause, raw=content)
    return replace(verdict, raw=content)


def _probabilities(content: str, steps: int) -> list[float] | Unusable:
    """Return the probability of *yes* for each step: the sigmoid of the difference of the log-probabilities."""
    try:
        found = members(content, strict=True)
        yes, no = _log_probabilities(found, "yes", steps), _log_probabilities(found, "no", steps)
    except (ValueError, RecursionError) as error:
        return Unusable(f"the scores cannot be read: {error}")
    return [_sigmoid(one - other) for one, other in zip(yes, no, strict=True)]


def _log_probabilities(found: dict[str, str], name: str, steps: int) -> list[float]:
    """Return a member's log-probabilities; refuse whatever is not one decimal text for each step."""
    texts = json.loads(found.get(name, "null"))
    if not isinstance(texts, list) or len(texts) != steps:
        raise Unreadable(f"{name} must be a list of {steps} decimal texts")
    return [_log_probability(text, name) for text in texts]


def _log_probability(text: object, name: str) -> float:
    if not isinstance(text, str) or _DECIMAL.fullmatch(text) is None:
        raise Unreadable(f"{name} holds {str(text)[:40]!r}, which is no decimal text")
    value = float(text)
    if not -math.inf < value <= _ROUNDED:
        raise Unreadable(f"{name} holds {text[:40]}, which is no log-probability")
    return value


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def _exact(
    desk: Desk, history: History, steps: tuple[Step, ...], position: str
) -> Protocol[tuple[Verdict, int | None]]:
    """Accept the steps that the strong model would have written itself; where it would not, its action replaces."""
    seq: int | None = None
    for number, step in enumerate(steps, 1):
        written = yield from act_instead(desk, history.then(*steps[: number - 1]), f"{position}.v{number}")
        if written is None:
            cause = f"the strong model's own action at step {number} could not be read"
            return Verdict(len(steps), 0, status="unusable", cause=cause), seq
        seq, own = written.request, written.actions[0]
        if not same_action(own, step.action):
            return _mismatch(steps, number, own), seq
    return Verdict(len(steps), len(steps)), seq


def _mismatch(steps: tuple[Step, ...], number: int, own: Action) -> Verdict:
    reason = f"The strong model writes {render.written(own)} here."
    return Verdict(len(steps), number - 1, category="other", reason=reason, replacement=own)
