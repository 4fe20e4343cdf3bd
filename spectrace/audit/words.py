"""Words on a write that were changed after a child had gone on with the earlier one: it stands on what is denied.

A word that was taken over is the child's record for ever. Where the parent's last word says otherwise, whatever goes
on from that child goes on from something that did not happen, or does again what did.
"""

from dataclasses import dataclass

from spectrace.core.deeds import deeds
from spectrace.core.events import EpisodeEnded, OutcomeSettled
from spectrace.store.event_store import EventStore

NEVER = "never"


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A child that went on with one word on a write of its parent, whose last word is another one."""

    parent: str
    request: int
    """The act.requested, in the parent."""
    child: str
    taken: str
    """Says who said what: `ok (Ann, event 20)`."""
    last: str

    def __str__(self) -> str:
        """Say both words."""
        return (
            f"{self.child} went on with the word on {self.parent}:{self.request} that it was {self.taken}; since then "
            f"it was settled as {self.last}"
        )


def contradictions(store: EventStore, parent: str, child: str) -> list[Contradiction]:
    """Return the words of `parent` that say otherwise than its resumed `child` has it; none where one is missing."""
    events = list(store.read(parent, prompts=False))
    words = [(event.seq, event.body) for event in events if isinstance(event.body, OutcomeSettled)]
    if not words:
        return []
    gone_on = list(store.read(child, prompts=False))
    if sum(not isinstance(event.body, EpisodeEnded) for event in gone_on) == 1:  # nothing was taken over yet
        return []
    position = {deed.seq: deed.position for deed in deeds(events)}
    stands = {
        deed.position: deed.outcome for deed in deeds(gone_on) if deed.taken_over and deed.requested_at is not None
    }
    found = []
    for request in sorted({body.request for _, body in words}):
        said = [(seq, body) for seq, body in words if body.request == request]
        # What the child did not take over it asks, or has asked, itself: it went on with `never`.
        has = stands.get(position.get(request, ""), NEVER)
        if said[-1][1].outcome != has and len(said) > 1:
            then = [one for one in said if one[1].outcome == has]
            taken = _said(*then[-1]) if then else has
            found.append(Contradiction(parent, request, child, taken, _said(*said[-1])))
    return found


def _said(seq: int, word: OutcomeSettled) -> str:
    return f"{word.outcome} ({word.authority.removeprefix('person:')}, event {seq})"
