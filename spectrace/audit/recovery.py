"""What an interrupted episode left behind: how far its record is whole, and which actions nobody can vouch for.

A write that was asked and has no outcome is *indeterminate*: it may have happened, and nothing here or later runs it
again. What was drafted, held or decided and not asked has certainly not happened. All of it is read from the events
after the end was written, so that recovering twice tells the same.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from spectrace.audit.answers import Filters
from spectrace.audit.episodes import summaries
from spectrace.audit.integrity import CONSISTENT, VerifyResult, verify_episode
from spectrace.core.deeds import Deed, changes_state, deeds
from spectrace.core.events import ActRequested, EpisodeEnded, EpisodeStarted, Event, OutcomeSettled
from spectrace.core.fold import FoldedStep, fold
from spectrace.core.types import Effect
from spectrace.errors import StoreError
from spectrace.store.listing import Listable
from spectrace.store.recovery import INTERRUPTED, end_interrupted

INDETERMINATE = "indeterminate"


@dataclass(frozen=True, slots=True)
class OpenAction:
    """A state-changing action or reply without an outcome. `arguments` is exact text."""

    seq: int
    """act.requested where it was asked, else the event that drafted or decided it."""
    position: str
    kind: str
    """call, reply, finish."""
    tool: str | None
    arguments: str
    idempotency_key: str | None
    """As it was given to the environment; None where nothing was asked."""


@dataclass(frozen=True, slots=True)
class Word:
    """What a person said later of an indeterminate write; of several on the same one the last counts."""

    seq: int
    request: int
    outcome: str
    by: str
    evidence: str


@dataclass(frozen=True, slots=True)
class Recovered:
    """One episode as it was left. `state`: interrupted, or how it ended (completed, truncated, failed)."""

    episode: str
    parent: str | None
    state: str
    events: int
    last_seq: int | None
    """The last event before the end."""
    last_type: str | None
    never_started: tuple[OpenAction, ...]
    indeterminate: tuple[OpenAction, ...]
    result: str
    """As `verify` says; an episode that is not consistent gets no end."""
    detail: str
    settled: tuple[Word, ...] = ()
    """In the order given."""


def interrupted(store: Listable) -> list[str]:
    """Return the ids of all interrupted episodes, with and without an end, oldest first."""
    return [one.episode for one in summaries(store, Filters(status=(INTERRUPTED,), sort="started_at"))]


def recover(store: Listable, episode: str, now: int | None = None) -> Recovered:
    """Give an interrupted episode its end, if its prefix is whole, and tell what was left open.

    Raises Conflict while its writer lives or, where only the lease can tell, may live; NewerSchema, before anything is
    written, for an episode that only a newer spectrace can tell.
    """
    found = verify_episode(store, episode)
    told = _told(store, episode, found)
    if found.result != CONSISTENT:
        return told
    if not end_interrupted(store, episode, time.time_ns() // 1000 if now is None else now):
        return told
    return _told(store, episode, verify_episode(store, episode))


def require_ended(store: Listable, episode: str) -> None:
    """Give an interrupted episode its end, as `recover` does; raise StoreError where its record is not whole."""
    found = recover(store, episode)
    if found.result != CONSISTENT:
        raise StoreError(f"{episode} is {found.result}, so nothing goes on from it: {found.detail}.")


def _told(store: Listable, episode: str, found: VerifyResult) -> Recovered:
    readable = found.events if found.first_bad_seq is None else found.first_bad_seq
    events = list(islice(store.read(episode), readable))
    ended = next((event.body for event in events if isinstance(event.body, EpisodeEnded)), None)
    before = [event for event in events if not isinstance(event.body, EpisodeEnded | OutcomeSettled)]
    started = events[0].body if events and isinstance(events[0].body, EpisodeStarted) else None
    never, open_ = _open(events) if started is not None else ((), ())
    return Recovered(
        episode=episode,
        parent=started.parent.episode if started is not None and started.parent is not None else None,
        state=ended.outcome if ended is not None else INTERRUPTED,
        events=len(events),
        last_seq=before[-1].seq if before else None,
        last_type=before[-1].type if before else None,
        never_started=never,
        indeterminate=open_,
        result=found.result,
        detail=found.detail,
        settled=tuple(_word(event.seq, event.body) for event in events if isinstance(event.body, OutcomeSettled)),
    )


def _word(seq: int, body: OutcomeSettled) -> Word:
    return Word(seq, body.request, body.outcome, body.authority.removeprefix("person:"), body.evidence)


def _open(events: Sequence[Event]) -> tuple[tuple[OpenAction, ...], tuple[OpenAction, ...]]:
    """Return what was never started, and what was asked and has no outcome."""
    ledger = {deed.position: deed for deed in deeds(events)}
    keys = {event.seq: event.body.idempotency_key for event in events if isinstance(event.body, ActRequested)}
    waiting = [ledger[step.step.position] for step in _undecided(events) if step.step.position in ledger]
    never = tuple(_action(deed, None) for deed in waiting if deed.requested_at is None)
    asked = [deed for deed in ledger.values() if deed.outcome == INDETERMINATE and changes_state(deed)]
    return never, tuple(_action(deed, keys.get(deed.seq)) for deed in asked)


def _undecided(events: Sequence[Event]) -> list[FoldedStep]:
    """Return the steps, repairs among them, that were neither sent nor discarded; reads left out."""
    return [
        step
        for segment in fold(events).segments
        for step in (*segment.steps, *(segment.repair.steps if segment.repair is not None else ()))
        if step.act is None and step.fate != "discarded" and step.objection is None
        if step.step.effect is not Effect.READ
    ]


def _action(deed: Deed, key: str | None) -> OpenAction:
    return OpenAction(deed.seq, deed.position, deed.kind, deed.tool, deed.arguments, key)
