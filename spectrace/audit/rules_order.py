"""Rules on what follows from what: nothing is drafted or judged by nobody, and nothing goes on from what went wrong.

A write that got no answer may have happened, so the episode ends with it; a message of several actions stops at the
first error. Whether a reply really says what was read from it is a replay's to say; here the call has to be there.
"""

from collections.abc import Iterator

from spectrace.audit.rules_account import AGENT, Account, Found
from spectrace.core.events import ActCompleted, ActFailed, ActRequested, Event, GenerateCompleted, GenerateRequested
from spectrace.core.events import VerdictGiven as Verdict
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Effect


def said_by_nobody(account: Account) -> Iterator[Found]:
    """Yield drafts and verdicts that follow from no model call that was answered by then."""
    if not (account.own and account.whole):
        return
    answers = {e.body.request: e for e in account if isinstance(e.body, GenerateCompleted)}
    for position, (seq, step) in account.drafts.items():
        if not _said(account, answers.get(step.request), step.request, seq, "reviewer"):
            yield seq, f"the step at {position} was drafted by no model: event {step.request} is no answered call"
    for given in account.verdicts.values() if account.specagent is not None else ():
        for seq, verdict in given:
            yield from _unsaid(account, answers, seq, verdict)


def _unsaid(account: Account, answers: dict[int, Event], seq: int, verdict: Verdict) -> Iterator[Found]:
    if verdict.review is None:
        if verdict.outcome != "unusable":  # acceptance=exact, whose first question nobody could answer
            yield seq, f"the verdict on segment {verdict.segment} names no model call"
        return
    answer, asked = answers.get(verdict.review), account.by_seq.get(verdict.review)
    role = getattr(asked.body, "role", None) if asked is not None else None
    if not _said(account, answer, verdict.review, seq) or role != "reviewer":
        yield seq, f"the verdict on segment {verdict.segment} was given by nobody: event {verdict.review} is no review"
    elif verdict.raw and answer is not None and verdict.raw != _content(answer):
        yield seq, f"the verdict on segment {verdict.segment} is not what event {answer.seq} says"


def _content(answer: Event) -> str | None:
    return answer.body.message.content if isinstance(answer.body, GenerateCompleted) else None


def _said(account: Account, answer: Event | None, request: int, seq: int, other: str | None = None) -> bool:
    """Whether a model of the agent's answered that call before the event, in any role but one."""
    asked = account.by_seq.get(request)
    body = asked.body if asked is not None else None
    if answer is None or not isinstance(body, GenerateRequested):
        return False
    return answer.seq < seq and body.who in AGENT and body.role != other


def acted_on_unknown(account: Account) -> Iterator[Found]:
    """Yield the first thing that was asked after a write, a reply or a final answer that nobody answered."""
    if not account.own:
        return
    lost: ActFailed | None = None
    for event in account:
        match event.body:
            case ActFailed(effect=effect) as body if effect != Effect.READ and body.request in account.acts:
                lost = body
            case GenerateRequested(who=who) if who in AGENT and lost is not None:
                yield event.seq, f"the {who} model was asked after event {lost.request}, whose outcome nobody knows"
                return
            case ActRequested(requestor="agent", position=position) if lost is not None:
                yield event.seq, f"the action at {position} was sent after event {lost.request}, of unknown outcome"
                return
            case _:
                pass


def sent_after_error(account: Account) -> Iterator[Found]:
    """Yield actions of a message that were sent though one before them in the same message had failed."""
    if not account.own:
        return
    failed: dict[int | None, int] = {}
    for event in account:
        match event.body:
            case ActRequested(requestor="agent", position=position):
                message = _message(account, position)
                if message is not None and message in failed:
                    yield event.seq, f"the action at {position} was sent, though event {failed[message]} failed before"
            case ActCompleted(position=position, observation=seen) if seen.error:
                failed.setdefault(_message(account, position), event.seq)
            case ActFailed(position=position):
                failed.setdefault(_message(account, position), event.seq)
            case _:
                pass


def _message(account: Account, position: str) -> int | None:
    """Return the event or call that wrote the action with others; None for SpecAgent's drafts, which read errors."""
    if position in account.repaired:
        return account.repaired[position][0]
    reads_errors = account.started is not None and account.started.protocol == SpecAgent.NAME
    return None if reads_errors or position not in account.drafts else account.drafts[position][1].request
