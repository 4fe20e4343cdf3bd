"""Rules on the order of a log: one answer to a question, nothing behind the end, a person's word is a person's.

And on what an episode was about: a task and a grade that fit, tools that stay as they were.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation

from spectrace.audit.rules_account import AGENT, Account, Found
from spectrace.audit.rules_authority import is_person
from spectrace.core.digest import task_digest, tools_digest
from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    ActRequested,
    EpisodeEnded,
    EpisodeStarted,
    EvaluateCompleted,
    EvaluateFailed,
    EvaluateRequested,
    GenerateCompleted,
    GenerateFailed,
    GenerateRequested,
    OutcomeSettled,
    ResetCompleted,
    ResetFailed,
    ResetRequested,
    ToolsChanged,
)
from spectrace.core.types import Effect
from spectrace.core.versions import is_foreign

_QUESTIONS: Mapping[type, str] = {
    ActCompleted: ActRequested.TYPE,
    ActFailed: ActRequested.TYPE,
    GenerateCompleted: GenerateRequested.TYPE,
    GenerateFailed: GenerateRequested.TYPE,
    ResetCompleted: ResetRequested.TYPE,
    ResetFailed: ResetRequested.TYPE,
    EvaluateCompleted: EvaluateRequested.TYPE,
    EvaluateFailed: EvaluateRequested.TYPE,
}
"""Answer -> the type of its question."""
_OUTCOMES = frozenset({"ok", "error", "never"})
_UNIT = ("shop", "tau2:")
"""Environments whose rewards are known to lie between 0 and 1."""
_LONGEST = 40
_DIGEST = 19
"""Characters of a digest that are shown."""


def act_after_end(account: Account) -> Iterator[Found]:
    """Yield what stands behind an episode's end and is no person's word."""
    end = next((one.seq for one in account if isinstance(one.body, EpisodeEnded)), None)
    for event in account:
        if end is not None and event.seq > end and not isinstance(event.body, OutcomeSettled) and not is_foreign(event):
            yield event.seq, f"{event.type} stands behind the end (event {end})"


def answer_misplaced(account: Account) -> Iterator[Found]:
    """Yield answers to nothing, to another kind of question, to another action, or to one that has its answer."""
    answered: dict[int, int] = {}
    for event in account:
        wanted, request = _QUESTIONS.get(type(event.body)), getattr(event.body, "request", None)
        if wanted is None or not isinstance(request, int):
            continue
        asked = account.by_seq.get(request)
        if asked is None or asked.type != wanted or asked.seq >= event.seq:
            if asked is not None or account.whole:
                there = "nothing" if asked is None else f"{asked.type} (event {request})"
                yield event.seq, f"{event.type} answers {there}"
        elif request in answered:
            yield event.seq, f"event {request} was answered before, by event {answered[request]}"
        elif (other := _other(asked.body, event.body)) is not None:
            yield event.seq, f"the answer to event {request} has another {other} than the question"
        elif getattr(event.body, "source", None) == "record" and account.own and account.goes_on_from is None:
            yield event.seq, f"the answer to event {request} is out of a record, and the episode goes on from none"
        answered.setdefault(request, event.seq)


def _other(asked: object, answer: object) -> str | None:
    """Return in what an answer differs from its question; the authority of an act may be a person's by then."""
    names = ("position", "effect", "tool") if isinstance(asked, ActRequested) else ("role",)
    for name in names:
        there = getattr(asked, name, None), getattr(answer, name, None)
        if hasattr(asked, name) and hasattr(answer, name) and there[0] != there[1]:
            return name
    return None


def settled_by_nobody(account: Account) -> Iterator[Found]:
    """Yield words on an outcome that are no person's, without evidence, or on what was never in doubt."""
    for event in account:
        if not isinstance(event.body, OutcomeSettled):
            continue
        body, act = event.body, account.acts.get(event.body.request)
        if not is_person(body.authority):
            yield event.seq, f"an outcome was settled by {body.authority}, which is no person"
        elif not body.evidence.strip() or body.outcome not in _OUTCOMES:
            yield event.seq, f"event {body.request} was settled as {body.outcome}, and nobody says how that is known"
        elif act is not None and (act.effect == Effect.READ or act.completed is not None):
            yield event.seq, f"event {body.request} was settled, and was no write of unknown outcome"
        elif act is None and account.whole:
            yield event.seq, f"event {body.request} was settled, and is no action that was sent"


def unfit_task(account: Account) -> Iterator[Found]:
    """Yield a task that its digest does not name or that the entry cannot have run, and a reward that cannot be."""
    started = account.started
    if started is None:
        return
    first = account[0].seq
    if started.task_digest != task_digest(started.task):
        yield first, f"the task is not the one that its digest {str(started.task_digest)[:_DIGEST]} is of"
    if started.origin is not None and started.origin.unfit is not None:
        yield first, f"the imported entry is no run of this task: {started.origin.unfit}"
    graded = [one for one in account if isinstance(one.body, EvaluateCompleted)]
    for event in graded:
        yield from _reward(account, event.seq, getattr(event.body, "reward", None))
    for event in account:
        if isinstance(event.body, EpisodeEnded):
            said = {getattr(one.body, "reward", None) for one in graded}
            yield from _end(account, started, event.seq, event.body, said)


def _end(
    account: Account, started: EpisodeStarted, seq: int, body: EpisodeEnded, graded: set[str | None]
) -> Iterator[Found]:
    number = _number(body.reward)
    if body.outcome != "completed" and body.reward is not None and number != 0:
        yield seq, f"the episode was {body.outcome} and has the reward {body.reward[:_LONGEST]}"
    elif body.outcome == "failed" and body.reward is not None and started.origin is None:
        yield seq, f"the episode failed and has the reward {body.reward[:_LONGEST]}"
    elif graded and body.outcome == "completed" and body.reward not in graded:
        yield seq, f"the end has the reward {(body.reward or 'none')[:_LONGEST]}, the environment gave another"
    elif not graded:
        yield from _reward(account, seq, body.reward)


def _reward(account: Account, seq: int, reward: str | None) -> Iterator[Found]:
    name = account.started.environment.name if account.started is not None else ""
    number = _number(reward)
    if reward is not None and number is None:
        yield seq, f"the reward {reward[:_LONGEST]!r} is no number"
    elif number is not None and name.startswith(_UNIT) and not 0 <= number <= 1:
        yield seq, f"the reward {str(reward)[:_LONGEST]} is none that {name} gives: they lie between 0 and 1"


def _number(text: str | None) -> Decimal | None:
    try:
        number = Decimal(text) if text is not None else None
    except InvalidOperation:
        return None
    return number if number is not None and number.is_finite() else None


def tools_changed(account: Account) -> Iterator[Found]:
    """Yield changes of the tools: a warning where they are recorded, a violation where the log only shows them."""
    started = account.started
    if started is None:
        return
    now = started.tools_digest
    if now != tools_digest(started.tools):
        yield account[0].seq, f"the tools are not those that their digest {str(now)[:_DIGEST]} is of"
        return
    names = {tool.name: tool for tool in started.tools}
    for event in account:
        match event.body:
            case ToolsChanged(tools=tools, tools_digest=digest):
                there = {tool.name: tool for tool in tools}
                other = sorted(name for name in names.keys() | there.keys() if names.get(name) != there.get(name))
                yield event.seq, f"the tools changed: {', '.join(other) or 'their order'}", "warning"
                now, names = digest, there
            case GenerateRequested(who=who, tools_digest=digest) if who in AGENT and digest not in {None, now}:
                yield event.seq, f"the {who} model was sent other tools ({str(digest)[:_DIGEST]}) than the episode has"
            case _:
                pass
