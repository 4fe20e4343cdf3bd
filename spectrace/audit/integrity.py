"""Whether an episode's log is intact by its own account: stored bytes against the chain, nothing re-serialised.

`consistent` means that every byte is the one that the chain was computed over, that nothing is missing between the
first and the last event, and that every blob is the one that its name says. It does not mean that the log is genuine:
whoever could write the file could have written another history with a chain of its own. Only a signed checkpoint, kept
elsewhere, can tell that apart. A body that is missing without a record of its erasure is `invalid`.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from spectrace.core.admin_events import is_admin
from spectrace.core.digest import digest, first_link, next_link
from spectrace.core.events import AdminOpened, EpisodeStarted
from spectrace.errors import NewerSchema, StoreError
from spectrace.store.blobs import references
from spectrace.store.event_store import EpisodeRow, EventStore, StoredEvent

INVALID, CONSISTENT, UNKNOWN = "invalid", "consistent", "unknown"

NOT_PROVED = (
    "Consistent means: intact by its own account. Every stored byte is the one that the chain was computed over. It "
    "does not prove that the log is genuine: whoever could write the file could have rewritten it, chain and all."
)
"""What the word does not prove; said wherever people read it."""

_RUN, _LOG = EpisodeStarted.TYPE, AdminOpened.TYPE
_REQUESTED, _ANSWERS = ".requested", (".completed", ".failed")


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """invalid, consistent or unknown; `events` were read, all is well up to event `covered_to` (None: not even 0)."""

    episode: str
    result: str
    events: int
    first_bad_seq: int | None
    covered_to: int | None
    detail: str


class _Broken(Exception):
    """An event is not what the chain says."""


@dataclass(slots=True)
class _Check:
    """The chain so far, and what it holds."""

    store: EventStore
    episode: str
    link: bytes
    seq: int = 0
    """The next event expected."""
    open: dict[int, str] = field(default_factory=dict)
    """Requests without an answer yet: seq -> what."""
    ended: int | None = None
    blobs: set[str] = field(default_factory=set)
    """Blobs found whole already."""
    administrative: bool = False
    """Whether it is the log of what was done to a database."""


def verify_episode(store: EventStore, episode: str) -> VerifyResult:
    """Check one episode from its stored bytes; `episode` is its whole id. Raises EpisodeNotFound only."""
    row = store.row(episode)
    check = _Check(store, episode, first_link(episode))
    stored = iter(store.stored(episode))
    while True:
        try:
            event = next(stored, None)
            if event is None:
                break
            _event(check, event)
        except NewerSchema as error:
            return _result(check, UNKNOWN, str(error))
        except (StoreError, _Broken) as error:
            return _result(check, INVALID, str(error), first_bad=check.seq)
    return _whole(check, row)


def _event(check: _Check, stored: StoredEvent) -> None:
    episode, seq, _, type_, *_ = json.loads(stored.header)
    if seq != check.seq:
        raise _Broken(f"event {check.seq} is missing: event {seq} follows event {check.seq - 1}")
    if episode != check.episode:
        raise _Broken(f"event {seq} says that it belongs to episode {episode}")
    if stored.body is None or stored.salt is None:
        raise _Broken(f"the body of event {seq} ({type_}) is missing, and no erasure of it is on record")
    link = next_link(check.link, stored.header, stored.salt, stored.body)
    if link != stored.link:
        raise _Broken(
            f"event {seq} ({type_}) is not the one that was recorded: its bytes give the link {link.hex()[:16]}, "
            f"the chain has {stored.link.hex()[:16]}"
        )
    _kind(check, seq, type_)
    body = json.loads(stored.body)
    for name in references(body):
        _blob(check, seq, type_, name)
    _questions(check, seq, type_, body)
    check.link, check.seq = link, seq + 1


def _kind(check: _Check, seq: int, type_: str) -> None:
    """A run begins with episode.started, an administrative log with admin.opened, both once; they share no type."""
    begins = type_ in {_RUN, _LOG}
    if seq == 0 and begins:
        check.administrative = type_ == _LOG
    if begins != (seq == 0):
        raise _Broken(f"event {seq} is {type_}; an episode begins with {_RUN} (administrative: {_LOG}), once")
    if type_.startswith("admin.") != check.administrative or (check.administrative and not is_admin(check.episode)):
        raise _Broken(f"event {seq} is {type_}, which has no place in {check.episode}")


def _blob(check: _Check, seq: int, type_: str, name: str) -> None:
    if name in check.blobs:
        return
    data = check.store.blob(name)
    if data is None:
        raise _Broken(f"event {seq} ({type_}) refers to the text {name}, which is missing from the database")
    if digest(data) != name:
        raise _Broken(f"the text {name[:23]} of event {seq} ({type_}) holds other bytes than its name says")
    check.blobs.add(name)


def _questions(check: _Check, seq: int, type_: str, body: dict[str, object]) -> None:
    """Every answer answers one question that was asked before it, once."""
    what, dot, kind = type_.rpartition(".")
    if check.ended is not None and type_ != "outcome.settled":
        raise _Broken(f"event {seq} ({type_}) follows the end of the episode at event {check.ended}")
    if type_ == "episode.ended":
        check.ended = seq
    elif dot + kind == _REQUESTED:
        check.open[seq] = what
    elif dot + kind in _ANSWERS:
        asked = body.get("request")
        if not isinstance(asked, int) or check.open.get(asked) != what:
            raise _Broken(f"event {seq} ({type_}) answers event {asked}, which is no open {what}.requested")
        del check.open[asked]


def _whole(check: _Check, row: EpisodeRow) -> VerifyResult:
    """The events are well; compare them with what the episode's row says of them."""
    if check.seq != row.events:
        detail = f"the episode has {row.events} events by its own row, {check.seq} are there"
        return _result(check, INVALID, detail, first_bad=check.seq)
    if check.link != row.head:
        detail = f"the episode's head is {row.head.hex()[:16]}, its last event's link is {check.link.hex()[:16]}"
        return _result(check, INVALID, detail, first_bad=max(0, check.seq - 1))
    if (row.ended_at is None) != (check.ended is None):
        said, found = ("ended", "no end") if row.ended_at is not None else ("open", "an end")
        return _result(
            check, INVALID, f"the episode's row says {said}, its events hold {found}", first_bad=check.seq - 1
        )
    return _result(check, CONSISTENT, f"{_end(check, row)}{_unanswered(check.open.items())}")


def _end(check: _Check, row: EpisodeRow) -> str:
    if check.ended is not None:
        return "whole, from its start to its end"
    if check.administrative:
        return "whole, up to its last record"
    return "its writer is gone: a prefix without an end" if row.state == "interrupted" else "still being written"


def _unanswered(questions: Iterable[tuple[int, str]]) -> str:
    said = [f"event {seq} ({what}.requested)" for seq, what in questions]
    return f"; never answered: {', '.join(said)}" if said else ""


def _result(check: _Check, result: str, detail: str, *, first_bad: int | None = None) -> VerifyResult:
    covered = check.seq - 1 if check.seq else None
    return VerifyResult(check.episode, result, check.seq, first_bad, covered, detail)
