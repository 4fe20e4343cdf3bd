"""Whether an episode's log is intact by its own account: stored bytes against the chain, nothing re-serialised.

`consistent` means that every byte is the one that the chain was computed over, that nothing is missing between the
first and the last event, and that every blob is the one that its name says. It does not mean that the log is genuine:
whoever could write the file could have written another history with a chain of its own. Only a signed checkpoint, kept
elsewhere, can tell that apart. A body that is missing without a record of its erasure is `invalid`.

A batch of events is hashed in one tight loop, and its texts are looked up together; only where something is wrong are
they looked at one by one, to name the first bad event.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from itertools import islice

import orjson

from spectrace.audit.erased import Erased, NotOnRecord
from spectrace.audit.text_names import WRITTEN, all_names, names, written
from spectrace.audit.verifiable import Verifiable
from spectrace.core.admin_events import is_admin
from spectrace.core.digest import digest, first_link, next_link
from spectrace.core.events import AdminOpened, EpisodeEnded, EpisodeStarted, OutcomeSettled
from spectrace.errors import NewerSchema, StoreError
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
_REQUEST = re.compile(rb'"request":(\d+)[,}]')
_ASKED = b'"request":'
KNOWN_BLOBS = 200_000
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
    erased: Erased
    """What of the log may lack its body."""
    seq: int = 0
    """The next event expected."""
    open: dict[int, str] = field(default_factory=dict)
    """Requests without an answer yet: seq -> what."""
    without_body: int = 0
    """How many events are erased, by a record and with their proof."""
    gone: dict[str, int] = field(default_factory=dict)
    """How many answers were erased, of each kind: which requests they answered is not known any more."""
    ended: int | None = None
    administrative: bool = False
    """Whether it is the log of what was done to a database."""

    @property
    def plain(self) -> bool:
        """Whether an event that neither begins nor ends needs no look at its place: in the middle of a run."""
        return self.seq > 0 and self.ended is None and not self.administrative


def verify_episode(store: Verifiable, episode: str) -> VerifyResult:
    """Check one episode from its stored bytes; `episode` is its whole id. Raises EpisodeNotFound only."""
    return Verifier(store).verify(episode)


class Verifier:
    """Checks the episodes of one store; a blob that several of them use is checked once."""

    def __init__(self, store: Verifiable) -> None:
        """Read from `store`."""
        self._store = store
        self._erased = Erased(store)
        self._whole: set[bytes] = set()
        """Blobs found whole already, as `written` in a body: so references are compared without being spelled."""

    def know(self, digests: Iterable[bytes]) -> None:
        """Take these blobs as whole, as many as are kept: the caller checked them (`whole_blobs`)."""
        self._whole.update(b':"sha256:%b"' % name.hex().encode() for name in islice(digests, KNOWN_BLOBS))

    def verify(self, episode: str) -> VerifyResult:
        """Check one episode, by its whole id. Raises EpisodeNotFound only."""
        row = self._store.row(episode)
        found = self._verified(row)
        if found.result == INVALID and self._erased.outdated():
            self._erased = Erased(self._store)
            found = self._verified(row)
        return found

    def _verified(self, row: EpisodeRow) -> VerifyResult:
        check = _Check(row.episode, first_link(row.episode), self._erased)
        try:
            for links in self._up_to(row):
                self._batch(check, links)
        except NewerSchema as error:
            return _result(check, UNKNOWN, str(error))
        except (StoreError, _Broken) as error:
            return _result(check, INVALID, str(error), first_bad=check.seq)
        return _whole(check, row)

    def _up_to(self, row: EpisodeRow) -> Iterator[Sequence[Link]]:
        """Yield the events that the row knows of: one that is being written grows while it is read."""
        read = 0
        for links in self._store.links(row.episode):
            read += len(links)
            if read > row.events and self._store.row(row.episode).events > row.events:
                yield links[: len(links) - (read - row.events)]
                return
            yield links

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
        # A mark stands in no JSON text, where its quotes would be escaped: what follows each is the name of a blob, or
        # is no reference as canonical JSON writes it, and then it is none of those known.
        after = b"\n".join([link[3] for link in links if link[3] is not None]).split(MARK)[1:]
        if {some[:WRITTEN] for some in after} <= self._whole:
            return None
        wanted = {name for name in all_names(links) if written(name) not in self._whole}
        if len(self._whole) > KNOWN_BLOBS:
            self._whole.clear()
        try:
            found = self._store.blobs(wanted) if wanted else {}
        except StoreError:
            found = {}
        sound = {name for name, data in found.items() if digest(data) == name}
        self._whole.update(map(written, sound))
        if wanted <= sound:
            return None
        return next((bad for link in links for name in names(link[3]) if (bad := self._bad(link, name))), None)

    def _bad(self, link: Link, name: str) -> tuple[int, StoreError | _Broken] | None:
        if written(name) in self._whole:
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
        self._whole.add(written(name))
        return None


def whole_blobs(blobs: Iterable[tuple[bytes, bytes]]) -> list[bytes]:
    """Return the digests of those blobs, given with their bytes, that are what their digests say."""
    return [name for name, data in blobs if sha256(data).digest() == name]


def _follow(check: _Check, links: Sequence[Link]) -> None:
    """Follow the chain over some events, and what they say to each other; on an error `check.seq` is the bad one."""
    link, problem = _hashed(check.seq, check.link, links), None
    if link is None:
        links, link, problem = _sound(check, links)
    plain = check.plain
    for event in links:
        part, what = _part(event[1])
        if plain and part is _TELLS:
            continue
        check.seq = event[0]
        if part is _ANSWERS and plain:
            _answer(check, event, what)
        elif part is _ASKS and plain:
            check.open[check.seq] = what
        else:
            _kind(check, event, part)
            _dialogue(check, event, part, what)
            plain = not check.administrative and check.ended is None
    if links:
        check.seq, check.link = links[-1][0] + 1, link
    if problem is not None:
        raise problem


def _hashed(seq: int, link: bytes, links: Sequence[Link]) -> bytes | None:
    """Return the last link where every event follows the one before it, else None: the loop all events go through."""
    sha = sha256
    try:
        for expected, (found, _, header, body, salt, stored) in enumerate(links, seq):
            # `digest.next_link`, in line
            link = sha(link + sha(header).digest() + sha(salt + body).digest()).digest()  # type: ignore[operator] # None is caught
            if link != stored or found != expected:
                return None
    except TypeError:  # a body is erased; or SQLite, which holds what it is given, was given a text or a number
        return None
    return link


def _sound(check: _Check, links: Sequence[Link]) -> tuple[Sequence[Link], bytes, _Broken | None]:
    """Return the events up to the first that does not follow, their last link, and what is wrong with that one."""
    link = check.link
    for count, event in enumerate(links):
        problem, chain = _broken(check, check.seq + count, link, event)
        if problem is not None:
            return links[:count], link, problem
        link = chain
    return links, link, None


def _broken(check: _Check, expected: int, link: bytes, event: Link) -> tuple[_Broken | None, bytes]:
    """Return what is wrong with an event, if anything, and its link."""
    seq, type_, header, body, salt, stored = event
    if seq != expected:
        return _Broken(f"event {expected} is missing: event {seq} follows event {expected - 1}"), link
    try:
        if body is None and salt is None:
            chain = check.erased.link(check.episode, link, event)
            check.without_body += 1
        else:
            chain = next_link(link, header, salt, body)  # type: ignore[arg-type] # half of it is a TypeError
    except NotOnRecord as missing:
        return _Broken(str(missing)), link
    except TypeError:
        return _Broken(f"event {seq} ({type_}) holds no bytes where its body or salt belongs"), link
    if chain == stored:
        return None, chain
    if type(stored) is not bytes:
        return _Broken(f"event {seq} ({type_}) holds no bytes where its link belongs"), link
    said = (
        f"event {seq} ({type_}) is not the one that was recorded: its bytes give the link {chain.hex()[:16]}, "
        f"the chain has {stored.hex()[:16]}"
    )
    return _Broken(said), link


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
    if body is None:
        gone = check.gone.get(what, 0)
        if gone >= sum(one == what for one in check.open.values()):
            raise _Unfit(f"event {seq} ({type_}) answers no open {what}.requested")
        check.gone[what] = gone + 1
        return
    asked = _asked(body)
    if asked is None or check.open.get(asked) != what:
        raise _Unfit(f"event {seq} ({type_}) answers event {asked}, which is no open {what}.requested")
    del check.open[asked]


def _asked(body: bytes) -> int | None:
    """Return the number of the event that an answer names, parsing nothing where it stands there once."""
    at = body.find(_ASKED)
    if at >= 0 and body.find(_ASKED, at + 1) < 0 and (found := _REQUEST.match(body, at)):
        return int(found[1])
    numbers = _REQUEST.findall(body)
    if len(numbers) == 1:
        return int(numbers[0])
    value = orjson.loads(body)  # in the types of today it stands once; a later one is parsed
    asked = value.get("request") if isinstance(value, dict) else None
    return asked if isinstance(asked, int) else None


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
    return _result(check, CONSISTENT, f"{_end(check, row)}{_erased(check)}{_unanswered(check)}")


def _end(check: _Check, row: EpisodeRow) -> str:
    if check.ended is not None:
        return "whole, from its start to its end"
    if check.administrative:
        return "whole, up to its last record"
    return "its writer is gone: a prefix without an end" if row.state == "interrupted" else "still being written"


def _erased(check: _Check) -> str:
    return f"; {check.without_body} of its events erased, as is on record" if check.without_body else ""


def _unanswered(check: _Check) -> str:
    """Name the questions without an answer; where erased events answered some of a kind, not those of that kind."""
    said = [f"event {seq} ({what}.requested)" for seq, what in check.open.items() if what not in check.gone]
    return f"; never answered: {', '.join(said)}" if said else ""


def _result(check: _Check, result: str, detail: str, *, first_bad: int | None = None) -> VerifyResult:
    covered = check.seq - 1 if check.seq else None
    return VerifyResult(check.episode, result, check.seq, first_bad, covered, detail)
