"""`import jsonl`: episodes out of a file that `export jsonl` wrote, whole or damaged. The file is never changed.

Two passes: `jsonl_scan` says what is there and what is wrong, then each episode is stored as its bytes. A cut end is
dropped and said; any other damage refuses the file, unless `salvage` asks for what is whole in it: then what is lost
is reported line by line, and an episode with a gap stays interrupted, its chain broken for everybody to see.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import orjson

from spectrace.core.admin_events import is_admin
from spectrace.errors import UsageError
from spectrace.interchange.json_lines import Place
from spectrace.interchange.jsonl_records import Text, read_record
from spectrace.interchange.jsonl_scan import Fault, Found, Scan, missing, scan
from spectrace.store.begun import Arrivals, arrivals
from spectrace.store.lines import Line, parse_line
from spectrace.store.sql import SqlEventStore
from spectrace.store.transfer import REFUSALS, insert_stored

LOST, REFUSED = "lost", "refused"

Progress = Callable[[int, int], None]
"""Told after each episode: how many are done, of how many."""


@dataclass(frozen=True, slots=True)
class ImportedLines:
    """What came of one episode of a file. `result`: that of an `Arrival`, lost (nothing of it is left), refused."""

    episode: str
    result: str
    events: int
    losses: tuple[str, ...] = ()
    first_bad_seq: int | None = None
    reason: str | None = None
    """Why it was refused."""


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """What came of a file."""

    episodes: tuple[ImportedLines, ...]
    damage: tuple[Fault, ...]

    @property
    def complete(self) -> bool:
        """Whether all that the file once held is here: nothing was damaged, nothing is lost."""
        return not self.damage and all(one.result != LOST and not one.losses for one in self.episodes)


def import_jsonl(
    path: Path, store: SqlEventStore, *, salvage: bool = False, progress: Progress | None = None
) -> ImportedFile:
    """Store a file's episodes; raise UsageError, with nothing stored, for another file or a damaged one."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}).") from None
    with file:
        found = scan(path, file)
        if found.faults and not salvage:
            raise UsageError(_damaged(found))
        file.seek(0)
        digest = f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
        record = arrivals(store, "imported", path.name, len(found.episodes), digest=digest)
        episodes = []
        # What says that events were erased comes before the episodes that lack them.
        for done, one in enumerate(sorted(found.episodes.values(), key=lambda one: not is_admin(one.episode)), 1):
            episodes.append(_import(found, one, file, store, record))
            if progress is not None:
                progress(done, len(found.episodes))
        named = dict.fromkeys(found.first.episodes if found.first else ())
        episodes += [_lost(found, episode) for episode in named if episode not in found.episodes]
        record.end()
    damage = (*found.faults, *((found.cut,) if found.cut else ()))
    return ImportedFile(tuple(episodes), damage)


def _damaged(found: Scan) -> str:
    more = f" That is the first of {len(found.faults)} faults." if len(found.faults) > 1 else ""
    return (
        f"{found.name} is damaged: {found.faults[0].detail}{more} Nothing was imported. `--salvage` imports what is "
        "whole in it and says what is lost."
    )


def _import(found: Scan, one: Found, file: BinaryIO, store: SqlEventStore, record: Arrivals) -> ImportedLines:
    losses = tuple(_losses(found, one))
    if not one.places:
        return ImportedLines(one.episode, LOST, 0, losses)
    whole = one.first_bad is None
    record.expect(one.episode, one.head)
    try:
        arrival = insert_stored(
            store, one.episode, one.head, _lines(file, one), lambda names: _texts(file, found, names), whole=whole
        )
    except REFUSALS as error:
        return ImportedLines(one.episode, REFUSED, len(one.places), losses, one.first_bad, str(error))
    record.add(arrival)
    return ImportedLines(one.episode, arrival.result, len(one.places), losses, one.first_bad)


def _lost(found: Scan, episode: str) -> ImportedLines:
    details = [fault.detail for fault in found.faults if fault.episode == episode]
    cut = [found.cut.detail] if found.cut is not None else []
    return ImportedLines(episode, LOST, 0, ("nothing of this episode is left in the file.", *(details or cut)))


def _losses(found: Scan, one: Found) -> Iterator[str]:
    """Yield what this episode lacks, and which writes have no outcome for that."""
    if one.first_bad is None and not one.short:
        return
    yield from (fault.detail for fault in found.faults if fault.episode == one.episode)
    if one.short:
        yield f"{missing(one)}: the end of the episode is not in the file."
        if found.cut is not None and found.cut.place.line and found.cut.episode == one.episode:
            yield found.cut.detail
    if one.first_bad is not None:
        lacks = missing(one)
        yield f"{f'{lacks}; ' if lacks else ''}its chain is broken at event {one.first_bad}, and it stays interrupted."
    yield from one.writes.said()


def _lines(file: BinaryIO, one: Found) -> Iterator[Line]:
    for seq in sorted(one.places):
        yield parse_line(_bytes(file, one.places[seq]))


def _texts(file: BinaryIO, found: Scan, names: set[str]) -> Mapping[str, bytes]:
    texts = {}
    for name in names & set(found.texts):
        record = read_record(orjson.loads(_bytes(file, found.texts[name])))
        if isinstance(record, Text):
            texts[name] = record.data
    return texts


def _bytes(file: BinaryIO, place: Place) -> bytes:
    file.seek(place.offset)
    return file.read(place.length)
