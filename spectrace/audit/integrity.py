"""Whether an episode's log is intact by its own account: stored bytes against the chain, nothing re-serialised.

`consistent` means that every byte is the one that the chain was computed over, that nothing is missing between the
first and the last event, and that every blob is the one that its name says. It does not mean that the log is genuine:
whoever could write the file could have written another history with a chain of its own. Only a signed checkpoint, kept
elsewhere, can tell that apart. A body that is missing without a record of its erasure is `invalid`.

A batch of events is hashed in one go and its blobs are fetched together; only where something is wrong are they looked
at one by one, to name the first bad event.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from typing import Protocol

import orjson

from spectrace.core.admin_events import is_admin
from spectrace.core.digest import digest, first_link
from spectrace.core.events import AdminOpened, EpisodeEnded, EpisodeStarted, OutcomeSettled
from spectrace.errors import NewerSchema, StoreError
from spectrace.store.blobs import references
from spectrace.store.event_store import EpisodeRow, Link
from spectrace.store.texts import MARK

INVALID, CONSISTENT, UNKNOWN = "invalid", "consistent", "unknown"

NOT_PROVED = (
    "Consistent means: intact by its own account. Every stored byte is the one that the chain was computed over. It "
    "does not prove that the log is genuine: whoever could write the file could have rewritten it, chain and all."
)
"""What the word does not prove; said wherever people read it."""

_RUN, _LOG = EpisodeStarted.TYPE, AdminOpened.TYPE
_BEGINS, _ENDS, _ASKS, _ANSWERS, _RECORDS, _TELLS = "begins", "ends", "asks", "answers", "records", "tells"
_REFERENCE = re.compile(rb'\{"\$blob":"(sha256:[0-9a-f]{64})"')
"""A reference as canonical JSON writes it; in a JSON text its quotes would be escaped."""
_REQUEST = re.compile(rb'"request":(\d+)[,}]')
_KNOWN_BLOBS = 200_000
"""Names of blobs found whole that are kept from episode to episode: some 25 MB."""


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


class _Unfit(_Broken):
    """An event is as it was recorded, and does not fit those before it."""


@dataclass(slots=True)
class _Check:
    """The chain so far, and what it holds."""

    episode: str
    link: bytes
    seq: int = 0
    """The next event expected."""
    open: dict[int, str] = field(default_factory=dict)
    """Requests without an answer yet: seq -> what."""
    ended: int | None = None
    administrative: bool = False
    """Whether it is the log of what was done to a database."""

    @property
    def plain(self) -> bool:
        """Whether an event that neither asks nor answers needs no look: in the middle of a run."""
        return self.seq > 0 and self.ended is None and not self.administrative


class Verifiable(Protocol):
    """What is asked of a store, or of a bundle (see `event_store.EventStore`, whose words these are)."""

    def row(self, episode: str) -> EpisodeRow:
        """Return an episode's row."""
        ...

    def links(self, episode: str) -> Iterator[list[Link]]:
        """Yield an episode's events as the chain covers them."""
        ...

    def blobs(self, digests: set[str]) -> Mapping[str, bytes]:
        """Return those blobs that are there, not checked against their digests."""
        ...

    def blob(self, digest: str) -> bytes | None:
        """Return the bytes of a blob by its digest, or None where it is missing."""
        ...


def verify_episode(store: Verifiable, episode: str) -> VerifyResult:
    """Check one episode from its stored bytes; `episode` is its whole id. Raises EpisodeNotFound only."""
    return Verifier(store).verify(episode)


class Verifier:
    """Checks the episodes of one store; a blob that several of them use is checked once."""

    def __init__(self, store: Verifiable) -> None:
        """Read from `store`."""
        self._store = store
        self._whole: set[str] = set()
        """Blobs found whole already."""

    def verify(self, episode: str) -> VerifyResult:
        """Check one episode, by its whole id. Raises EpisodeNotFound only."""
        row = self._store.row(episode)
        check = _Check(episode, first_link(episode))
        try:
            for links in self._store.links(episode):
                self._batch(check, links)
        except NewerSchema as error:
            return _result(check, UNKNOWN, str(error))
        except (StoreError, _Broken) as error:
            return _result(check, INVALID, str(error), first_bad=check.seq)
        return _whole(check, row)

    def _batch(self, check: _Check, links: Sequence[Link]) -> None:
        """Check some events; on an error `check.seq` is the first bad one."""
        first, problem = check.seq, None
        try:
            _follow(check, links)
        except _Broken as error:
            problem = error
        # An event's texts are looked at after its link, and before its part in the dialogue.
        sound = links[: check.seq - first + isinstance(problem, _Unfit)]
        bad = self._first_with_bad_texts(sound)
        if bad is not None:
            check.seq, why = bad
            raise why
        if problem is not None:
            raise problem

    def _first_with_bad_texts(self, links: Sequence[Link]) -> tuple[int, StoreError | _Broken] | None:
        """Return the first event with a text that is not whole, and why: all at once, then one by one to find it."""
        wanted = _all_names(links) - self._whole
        if len(self._whole) > _KNOWN_BLOBS:
            self._whole.clear()
        try:
            found = self._store.blobs(wanted) if wanted else {}
        except StoreError:
            found = {}
        self._whole |= {name for name, data in found.items() if digest(data) == name}
        if wanted <= self._whole:
            return None
        return next((bad for link in links for name in _names(link[3]) if (bad := self._bad(link, name))), None)

    def _bad(self, link: Link, name: str) -> tuple[int, StoreError | _Broken] | None:
        if name in self._whole:
            return None
        event = f"event {link[0]} ({link[1]})"
        try:
            data = self._store.blob(name)
        except StoreError as error:
            return link[0], error
        if data is None:
            return link[0], _Broken(f"{event} refers to the text {name}, which is missing from the database")
        if digest(data) != name:
            return link[0], _Broken(f"the text {name[:23]} of {event} holds other bytes than its name says")
        self._whole.add(name)
        return None


def _all_names(links: Sequence[Link]) -> set[str]:
    """Return the names of all texts of some events: searched at once, which is twice as fast."""
    bodies = b"\n".join([link[3] for link in links if link[3] is not None])
    found = _REFERENCE.findall(bodies)
    if len(found) == bodies.count(MARK):
        return {name.decode() for name in set(found)}
    return {name for link in links for name in _names(link[3])}


def _names(body: bytes | None) -> Sequence[str]:
    """Return the names of an event's texts, in their order."""
    if body is None or MARK not in body:
        return ()
    names = [name.decode() for name in _REFERENCE.findall(body)]
    # What is not written as canonical JSON writes it was not written here: parse it rather than pass it by.
    return names if len(names) == body.count(MARK) else list(references(orjson.loads(body)))


def _follow(check: _Check, links: Sequence[Link]) -> None:
    """Follow the chain over some events: the loop that every event of a log goes through."""
    expected, chain, plain = check.seq, check.link, check.plain
    for event in links:
        seq, type_, header, body, salt, stored = event
        if seq != expected or body is None or salt is None:
            raise _Broken(_not_there(expected, seq, type_))
        try:
            proof = sha256(salt + body).digest()
        except TypeError:  # SQLite holds what it is given, texts and numbers too
            raise _Broken(f"event {seq} ({type_}) holds no bytes where its body or salt belongs") from None
        chain = sha256(chain + sha256(header).digest() + proof).digest()  # `digest.next_link`, in line
        if chain != stored:
            raise _Broken(
                f"event {seq} ({type_}) is not the one that was recorded: its bytes give the link {chain.hex()[:16]}, "
                f"the chain has {bytes(stored).hex()[:16]}"
            )
        part, what = _part(type_)
        if part is _ANSWERS and plain:
            _answer(check, event, what)
        elif part is _ASKS and plain:
            check.open[seq] = what
        elif part is not _TELLS or not plain:
            _kind(check, event, part)
            _dialogue(check, event, part, what)
            plain = not check.administrative and check.ended is None
        expected = seq + 1
        check.link, check.seq = chain, expected


def _not_there(expected: int, seq: int, type_: str) -> str:
    if seq != expected:
        return f"event {expected} is missing: event {seq} follows event {expected - 1}"
    return f"the body of event {seq} ({type_}) is missing, and no erasure of it is on record"


@cache
def _part(type_: str) -> tuple[str, str]:
    """Return an event type's part in the dialogue: what it does, and of what."""
    what, _, kind = type_.rpartition(".")
    if type_ in {_RUN, _LOG}:
        return _BEGINS, what
    if type_ == EpisodeEnded.TYPE:
        return _ENDS, what
    if what == "admin":
        return _RECORDS, what
    return _ASKS if kind == "requested" else _ANSWERS if kind in {"completed", "failed"} else _TELLS, what


def _kind(check: _Check, event: Link, part: str) -> None:
    """A run begins with episode.started, an administrative log with admin.opened, both once; they share no type."""
    seq, type_, *_ = event
    if seq == 0 and part == _BEGINS:
        check.administrative = type_ == _LOG
    if (part == _BEGINS) != (seq == 0):
        raise _Broken(f"event {seq} is {type_}; an episode begins with {_RUN} (administrative: {_LOG}), once")
    if (part == _RECORDS or type_ == _LOG) != check.administrative or (
        check.administrative and not is_admin(check.episode)
    ):
        raise _Broken(f"event {seq} is {type_}, which has no place in {check.episode}")


def _dialogue(check: _Check, event: Link, part: str, what: str) -> None:
    """Every answer answers one question that was asked before it, once; nothing but a person's word follows the end."""
    seq, type_, *_ = event
    if check.ended is not None and type_ != OutcomeSettled.TYPE:
        raise _Unfit(f"event {seq} ({type_}) follows the end of the episode at event {check.ended}")
    if part == _ENDS:
        check.ended = seq
    elif part == _ASKS:
        check.open[seq] = what
    elif part == _ANSWERS:
        _answer(check, event, what)


def _answer(check: _Check, event: Link, what: str) -> None:
    seq, type_, _, body, *_ = event
    found = _REQUEST.findall(body or b"")
    if len(found) != 1:  # in the types of today it stands once; a later one is parsed
        value = orjson.loads(body or b"null")
        found = [value.get("request")] if isinstance(value, dict) else [None]
    asked = int(found[0]) if isinstance(found[0], bytes | int) else None
    if asked is None or check.open.get(asked) != what:
        raise _Unfit(f"event {seq} ({type_}) answers event {asked}, which is no open {what}.requested")
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
