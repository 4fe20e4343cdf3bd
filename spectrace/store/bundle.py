"""Bundles: episodes in one zip that anybody can verify without spectrace (`schemas/FORMAT.md` says how).

    manifest.json                    what is in it, with digests (`manifest`)
    episodes/<id>.jsonl              one event a line, as its exact bytes (`lines`)
    blobs/sha256/<hex>               the long texts that bodies refer to, by digest
    checkpoints/...                  a signed checkpoint, all leaves of its tree, proofs (`bundle_checkpoint`)
    schemas/events/<type>.v<n>.json  the schemas of the event types that occur
    FORMAT.md, schemas/bundle.v1.json

The same episodes give the same bytes: members in a fixed order, no times, no names of who packed. Members that pack
as well as a zip bomb are stored as they are: no reader should refuse what was packed. Counterpart: `bundle_reader`,
which trusts nothing of this.
"""

import hashlib
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, BinaryIO

from spectrace import __version__
from spectrace.core.events import EpisodeEnded
from spectrace.errors import StoreError, UsageError
from spectrace.store import erasures, manifest, schemas
from spectrace.store.bundle_checkpoint import BundleCheckpoint, members
from spectrace.store.event_store import EpisodeRow, EventStore
from spectrace.store.lines import line_of
from spectrace.store.new_file import new_file
from spectrace.store.outgoing import outgoing, whole_text
from spectrace.store.rows import Damage
from spectrace.store.zip_members import BLOBS, EPISODES, LIMITS, SCHEMAS, Limits, checked, too_dense

DESCRIPTION, BUNDLE_SCHEMA = "FORMAT.md", "schemas/bundle.v1.json"

Progress = Callable[[int, int], None]
"""Told after each episode: how many are done, of how many."""

_EPOCH = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_FILE = 0o100644 << 16
_PACKAGE = Path(__file__).resolve().parents[1]
_PLACES = (_PACKAGE / "_schemas", _PACKAGE.parent / "schemas")


@dataclass(frozen=True, slots=True)
class Packed:
    """A bundle that was written."""

    path: Path
    sha256: str
    bytes: int
    episodes: tuple[manifest.Entry, ...]


def pack(  # noqa: PLR0913 - what, from where, whereto, and how
    store: EventStore,
    episodes: Sequence[str],
    target: Path,
    *,
    force: bool = False,
    progress: Progress | None = None,
    limits: Limits = LIMITS,
    period: manifest.Period | None = None,
    checkpoint: BundleCheckpoint | None = None,
) -> Packed:
    """Write the episodes into a new file; raise StoreError for one that is not intact, and leave no file then.

    Of what was erased of them the administrative logs that say so come along. `period` is what the episodes are the
    whole of; `checkpoint` goes into it as it is given.
    """
    if not episodes:
        raise UsageError("a bundle holds at least one episode.")
    chosen = with_logs(store, episodes)
    with new_file(target, force=force) as file:
        plain: frozenset[str] = frozenset()
        while True:
            with zipfile.ZipFile(file, "w") as archive:
                writing = _Writing(store, archive, plain, limits, period)
                for done, episode in enumerate(chosen, 1):
                    writing.episode(store.row(episode))
                    if progress is not None:
                        progress(done, len(chosen))
                writing.rest({} if checkpoint is None else members(checkpoint))
            infos = archive.infolist()
            if not too_dense(infos, limits):
                break
            # How well a member packs is known once it is packed: once more, the densest as they are. Ends at the
            # latest when all members are.
            plain |= {info.filename for info in infos if info.file_size * 2 > info.compress_size * limits.ratio}
            file.seek(0)
            file.truncate()
        _check(target, infos, limits)
        size = file.seek(0, os.SEEK_END)
        sha256 = _file_digest(file)
    return Packed(target, sha256, size, tuple(writing.entries))


def with_logs(store: EventStore, episodes: Iterable[str]) -> list[str]:
    """Return the episodes of a bundle: those that are named, and the logs that record what of them was erased."""
    named = set(episodes)
    return sorted(named | set(erasures.logs_of(store, named)))


def _check(target: Path, infos: list[zipfile.ZipInfo], limits: Limits) -> None:
    """Keep back what every reader would refuse."""
    try:
        checked(infos, limits)
    except Damage as error:
        raise StoreError(
            f"{target} was not written, for no reader would take it: {error} Pack fewer episodes into each bundle; "
            "`spectrace db copy` has no such limit."
        ) from error


@dataclass(slots=True)
class _Seen:
    """Times as the events tell them: the chain covers those, and not what an episode's row says."""

    first: int | None = None
    ended: int | None = None


@dataclass(slots=True)
class _Writing:
    """A bundle being written, and what its manifest will say."""

    store: EventStore
    archive: zipfile.ZipFile
    plain: frozenset[str]
    """The members to be stored as they are."""
    limits: Limits
    period: manifest.Period | None
    size: int = 0
    entries: list[manifest.Entry] = field(default_factory=list)
    members: dict[str, manifest.Member] = field(default_factory=dict)
    texts: set[str] = field(default_factory=set)
    types: set[tuple[str, int]] = field(default_factory=set)

    def episode(self, row: EpisodeRow) -> None:
        """Write the events that the row counts, checking the chain on the way."""
        seen = _Seen()
        self._member(f"{EPISODES}{row.episode}.jsonl", self._lines(row, seen))
        started_at = row.started_at if seen.first is None else seen.first
        self.entries.append(manifest.Entry(row.episode, row.events, row.head, row.state, started_at, seen.ended))

    def _lines(self, row: EpisodeRow, seen: "_Seen") -> Iterator[bytes]:
        for line, texts in outgoing(self.store, row):
            seen.first = line.row.at if seen.first is None else seen.first
            seen.ended = line.row.at if line.row.type == EpisodeEnded.TYPE else seen.ended
            self.types.add((line.row.type, line.row.version))
            self.texts.update(texts)
            yield line_of(line.row.stored(row.episode), line.proof) + b"\n"

    def rest(self, proof: Mapping[str, bytes]) -> None:
        """Write everything beside the episodes; the manifest last, for it holds the others' digests."""
        size = self._blobs()
        for name, data in proof.items():
            self._member(name, [data])
        self._member(DESCRIPTION, [_shipped("FORMAT.md")])
        self._member(BUNDLE_SCHEMA, [_shipped("bundle.v1.json")])
        known = set(schemas.versions())
        for type_, version in sorted(self.types & known):
            self._member(SCHEMAS + schemas.file_name(type_, version), [schemas.published(type_, version)])
        said = manifest.Manifest(__version__, tuple(self.entries), self.members, len(self.texts), size, self.period)
        self._write(manifest.NAME, [said.text()])

    def _blobs(self) -> int:
        size = 0
        for name in sorted(self.texts):
            data = whole_text(name, self.store.blob(name))
            self._write(BLOBS + name.removeprefix("sha256:"), [data])
            size += len(data)
        return size

    def _member(self, name: str, parts: Iterable[bytes]) -> None:
        self.members[name] = self._write(name, parts)

    def _write(self, name: str, parts: Iterable[bytes]) -> manifest.Member:
        info = zipfile.ZipInfo(name, _EPOCH)
        info.create_system, info.external_attr, info.compress_type = _UNIX, _FILE, zipfile.ZIP_DEFLATED
        if name in self.plain:
            info.compress_type = zipfile.ZIP_STORED
        hashed, size = hashlib.sha256(), 0
        # An episode's size is not known before it is written, and may pass 4 GB; a text has less than 1 GB.
        with self.archive.open(info, "w", force_zip64=not isinstance(parts, list)) as member:
            for part in parts:
                member.write(part)
                hashed.update(part)
                size += len(part)
                self._count(len(part))
        return manifest.Member(hashed.hexdigest(), size)

    def _count(self, more: int) -> None:
        """Stop as soon as it is too much, not when the disk is full."""
        self.size += more
        if self.size > self.limits.bytes:
            raise StoreError(
                f"these episodes take more than {self.limits.bytes:,} bytes, and no reader takes a larger bundle "
                "unasked: pack fewer into each; `spectrace db copy` has no such limit."
            )


def _shipped(name: str) -> bytes:
    found = next((place / name for place in _PLACES if (place / name).is_file()), None)
    if found is None:
        raise StoreError(f"schemas/{name} is missing: this installation is damaged; install it again.")
    return found.read_bytes()


def file_digest(path: Path) -> str:
    """Return a file's SHA-256 in hex."""
    with path.open("rb") as file:
        return _file_digest(file)


def _file_digest(file: IO[bytes] | BinaryIO) -> str:
    file.seek(0)
    return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]  # a BinaryIO of a real file
