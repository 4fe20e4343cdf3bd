"""The rule `discarded_observation_used`: what was read for a step that was discarded is in no later prompt.

A step's result is in a prompt where a message answers its position, where a message is the very text that it was
rendered as, or where its observation stands in a message, word for word and at some length, and in nothing that was
kept. Prompts repeat one another: each message is looked at once, and prompts are read only where something that was
read is discarded, from there on (see `Reader.violations`).
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from spectrace.audit.rules_account import Account, Found
from spectrace.core.events import (
    ActCompleted,
    GenerateCompleted,
    PlanMade,
    ProgressJudged,
    RepairMade,
    ResetCompleted,
    StepsDiscarded,
    VerdictGiven,
)
from spectrace.core.prompts import Prompts, history_messages
from spectrace.core.types import Action, Call, Effect, History, Message, Observation, Step
from spectrace.errors import UsageError

LENGTH = 24
"""Characters of an observation that stand nowhere by chance."""


@dataclass(frozen=True, slots=True)
class _Gone:
    """A step whose observation may not be seen any more."""

    position: str
    since: int
    texts: frozenset[str]
    """What a message may not be."""
    content: str | None
    """What no message may hold; None where it is short, or stands in what was kept as well."""

    def shows_in(self, message: Message) -> bool:
        """Whether a message shows it."""
        if message.call_id == self.position or message.content in self.texts:
            return True
        return self.content is not None and self.content in message.content


def discarded_observation_used(account: Account) -> Iterator[Found]:
    """Yield model calls whose prompt shows an observation of a step that was discarded before."""
    gone = sorted(_gone(account), key=lambda one: one.since)
    if not gone:
        return
    looked: dict[int, tuple[Message, int]] = {}
    """Messages, and for how many of `gone` each was looked at; kept, so that their identity is theirs alone."""
    named: set[str] = set()
    for seq, messages in account.prompts(gone[0].since):
        before = bisect_left(gone, seq, key=lambda one: one.since)
        for one in _shown(messages, gone, before, looked):
            if one.position not in named:
                named.add(one.position)
                yield seq, f"the prompt shows the result of {one.position}, which event {one.since} discarded"


def _shown(
    messages: Iterable[Message], gone: Sequence[_Gone], before: int, looked: dict[int, tuple[Message, int]]
) -> Iterator[_Gone]:
    """Yield what the messages show of the first `before`; each message is looked at once for each."""
    for message in messages:
        start = looked.get(id(message), (message, 0))[1]
        if start < before:
            looked[id(message)] = message, before
            yield from (one for one in gone[start:before] if one.shows_in(message))


def _gone(account: Account) -> Iterator[_Gone]:
    """Return the discarded steps that had been answered; only of a log whose own law says that they leave."""
    prompts = _prompts(account)
    if prompts is None:
        return
    dropped: dict[str, int] = {}
    for event in account:
        if isinstance(event.body, StepsDiscarded) and not event.body.repair:
            kind = "g" if event.body.reason == "speculation_lost" else ""
            for number in range(event.body.start, min(event.body.end, event.body.start + len(account)) + 1):
                dropped.setdefault(f"s{event.body.segment}.{kind}{number}", event.seq)
    answers = {position: _answer(account, position) for position in dropped}
    if not any(answers.values()):
        return
    kept = _kept(account, dropped, prompts)
    gone = [(dropped[where], *found) for where, found in answers.items() if found is not None]
    for since, step, seen in gone:
        yield _as_gone(step, seen, since, _with(kept, [one for one in gone if one[0] > since], prompts), prompts)


def _with(kept: "_Kept", later: Sequence[tuple[int, Step, Observation]], prompts: Prompts) -> "_Kept":
    """Return what was kept, and what was read by then and discarded only later: the same look-up comes again."""
    shown = {one.content for _, step, _ in later for one in _rendered(prompts, step)}
    return _Kept(kept.messages | shown, [*kept.texts, *(seen.content for _, _, seen in later)]) if later else kept


def _prompts(account: Account) -> Prompts | None:
    try:
        return Prompts.from_json(account.started.prompts) if account.started is not None and account.own else None
    except UsageError:
        return None


def _answer(account: Account, position: str) -> tuple[Step, Observation] | None:
    for act in account.sent_at(position):
        if act.answer is not None and act.action is not None and act.observed is None:
            return Step(position, act.action, Effect(act.effect), act.answer.observation), act.answer.observation
    return None


def _as_gone(step: Step, seen: Observation, since: int, kept: "_Kept", prompts: Prompts) -> _Gone:
    texts = frozenset(one.content for one in _rendered(prompts, step) if one.content) - kept.messages
    content = seen.content if len(seen.content) >= LENGTH and not kept.holds(seen.content) else None
    return _Gone(step.position, since, texts, content)


def _rendered(prompts: Prompts, step: Step) -> list[Message]:
    """Return the messages that hold a step's result, for models that write JSON and for native ones."""
    found: list[Message] = []
    for native in (False, True):
        found += history_messages(prompts, History(()), (step,), native=native)[1:]
    return found


@dataclass(slots=True)
class _Kept:
    """What later prompts may hold: every message of a step that stayed, and every text that somebody wrote."""

    messages: set[str]
    texts: list[str]

    def holds(self, text: str) -> bool:
        """Whether something that was kept says the same."""
        return any(text in one for one in self.texts)


def _kept(account: Account, dropped: dict[str, int], prompts: Prompts) -> _Kept:
    kept = _Kept(set(), [])
    started = account.started
    if started is not None:
        kept.texts += [started.task.request, started.instructions, started.prompts]
        kept.texts += [f"{tool.description}\n{tool.parameters}" for tool in started.tools]
    for event in account:
        match event.body:
            case ResetCompleted(messages=messages):
                kept.texts += [one.content for one in messages]
            case VerdictGiven(reason=reason, replacement=replacement):
                kept.texts += [reason or "", *_words(replacement)]
            case RepairMade(actions=actions):
                kept.texts += [text for action in actions for text in _words(action)]
            case PlanMade(plan=plan):
                kept.texts.append(plan)
            case ProgressJudged(reason=reason):
                kept.texts.append(reason or "")
            case GenerateCompleted(message=message):  # asked again, a model is shown its own words
                kept.texts += [message.content, *(call.arguments for call in message.calls)]
            case ActCompleted(position=position, observation=seen, request=request) if position not in dropped:
                kept.texts.append(seen.content)
                act = account.acts.get(request)
                if act is not None and act.action is not None:
                    step = Step(position, act.action, Effect(act.effect), seen)
                    kept.messages |= {one.content for one in _rendered(prompts, step)}
            case _:
                pass
    kept.messages |= set(kept.texts)
    return kept


def _words(action: Action | None) -> list[str]:
    match action:
        case None:
            return []
        case Call(arguments=arguments):
            return [arguments]
        case _:
            return [action.text]
