"""Rules that a recording is the protocol's own: run again from the record, it asks and says what is recorded.

What no single event betrays, another review prompt, a look-up left out, a reward that nobody gave, is told by following
the whole record (`core/following.py`), at about the cost of a replay. Beside it what a replay takes as it stands: which
model answered, what an outcome and the totals say. An episode that cannot be followed (imported, erased, recorded under
rules that are not carried here, a re-verification, whose parent is needed) is left to the other rules.
"""

from collections.abc import Iterator
from dataclasses import fields

from spectrace.audit.rules_account import AGENT, Account, Found
from spectrace.core.classified import by_record
from spectrace.core.commands import Protocol
from spectrace.core.deeds import FROM_THE_RECORD
from spectrace.core.endings import cut_short
from spectrace.core.events import (
    ActCompleted,
    EpisodeEnded,
    GenerateCompleted,
    GenerateRequested,
    OutcomeSettled,
    Totals,
    Unknown,
)
from spectrace.core.following import Parting, follow
from spectrace.core.protocols import recorded_protocol
from spectrace.core.setup import setup_of
from spectrace.core.tally import Tally
from spectrace.core.types import Outcome
from spectrace.core.versions import is_foreign
from spectrace.errors import SpectraceError

_LONGEST = 100
"""Characters of one side of a difference that are shown."""


def not_by_the_protocol(account: Account) -> Iterator[Found]:
    """Yield the first event that the protocol, run again from the record, does not come to."""
    protocol = _protocol(account)
    if protocol is None:
        return
    told = (event for event in account.with_prompts() if event.seq in account.by_seq)  # a running one grows meanwhile
    parting = follow(protocol, [event for event in told if not isinstance(event.body, OutcomeSettled)])
    if parting is not None:
        yield parting.seq, _said(account, parting)


def _said(account: Account, parting: Parting) -> str:
    event = account.by_seq[parting.seq]
    role = getattr(event.body, "role", None)
    kind = f"{event.type}({role})" if role else event.type
    was, now = (side if len(side) <= _LONGEST else f"{side[:_LONGEST]}…" for side in (parting.recorded, parting.found))
    if parting.field:
        return f"{kind} has in {parting.field} {was}; the protocol, run again from the record, has {now}"
    return f"recorded is {kind}; the protocol, run again from the record, comes to {now}"


def followed(account: Account) -> Iterator[tuple[int, bool]]:
    """Yield each action of the agent's that did something: whether the episode can be followed."""
    can = _protocol(account) is not None
    return ((act.seq, can) for act in account.sent())


def _protocol(account: Account) -> Protocol[Outcome] | None:
    """Return the generator that made the episode; None where it cannot be followed from its record."""
    started, setup = account.started, account.setup
    if started is None or setup is None or not account.whole or account.tools_moved:
        return None
    if any(isinstance(event.body, Unknown) and not is_foreign(event) for event in account):
        return None
    try:
        protocol = recorded_protocol(started)
        for role in protocol.MODELS:
            setup.model(role)
    except (SpectraceError, TypeError):  # options of another version
        return None
    return protocol.run(setup_of(started, by_record(account)))


def answered_by_another(account: Account) -> Iterator[Found]:
    """Yield answers of one of the agent's models that the other one gave, by the name that its server returned.

    A warning where the two are asked at different places: servers call their models as they like.
    """
    started = account.started
    if started is None or not account.own:
        return
    models = {facts.role: facts for facts in started.models if facts.role in AGENT}
    for event in account:
        body = event.body
        if not isinstance(body, GenerateCompleted) or body.source in FROM_THE_RECORD:  # by a person, or another pair
            continue
        asked = account.by_seq.get(body.request)
        who = models.get(asked.body.who) if asked is not None and isinstance(asked.body, GenerateRequested) else None
        for other in models.values() if who is not None else ():
            if who is not None and who.name != other.name == body.model:
                apart = (who.provider, who.url) != (other.provider, other.url)
                detail = f"the {who.role} model ({who.name}) was asked as {body.role}, and {other.name} answered"
                yield (event.seq, detail, "warning") if apart else (event.seq, detail)


def outcome_misstated(account: Account) -> Iterator[Found]:
    """Yield answers whose outcome is not what their observation says."""
    for event in account:
        body = event.body
        if isinstance(body, ActCompleted) and body.outcome != (said := "error" if body.observation.error else "ok"):
            yield event.seq, f"the outcome is {body.outcome}, and the observation of event {body.request} is {said}"


def totals_misstated(account: Account) -> Iterator[Found]:
    """Yield ends whose totals are not what the events add up to."""
    if not account.own or not account.whole or account.erased:
        return
    tally = Tally()
    for event in account:
        if isinstance(event.body, EpisodeEnded) and not cut_short(event):
            wrong = [name for name in _TOTALS if getattr(event.body.totals, name) != getattr(tally.totals, name)]
            for name in wrong[:1]:
                counted = getattr(tally.totals, name)
                yield event.seq, f"the end counts {getattr(event.body.totals, name)} {name}, and there are {counted}"
        tally.count(event.body)


_TOTALS = tuple(item.name for item in fields(Totals))
