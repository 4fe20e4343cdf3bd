"""`unpack`: a bundle's episodes into a database, after everything in the bundle was verified.

Nothing is stored before all of it is known to be well. An episode that is here with another head is refused and named,
the others are not held up; each is stored whole or not at all.
"""

from dataclasses import dataclass
from pathlib import Path

from spectrace.core.admin_events import is_admin
from spectrace.core.events import EpisodeEnded
from spectrace.errors import StoreError
from spectrace.store.begun import arrivals
from spectrace.store.blobs import references
from spectrace.store.bundle import Progress
from spectrace.store.bundle_reader import Bundle
from spectrace.store.decoding import parse
from spectrace.store.lines import Chain
from spectrace.store.manifest import Entry
from spectrace.store.rows import Damage
from spectrace.store.sql import SqlEventStore
from spectrace.store.transfer import REFUSALS, Arrival, insert_stored
from spectrace.store.zip_members import LIMITS, Limits


@dataclass(frozen=True, slots=True)
class Unpacked:
    """What came of a bundle."""

    sha256: str
    arrivals: tuple[Arrival, ...]
    refused: tuple[tuple[str, str], ...]
    """(episode, why)."""


def unpack(
    path: Path,
    store: SqlEventStore,
    *,
    limits: Limits = LIMITS,
    on_record: bool = True,
    progress: Progress | None = None,
) -> Unpacked:
    """Verify the bundle, then store its episodes; raise StoreError, with nothing stored, where it is not intact."""
    found: list[Arrival] = []
    refused: list[tuple[str, str]] = []
    with Bundle(path, limits) as bundle:
        verify(bundle)
        sha256 = bundle.sha256()
        record = None
        if on_record:
            record = arrivals(store, "unpacked", path.name, len(bundle.episodes), digest=f"sha256:{sha256}")
        # What says that events were erased comes before the episodes that lack them.
        for done, entry in enumerate(sorted(bundle.episodes, key=lambda one: not is_admin(one.episode)), 1):
            if record is not None:
                record.expect(entry.episode, entry.head)
            try:
                lines = bundle.lines(entry.episode)
                found.append(insert_stored(store, entry.episode, entry.head, lines, bundle.blobs))
            except REFUSALS as error:
                refused.append((entry.episode, str(error)))
            if progress is not None:
                progress(done, len(bundle.episodes))
    if record is not None:
        for one in found:
            record.add(one)
        record.end()
    return Unpacked(sha256, tuple(found), tuple(refused))


def verify(bundle: Bundle) -> None:
    """Raise StoreError, naming the file, for the first thing in a bundle that is not as it should be."""
    try:
        bundle.check_members()
        bundle.checkpoint()
        for entry in bundle.episodes:
            _verify_episode(bundle, entry)
    except Damage as error:
        raise StoreError(
            f"{bundle.path}: {str(error).rstrip('.')}. Nothing of it was stored; `spectrace verify {bundle.path}` says "
            "which of its episodes are whole."
        ) from error


def _verify_episode(bundle: Bundle, entry: Entry) -> None:
    chain, started_at, ended_at = Chain(entry.episode), None, None
    for line in bundle.lines(entry.episode):
        chain.follow(line)
        started_at = line.row.at if started_at is None else started_at
        if line.row.type == EpisodeEnded.TYPE:
            ended_at = line.row.at
        for name in references(parse(line.row.body or b"null")):
            if not bundle.has_text(name):
                raise Damage(f"event {line.row.seq} of {entry.episode} refers to the text {name}, which is missing.")
    differences = entry.differences(chain.seq, chain.link, started_at, ended_at)
    if differences is not None:
        raise Damage(differences)
