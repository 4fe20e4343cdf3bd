"""Reading an episode whose record may be damaged: nothing that cannot be read is passed over in silence.

What is gone is told as `Unread`: an answer that was made without it is incomplete, and its command exits with 3.
"""

from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from spectrace.audit.erasures import erased_seqs, erased_words
from spectrace.audit.integrity import verify_episode
from spectrace.core.events import AdminOpened, EpisodeStarted, Event, GenerateRequested, Unknown
from spectrace.core.versions import is_foreign, is_newer, newer_version, require_readable
from spectrace.errors import EpisodeNotFound, StoreError, UsageError
from spectrace.store.event_store import FULL_EPISODE, EventStore


@dataclass(frozen=True, slots=True)
class Unread:
    """What of an episode cannot be read; the text names the event, and what to do."""

    episode: str
    seq: int | None
    """None where more than one event is concerned, or none can be named."""
    detail: str


def read_events(
    store: EventStore, episode: str, start: int = 0, stop: int = FULL_EPISODE, *, prompts: bool = True
) -> Iterator[Event]:
    """Yield an episode's events; an error names the episode, the event and what to do."""
    with explained(store, episode):
        yield from store.read(episode, start, stop, prompts=prompts)


@contextmanager
def explained(store: EventStore, episode: str) -> Iterator[None]:
    """Make an error in reading an episode name the episode, the event and what to do."""
    try:
        yield
    except EpisodeNotFound:
        raise
    except StoreError as error:
        if "spectrace verify" in str(error):  # the store has named the event and what to do
            raise
        said = str(error).rstrip(".")
        if episode not in said:
            bad = verify_episode(store, episode).first_bad_seq
            said = f"{f'episode {episode}' if bad is None else f'event {bad} of {episode}'} cannot be read: {said}"
        raise type(error)(f"{said}. {_verify(episode)} says how far it is whole.") from error


def require_run(episode: str, first: Event | None) -> None:
    """Refuse what is no run: nothing is drafted, judged or replayed in an administrative log."""
    if first is not None and isinstance(first.body, AdminOpened):
        raise UsageError(
            f"{episode} is an administrative log, not a run: `spectrace show {episode}` and "
            f"`spectrace verify {episode}` read it."
        )


def require_start(episode: str, events: Sequence[Event], store: EventStore | None = None) -> Sequence[Event]:
    """Return the events, whose first is episode.started: everything that is told of an episode begins with it.

    `store` is where to look whether it was erased.
    """
    require_run(episode, events[0] if events else None)
    if events:
        require_readable(events[0])
    if not events or not isinstance(events[0].body, EpisodeStarted):
        found = "no event is there" if not events else f"event {events[0].seq} ({events[0].type}) is the first readable"
        if events and events[0].seq == 0:
            words, _ = erased_words(store, episode, erased_seqs(events)) if store is not None else (None, ())
            if words is not None:
                raise StoreError(
                    f"episode {episode} cannot be told: {words}. `spectrace show {episode}` shows the rest."
                )
            found = f"the body of event 0 ({events[0].type}) is missing"
        raise StoreError(
            f"episode {episode} cannot be told: it begins with episode.started, and {found}. "
            f"{_verify(episode)} says what is wrong."
        )
    return events


def begins_erased(events: Sequence[Event]) -> bool:
    """Whether the first event is an episode.started whose body is erased: headers tell of deeds all the same."""
    body = events[0].body if events else None
    return isinstance(body, Unknown) and body.erased and body.type == EpisodeStarted.TYPE


def unread(  # noqa: PLR0913 - what is told, by name
    episode: str,
    events: Sequence[Event],
    expected: int,
    *,
    told_from: bool = True,
    store: EventStore | None = None,
    untold: Container[str] | None = None,
) -> list[Unread]:
    """Return what is missing among all the events of an episode that has `expected` of them.

    With `told_from` also what only a newer spectrace can read, but no prompts: no account is made from those. Of what
    was erased, by the records in `store`, one line tells; with `untold` only where events of these types are among it.
    """
    words, erased = erased_words(store, episode, erased_seqs(events)) if store is not None else (None, set())
    enough = untold is not None and not any(event.seq in erased and event.type in untold for event in events)
    found = [Unread(episode, None, f"{words}.")] if words is not None and not enough else []
    there = {event.seq for event in events}
    gaps = [seq for seq in range(max(expected, max(there, default=-1) + 1)) if seq not in there]
    if gaps:
        named = ", ".join(map(str, gaps[:5])) + (f" and {len(gaps) - 5} more" if len(gaps) > 5 else "")  # noqa: PLR2004 - enough to look
        what = (
            f"event {named} of {episode} is missing" if len(gaps) == 1 else f"events {named} of {episode} are missing"
        )
        found.append(Unread(episode, gaps[0] if len(gaps) == 1 else None, f"{what}. {_verify(episode)} says more."))
    for event in events:
        if not isinstance(event.body, Unknown) or event.seq in erased:
            continue
        if told_from and event.type == GenerateRequested.TYPE and not is_newer(event):
            continue
        if event.body.erased:
            why = "its body is missing"
        elif told_from and is_newer(event):
            found.append(Unread(episode, event.seq, str(newer_version(event))))
            continue
        elif told_from and is_foreign(event):
            why = "this spectrace does not know its type, so what it says is in no account"
        else:
            continue
        found.append(
            Unread(
                episode,
                event.seq,
                f"event {event.seq} ({event.type}) of {episode} cannot be read: {why}. {_verify(episode)} says more.",
            )
        )
    return found


def _verify(episode: str) -> str:
    return f"`spectrace verify {episode}`"
