"""Actions that nobody knows the outcome of, and those that a person settled later: with the question, and the words.

An action that was completed has a result's digest. The others (no answer, or an answer that says that there is none)
are few, and only their episodes are read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from spectrace.audit.reading import Unread, read_events
from spectrace.core.deeds import Deed
from spectrace.core.events import ActFailed, Event, OutcomeSettled
from spectrace.core.types import Effect
from spectrace.errors import StoreError
from spectrace.store.event_store import EventStore

NO_ANSWER = "asked, and no answer is recorded"


@dataclass(frozen=True, slots=True)
class Word:
    """What a person said of an outcome later, and how they know."""

    seq: int
    at: int
    by: str
    outcome: str
    evidence: str


@dataclass(frozen=True, slots=True)
class OpenAction:
    """An action whose outcome was not known when it was recorded; `words` are what was said of it since, in order."""

    deed: Deed
    why: str
    words: tuple[Word, ...]

    @property
    def settled(self) -> bool:
        """Whether somebody has said what became of it."""
        return bool(self.words)


def may_be_open(deed: Deed) -> bool:
    """Whether it was asked and changed something, and there is no result of it."""
    return deed.requested_at is not None and deed.result_digest is None and deed.effect_declared != Effect.READ


def open_actions(store: EventStore, deeds: Sequence[Deed], lost: list[Unread] | None = None) -> Iterator[OpenAction]:
    """Yield those of the deeds that are, or once were, indeterminate; `lost` is told which episode cannot be read."""
    found: dict[str, _Told] = {}
    for deed in deeds:
        if deed.episode not in found:
            found.clear()  # deeds of one episode stand together
            found[deed.episode] = _told(store, deed.episode, lost)
        told = found[deed.episode]
        words = tuple(told.words.get(deed.seq, ()))
        if deed.outcome == "indeterminate" or words:
            yield OpenAction(deed, told.failures.get(deed.seq, NO_ANSWER), words)


@dataclass(slots=True)
class _Told:
    """What an episode says of its requests: why one failed, and what persons said of it."""

    failures: dict[int, str] = field(default_factory=dict)
    words: dict[int, list[Word]] = field(default_factory=dict)

    def hear(self, event: Event) -> None:
        """Note what an event says of a request."""
        match event.body:
            case ActFailed(request=request, kind=kind, error=error):
                self.failures[request] = f"{kind}: {error}"
            case OutcomeSettled(request=request, authority=by, outcome=outcome, evidence=evidence):
                word = Word(event.seq, event.at, by.removeprefix("person:"), outcome, evidence)
                self.words.setdefault(request, []).append(word)
            case _:
                pass


def _told(store: EventStore, episode: str, lost: list[Unread] | None) -> _Told:
    told = _Told()
    try:
        for event in read_events(store, episode, prompts=False):
            told.hear(event)
    except StoreError as error:
        if lost is None:
            raise
        if all(one.episode != episode for one in lost):
            lost.append(Unread(episode, None, str(error)))
    return told
