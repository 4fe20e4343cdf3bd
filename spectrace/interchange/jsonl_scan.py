"""What a `jsonl` file holds, and what is wrong with it: the first of two passes; nothing is kept but places.

Every fault has its line, byte offset and length. `cut` is the only harmless one: the file ends too soon. A gap is
never taken for nothing: events that are missing are named, and what a torn line still says of them with it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from spectrace.core.digest import first_link
from spectrace.core.events import EpisodeEnded
from spectrace.errors import StoreError, UsageError
from spectrace.interchange.json_lines import Lines, Place, Torn, Whole, read_lines
from spectrace.interchange.jsonl_records import EXPECTED, First, Record, Section, Text, read_record
from spectrace.interchange.lost_writes import OpenWrites
from spectrace.store.blobs import references
from spectrace.store.decoding import parse
from spectrace.store.lines import Chain, Line
from spectrace.store.names import is_episode_id
from spectrace.store.rows import Damage

_TORN_HEADER = re.compile(
    rb'\{"header":"\[\\"(?P<episode>[^"\\]*)\\",(?P<seq>\d+),\\"(?P<lane>[^"\\]*)\\",\\"(?P<type>[^"\\]*)(?P<whole>\\")?'
)

_TORN_SECTION = re.compile(rb'\{"episode":"(?P<episode>[^"\\]*)"')

_NOWHERE = Place(0, 0, 0)
"""Of what is missing: there is no line to name."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is not as it should be."""

    place: Place
    why: str
    lost: str = ""
    """What a torn line still says of the event in it."""
    episode: str | None = None
    """In whose part of the file it is."""

    @property
    def detail(self) -> str:
        """Return it as one sentence."""
        if not self.place.line:
            return f"{self.why}."
        return f"line {self.place.line}, byte {self.place.offset} ({self.place.length} bytes): {self.why}{self.lost}."


@dataclass(slots=True)
class Found:
    """One episode in the file."""

    episode: str
    section: Section | None
    """None where its line is lost."""
    chain: Chain
    places: dict[int, Place] = field(default_factory=dict)
    """seq -> where its line is."""
    first_bad: int | None = None
    """The first event that is missing, or not what the chain says."""
    short: bool = False
    """Whether events are missing at its end: what is there is an earlier part of it."""
    head: bytes = b""
    ended: bool = False
    writes: OpenWrites = field(default_factory=OpenWrites)

    def broken_at(self, seq: int) -> None:
        """Note that the chain does not hold from this event on."""
        self.first_bad = seq if self.first_bad is None else min(self.first_bad, seq)


@dataclass(slots=True)
class Scan:
    """The whole file."""

    name: str
    first: First | None = None
    episodes: dict[str, Found] = field(default_factory=dict)
    texts: dict[str, Place] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    cut: Fault | None = None
    """What was dropped at the end of the file."""
    _current: Found | None = None


def scan(path: Path, file: BinaryIO) -> Scan:
    """Read the file once; raise UsageError for one that is something else."""
    found, last = Scan(path.name), None
    for line in read_lines(file, read_record):
        if last is not None:
            _take(found, last)
        elif not _is_ours(line):
            raise UsageError(f"{path.name}: expected {EXPECTED}; found {_described(line)}.")
        last = line
    if last is None:
        raise UsageError(f"{path.name} is empty: expected {EXPECTED}. An empty file is not taken for an empty log.")
    if last.cut:
        (torn,) = last.pieces
        if isinstance(torn, Torn):
            found.cut = _torn(found, torn)
    else:
        _take(found, last)
    _finish(found)
    return found


def _is_ours(line: Lines[Record]) -> bool:
    """Whether the first line, or what is left of it, can be that of such a file."""
    match line.pieces[0]:
        case Whole():
            return True
        case Torn(head=head):
            return head.lstrip(b"\0").startswith((b'{"format":"spectrace.jsonl.', b'{"header":"[', b'{"episode":"'))


def _described(line: Lines[Record]) -> str:
    piece = line.pieces[0]
    return piece.why if isinstance(piece, Torn) else "another line first"


def _take(found: Scan, line: Lines[Record]) -> None:
    glued = len(line.pieces) > 1 and not any(isinstance(piece, Torn) for piece in line.pieces)
    for n, piece in enumerate(line.pieces):
        if glued and n == 1:
            _fault(found, piece.place, f"{len(line.pieces)} records on one line: line breaks between them are lost")
        match piece:
            case Torn():
                found.faults.append(_torn(found, piece))
            case Whole(place, record):
                try:
                    _record(found, place, record)
                except Damage as error:
                    _fault(found, place, str(error))


def _record(found: Scan, place: Place, record: Record) -> None:
    match record:
        case First():
            if found.first is not None or found.episodes or found.texts:
                raise Damage("a second file begins here: split the file there, and import each part")
            found.first = record
            found.faults += [
                Fault(place, f"the first line names {episode[:80]!r}, which no episode can be called", "", episode)
                for episode in record.episodes
                if not is_episode_id(episode)
            ]
        case Section():
            if record.episode in found.episodes:
                raise Damage(f"the episode {record.episode} begins a second time")
            if found.first is not None and record.episode not in found.first.episodes:
                raise Damage(f"the first line does not name the episode {record.episode}: it is of another file")
            found._current = _begun(found, record.episode, record)  # noqa: SLF001 - this module's own state
        case Text():
            found.texts[record.digest] = place
        case Line():
            _event(found, place, record)


def _begun(found: Scan, episode: str, section: Section | None) -> Found:
    return found.episodes.setdefault(episode, Found(episode, section, Chain(episode), head=first_link(episode)))


def _event(found: Scan, place: Place, line: Line) -> None:
    seq, current, body = line.row.seq, found._current, _body(line)  # noqa: SLF001 - as above
    if current is None or current.episode != line.episode:
        if found.first is not None and line.episode not in found.first.episodes:
            raise Damage(f"event {seq} belongs to the episode {line.episode}, which the first line does not name")
        known = line.episode in found.episodes
        why = "stands outside the part of its episode" if known else "comes without the line that begins its episode"
        _fault(found, place, f"event {seq} of {line.episode} {why}")
        current = found._current = _begun(found, line.episode, None)  # noqa: SLF001 - as above
    if seq in current.places:
        raise Damage(f"event {seq} of {line.episode} is there a second time")
    if seq < current.chain.seq:
        current.broken_at(seq)
        raise Damage(f"event {seq} of {line.episode} comes after event {current.chain.seq - 1}")
    try:
        current.chain.follow(line)
    except Damage as error:
        current.broken_at(min(seq, current.chain.seq))
        _fault(found, place, str(error))
        current.chain.seq, current.chain.link = seq + 1, line.row.link
    current.places[seq], current.head = place, line.row.link
    current.ended |= line.row.type == EpisodeEnded.TYPE
    current.writes.follow(line.row, body)
    for name in references(body):
        if name not in found.texts:
            current.broken_at(seq)
            raise Damage(f"event {seq} of {line.episode} refers to the blob {name}, which does not stand before it")


def _body(line: Line) -> object:
    try:
        return parse(line.row.body or b"null")
    except StoreError as error:
        raise Damage(f"event {line.row.seq} ({line.row.type}) of {line.episode}: {error}") from None


def _finish(found: Scan) -> None:
    """Compare what is there with what the first line and the episodes' lines said."""
    if found.first is None and not any(fault.place.line == 1 for fault in found.faults):
        found.faults.append(Fault(Place(1, 0, 0), "the first line, which names format and episodes, is missing"))
    first = found.first.episodes if found.first is not None else tuple(found.episodes)
    named = [episode for episode in dict.fromkeys(first) if is_episode_id(episode)]
    for episode in named:
        one = found.episodes.get(episode)
        after = [later for later in named[named.index(episode) + 1 :] if later in found.episodes]
        if one is None:
            _missing(found, episode, f"the episode {episode} is missing", at_end=not after)
        elif one.section is not None and one.chain.seq < one.section.events:
            one.short = True
            _missing(found, episode, f"of {episode}, {missing(one)}", at_end=not after)
        elif one.section is not None and one.head != one.section.head and one.first_bad is None:
            one.broken_at(max(one.places, default=0))
            _missing(found, episode, f"the head of {episode} is not that of its last event", at_end=False)


def _missing(found: Scan, episode: str, what: str, *, at_end: bool) -> None:
    if not at_end:
        found.faults.append(Fault(_NOWHERE, what, "", episode))
    elif found.cut is None:
        found.cut = Fault(_NOWHERE, f"the file ends too soon: {what}", "", episode)


def missing(one: Found) -> str | None:
    """Say which events an episode lacks; None where it lacks none."""
    expected = max(one.section.events if one.section else 0, max(one.places, default=-1) + 1)
    gaps = list(_gaps(one, expected))
    if not gaps:
        return None
    alone = len(gaps) == 1 and ".." not in gaps[0]
    return f"event {gaps[0]} is missing" if alone else f"events {', '.join(gaps)} are missing"


def _gaps(one: Found, expected: int) -> Iterator[str]:
    lost = [seq for seq in range(expected) if seq not in one.places]
    first = None
    for seq in lost:
        if first is None:
            first = seq
        if seq + 1 in one.places or seq + 1 == expected:
            yield str(first) if first == seq else f"{first}..{seq}"
            first = None


def _torn(found: Scan, piece: Torn) -> Fault:
    current = found._current  # noqa: SLF001 - as above
    named = _TORN_HEADER.match(piece.head) or _TORN_SECTION.match(piece.head)
    of = None if current is None else current.episode
    episode = of if named is None else named["episode"].decode("utf-8", "replace")
    return Fault(piece.place, piece.why.rstrip("."), _said(piece.head), episode)


def _fault(found: Scan, place: Place, why: str) -> None:
    current = found._current  # noqa: SLF001 - as above
    found.faults.append(Fault(place, why.rstrip("."), "", None if current is None else current.episode))


def _said(head: bytes) -> str:
    """Return what the beginning of a torn line says of its event, and of what became of a write in it."""
    match = _TORN_HEADER.match(head)
    if match is None:
        return ""
    from_here = OpenWrites.of_torn(match["type"].decode("utf-8", "replace"), whole=match["whole"] is not None)
    seq, episode = int(match["seq"]), match["episode"].decode("utf-8", "replace")
    return f"; it was event {seq} of {episode}{from_here}"
