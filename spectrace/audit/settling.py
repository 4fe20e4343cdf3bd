"""A person's later word on a write that was asked and has no outcome: a new fact behind the end, never an edit.

What could have gone otherwise: the word could have been written in place of the missing answer. Then the log would say
that the environment answered. So the question stays unanswered for ever, and `outcome.settled` says who found out what,
and how. A second word is a second fact: both are kept, and the last one counts.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from spectrace.audit.integrity import CONSISTENT, verify_episode
from spectrace.audit.recovery import INDETERMINATE
from spectrace.core.deeds import changes_state, deeds
from spectrace.core.events import ActCompleted, ActRequested, EpisodeStarted, Event, OutcomeSettled, ResetCompleted
from spectrace.core.types import Effect
from spectrace.errors import StoreError, UsageError
from spectrace.store.event_store import Pending
from spectrace.store.listing import Listable
from spectrace.store.recovery import end_interrupted

OUTCOMES = ("ok", "error", "never")
LONGEST_NAME = 100
_SHORT = 23
"""Of a digest: its algorithm's tag and enough to tell it by."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A word that was given. `before` is what the ledger said until then: indeterminate, or an earlier word."""

    episode: str
    seq: int
    """The new fact."""
    request: int
    """The act.requested that it is about."""
    tool: str | None
    outcome: str
    before: str
    by: str
    evidence: str


def settle(  # noqa: PLR0913 - who says what of which event, and how they know
    store: Listable, episode: str, request: int, outcome: str, *, evidence: str, by: str, now: int | None = None
) -> Settled:
    """Add a person's word on an indeterminate write; an interrupted episode gets its end first, as by `recover`.

    Raises UsageError, before anything is written, for an event that is no such write; StoreError for an episode that is
    not intact; Conflict while it is being written.
    """
    body = OutcomeSettled(authority=person(by), outcome=outcome, request=request, evidence=evidence)
    if not evidence.strip():
        raise UsageError("say how it is known: --evidence TEXT must not be empty.")
    found = verify_episode(store, episode)
    if found.result != CONSISTENT:
        raise StoreError(f"{episode} is {found.result}, so nothing is added to it: {found.detail}.")
    before, tool = _standing(list(store.read(episode, prompts=False)), request)
    at = time.time_ns() // 1000 if now is None else now
    end_interrupted(store, episode, at)
    writer = store.reopen(episode)
    try:
        seq = store.row(episode).events
        writer.append([Pending(seq, "", at, body)], durable=True)
    finally:
        writer.close()
    return Settled(episode, seq, request, tool, outcome, before, by, evidence)


def person(name: str) -> str:
    """Return the authority of a person; raise UsageError for a name that could be taken for another, or for none."""
    if not name.isprintable() or name != name.strip() or not 0 < len(name) <= LONGEST_NAME:
        raise UsageError(
            f"--by takes a person's name of 1 to {LONGEST_NAME} visible characters without blanks around it, "
            f"found {name!r}."
        )
    return f"person:{name}"


def _standing(events: Sequence[Event], request: int) -> tuple[str, str | None]:
    """Return what the ledger says of an indeterminate write so far, and its tool; raise UsageError for all else."""
    episode = events[0].episode
    if not isinstance(events[0].body, EpisodeStarted):
        raise UsageError(f"{episode} is an administrative log, in which nothing is done that could be indeterminate.")
    if request > events[-1].seq:
        raise UsageError(f"episode {episode} has the events 0 to {events[-1].seq}, not {request}.")
    recorded = deeds(event for event in events if not isinstance(event.body, OutcomeSettled))
    open_ = [deed for deed in recorded if deed.outcome == INDETERMINATE and changes_state(deed)]
    if request not in {deed.seq for deed in open_}:
        event = events[request]
        there = ", ".join(f"{episode}:{deed.seq} ({deed.tool or deed.kind})" for deed in open_)
        raise UsageError(
            f"event {request} of {episode} is {event.type}, and no write that was asked and has no outcome; "
            + (f"there is {there}." if there else "this episode has none: there is nothing to settle.")
        )
    (now,) = (deed for deed in deeds(events) if deed.seq == request)
    return now.outcome, now.tool


def unmoved(events: Sequence[Event]) -> list[str]:
    """Say where a write was settled as done and the state, as far as the log tells it, is the one from before it.

    Of a parent's events: the state that a later act met. Of those of a child that goes on: the one that it found.
    """
    known: str | None = None
    asked: dict[int, str | None] = {}
    words = {event.body.request: event.body.outcome for event in events if isinstance(event.body, OutcomeSettled)}
    settled = {request for request, outcome in words.items() if outcome == "ok"}  # of several words the last counts
    said: list[str] = []
    for event in events:
        match event.body:
            case ResetCompleted(fingerprint=state):
                known = state
            case ActRequested(effect=Effect.WRITE):
                asked[event.seq] = known
            case ActCompleted(request=request, source="edited", effect=Effect.WRITE, outcome="ok") as body:
                if body.fingerprint_before is not None and body.fingerprint_before == body.fingerprint_after:
                    said.append(_unmoved(f"{event.episode}:{request}", body.fingerprint_after))
                known = body.fingerprint_after
            case ActCompleted(fingerprint_before=before, fingerprint_after=after):
                for request in sorted(settled & {seq for seq, state in asked.items() if state == before is not None}):
                    said.append(_unmoved(f"{event.episode}:{request}", before or ""))
                    settled.discard(request)
                asked.pop(event.body.request, None)
                known = after
            case _:
                pass
    return said


def _unmoved(where: str, state: str) -> str:
    return (
        f"{where} is settled as ok, and the state behind it is the one from before it ({state[:_SHORT]}): by that it "
        "changed nothing. Look again; another word takes this one's place."
    )
