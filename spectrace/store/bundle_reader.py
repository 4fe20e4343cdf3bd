"""A bundle as somebody else may have made it: read without trusting it. Counterpart of `bundle`, which writes them.

Nothing is extracted: members are read as streams, under limits, and only those whose names a bundle has. A `Bundle`
answers what `verify` asks of a store, so that an episode in a bundle is verified as one in a database is.
"""

import hashlib
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from spectrace.core.admin_events import is_admin
from spectrace.errors import EpisodeNotFound, StoreError, UsageError
from spectrace.store import bundle_checkpoint, manifest
from spectrace.store.bundle import file_digest
from spectrace.store.event_store import EpisodeRow, Link, StoredEvent
from spectrace.store.lines import MAX_LINE_BYTES, Line, parse_line
from spectrace.store.rows import Damage
from spectrace.store.zip_members import BLOBS, EPISODES, LIMITS, ZIP, Limits, checked, first_name, is_ours

_MALFORMED = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    OverflowError,
    LookupError,
)
"""What `zipfile` raises for a file that is not what its own directory says (found by damaging one at random)."""
_DATABASE = b"SQLite format 3\0"
_MAX_AT_ONCE = 256 << 20
"""Of the manifest, and of each member of a checkpoint: a million leaves."""
_CHUNK = 1 << 20
_SHOWN = 5
_BATCH = 500


class DamagedBundle(StoreError):
    """What once was a bundle cannot be read as one; a file that never was one is a plain StoreError."""


def is_zip(path: Path) -> bool:
    """Whether the file begins or ends as a zip does: it may be a bundle, or what somebody made of one."""
    try:
        if not path.is_file():  # to open a pipe waits for who writes it, and a device has no end
            return False
        with path.open("rb") as file:
            start = file.read(len(_DATABASE))
            # A log may hold a zip that a tool printed, in its last page too.
            return start.startswith(ZIP) or (start != _DATABASE and zipfile.is_zipfile(file))
    except OSError:
        return False


class Bundle:
    """An open bundle."""

    def __init__(self, path: Path, limits: Limits = LIMITS) -> None:
        """Open the file; raise StoreError for what is no bundle, DamagedBundle for one that is not safe to read.

        That the members are those of the manifest, and what it says, is for `check_members`.
        """
        self.path = path
        try:
            if path.exists() and not path.is_file() and not path.is_dir():
                raise StoreError(f"{path} is no file: a bundle was expected.")
            self._file = path.open("rb")
        except FileNotFoundError:
            raise UsageError(f"there is no file {path}.") from None
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
        try:
            self._archive = zipfile.ZipFile(self._file)
            infos = self._archive.infolist()
            self._infos = checked(infos, limits)
            self._check_start(infos)
            self.manifest = manifest.parse_manifest(self._manifest())
        except Damage as error:
            with self._file:
                kind = DamagedBundle if any(is_ours(info.orig_filename) for info in infos) else StoreError
                raise kind(f"{path}: {error}") from error
        except _MALFORMED as error:
            with self._file:
                if is_ours(first_name(self._file)):
                    raise DamagedBundle(f"{path} is what is left of a bundle: it was cut short or damaged.") from error
            raise StoreError(f"{path} is no bundle: it is no zip. `spectrace pack` writes them.") from None
        except BaseException:
            self._file.close()
            raise
        self._entries = {one.episode: one for one in self.manifest.episodes}

    def __enter__(self) -> Self:
        """Use in a `with` block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._archive.close()
        self._file.close()

    @property
    def episodes(self) -> tuple[manifest.Entry, ...]:
        """What the manifest says of its episodes."""
        return self.manifest.episodes

    def sha256(self) -> str:
        """Return the digest of the whole file."""
        return file_digest(self.path)

    def lines(self, episode: str) -> Iterator[Line]:
        """Yield an episode's events; raise Damage naming the line that cannot be read."""
        name = f"{EPISODES}{self._entry(episode).episode}.jsonl"
        with self._open(name) as member:
            number = 0
            while line := member.readline(MAX_LINE_BYTES + 1):
                number += 1
                try:
                    if not line.endswith(b"\n"):
                        raise Damage("the line is cut off, or too long")  # noqa: TRY301 - worded below with the others
                    yield parse_line(line[:-1])
                except Damage as error:
                    raise Damage(f"{name}, line {number}: {error}") from None

    def blobs(self, digests: set[str]) -> Mapping[str, bytes]:
        """Return the bytes of those texts that are there; they are not checked against their digests."""
        found = {}
        for digest in digests:
            if self.has_text(digest):
                with self._open(BLOBS + digest.removeprefix("sha256:")) as member:
                    found[digest] = member.read()
        return found

    def checkpoint(self) -> bundle_checkpoint.BundleCheckpoint | None:
        """Return the checkpoint that came along, if one did; raise Damage for what cannot be one."""
        return bundle_checkpoint.read(self._whole)

    def _whole(self, name: str) -> bytes | None:
        """Return a member that is read at once; None where there is none."""
        info = self._infos.get(name)
        if info is None:
            return None
        if info.file_size > _MAX_AT_ONCE:
            raise Damage(f"{name} has {info.file_size:,} bytes; {_MAX_AT_ONCE:,} are the most that is read at once.")
        with self._open(name) as member:
            return member.read()

    def has_text(self, digest: str) -> bool:
        """Whether the text of that digest is there."""
        return BLOBS + digest.removeprefix("sha256:") in self._infos

    def check_members(self) -> None:
        """Compare the members with the manifest, and what each holds; raise Damage for the first that differs."""
        self._check_names()
        for name, info in self._infos.items():
            if name == manifest.NAME:
                continue
            said = self.manifest.members.get(name)
            expected = name.removeprefix(BLOBS) if said is None else said.sha256
            hashed = hashlib.sha256()
            with self._open(name) as member:
                while chunk := member.read(_CHUNK):
                    hashed.update(chunk)
            if hashed.hexdigest() != expected or (said is not None and info.file_size != said.bytes):
                raise Damage(f"{name} has the SHA-256 {hashed.hexdigest()[:16]}, {expected[:16]} was expected.")

    # What `audit.integrity` asks of a store.

    def row(self, episode: str) -> EpisodeRow:
        """Return what the manifest says of an episode; one packed while it was written is an interrupted one here."""
        one = self._entry(episode)
        state = "ended" if one.state == "ended" else "interrupted"
        return EpisodeRow(episode, state, one.started_at, one.ended_at, one.events, one.head, "", 0)

    def stored(self, episode: str, start: int = 0) -> Iterator[StoredEvent]:
        """Yield an episode's events as their bytes."""
        for line in islice(self.lines(episode), start, None):
            yield line.row.stored(line.episode)

    def links(self, episode: str) -> Iterator[list[Link]]:
        """Yield an episode's events as the chain covers them, a batch at a time; those before any damage too."""
        batch: list[Link] = []
        try:
            for line in self.lines(episode):
                batch.append(_link(line))
                if len(batch) == _BATCH:
                    yield batch
                    batch = []
        except Damage:
            yield batch
            raise
        yield batch

    def blob(self, digest: str) -> bytes | None:
        """Return the bytes of a text by its digest, or None where it is missing."""
        return self.blobs({digest}).get(digest)

    def proofs(self, episode: str) -> Mapping[int, bytes]:
        """Return SHA-256(salt || body) of each erased event of an episode."""
        return {line.row.seq: line.proof for line in self.lines(episode) if line.proof is not None}

    def administrative(self) -> Sequence[str]:
        """Return the ids of the administrative logs that came along."""
        return [one.episode for one in self.manifest.episodes if is_admin(one.episode)]

    def _entry(self, episode: str) -> manifest.Entry:
        if episode not in self._entries:
            raise EpisodeNotFound(f"no episode {episode[:80]!r} in {self.path}.")
        return self._entries[episode]

    def _check_start(self, infos: Sequence[zipfile.ZipInfo]) -> None:
        """Refuse what stands before the first member: a zip reader passes it over, somebody else may run it."""
        before = min((info.header_offset for info in infos), default=0)
        self._file.seek(0)
        if before or self._file.read(len(ZIP)) != ZIP:
            raise Damage(f"{before:,} bytes stand before its first member; a bundle begins with one.")

    def _manifest(self) -> bytes:
        data = self._whole(manifest.NAME)
        if data is None:
            raise Damage(f"it has no {manifest.NAME}, which says what a bundle holds.")
        return data

    def _check_names(self) -> None:
        """Compare the members with the manifest: nothing missing, nothing besides."""
        blobs = {name for name in self._infos if name.startswith(BLOBS)}
        there = set(self._infos) - blobs - {manifest.NAME}
        said = set(self.manifest.members)
        if there != said:
            differing = (("missing", said - there), ("not in the manifest", there - said))
            parts = [f"{what}: {', '.join(sorted(names)[:_SHOWN])}" for what, names in differing if names]
            raise Damage(f"its members are not those of the manifest ({'; '.join(parts)}).")
        size = sum(self._infos[name].file_size for name in blobs)
        if (len(blobs), size) != (self.manifest.blobs, self.manifest.blob_bytes):
            raise Damage(
                f"the manifest counts {self.manifest.blobs} blobs of {self.manifest.blob_bytes:,} bytes, the file "
                f"holds {len(blobs)} of {size:,}."
            )
        names = [one.episode for one in self.manifest.episodes]
        if len(set(names)) != len(names) or {f"{EPISODES}{name}.jsonl" for name in names} != {
            name for name in there if name.startswith(EPISODES)
        }:
            raise Damage("the manifest's list of episodes is not that of the members under episodes/.")

    @contextmanager
    def _open(self, name: str) -> Iterator[IO[bytes]]:
        """Lend a member's stream; what the zip format itself finds wrong with it is damage."""
        if name not in self._infos:
            raise Damage(f"{name} is missing from the bundle.")
        try:
            with self._archive.open(self._infos[name]) as member:
                yield member
        except _MALFORMED as error:
            raise Damage(f"{name} cannot be unpacked: {error}. The file was altered or damaged.") from error


def _link(line: Line) -> Link:
    row = line.row
    return row.seq, row.type, row.header(line.episode), row.body, row.salt, row.link
