"""Whether a bundle is intact by its own account, as it lies: nothing is stored for it. Counterpart of `integrity`."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import orjson

from spectrace.audit.integrity import CONSISTENT, INVALID, UNKNOWN, Verifier, VerifyResult
from spectrace.core.events import EpisodeEnded
from spectrace.errors import NewerSchema
from spectrace.store.bundle import file_digest
from spectrace.store.bundle_reader import Bundle, DamagedBundle
from spectrace.store.event_store import EpisodeRow, Link
from spectrace.store.manifest import Entry
from spectrace.store.rows import Damage
from spectrace.store.zip_members import Limits

_LIMITS = Limits(bytes=sys.maxsize)
"""Nothing is written, so how much it would unpack to is no matter; a zip bomb is one all the same."""
_AT = 5
"""Where a header has its time."""


@dataclass(frozen=True, slots=True)
class VerifiedBundle:
    """A bundle's episodes, and the digest of the file that was read."""

    sha256: str
    results: tuple[VerifyResult, ...]
    """One for each episode; one with the file's name where another member is not what the manifest says, for what is
    too damaged to be read as a bundle, and for one of a newer format, of which nothing can be known."""


def verify_bundle(path: Path) -> VerifiedBundle:
    """Check every episode and member; raise StoreError for a file that is no bundle."""
    try:
        bundle = Bundle(path, _LIMITS)
    except NewerSchema as error:
        return VerifiedBundle(file_digest(path), (_of_file(path, UNKNOWN, error),))
    except DamagedBundle as error:
        return VerifiedBundle(file_digest(path), (_of_file(path, INVALID, error),))
    with bundle:
        noted = _Noted(bundle)
        verifier = Verifier(noted)
        results = [_compared(verifier.verify(entry.episode), entry, noted) for entry in bundle.episodes]
        try:
            bundle.check_members()
            bundle.checkpoint()
        except Damage as error:
            results.append(_of_file(path, INVALID, error))
        return VerifiedBundle(bundle.sha256(), tuple(results))


def _of_file(path: Path, result: str, error: Exception) -> VerifyResult:
    return VerifyResult(path.name, result, 0, None, None, str(error))


def _compared(result: VerifyResult, entry: Entry, noted: "_Noted") -> VerifyResult:
    """Compare the times, too, that the manifest tells: the chain covers those of the events."""
    if result.result != CONSISTENT:
        return result
    said = entry.differences(result.events, entry.head, *noted.times[entry.episode])
    return result if said is None else replace(result, result=INVALID, first_bad_seq=result.events - 1, detail=said)


@dataclass(slots=True)
class _Noted:
    """A bundle as the verifier reads it, noting when each episode started and ended by its events."""

    bundle: Bundle
    times: dict[str, tuple[int | None, int | None]] = field(default_factory=dict, init=False)

    def row(self, episode: str) -> EpisodeRow:
        return self.bundle.row(episode)

    def links(self, episode: str) -> Iterator[list[Link]]:
        started_at = ended_at = None
        for batch in self.bundle.links(episode):
            for seq, type_, header, *_ in batch:
                if seq == 0:
                    started_at = orjson.loads(header)[_AT]
                if type_ == EpisodeEnded.TYPE:
                    ended_at = orjson.loads(header)[_AT]
            self.times[episode] = started_at, ended_at
            yield batch

    def blobs(self, digests: set[str]) -> Mapping[str, bytes]:
        return self.bundle.blobs(digests)

    def blob(self, digest: str) -> bytes | None:
        return self.bundle.blob(digest)

    def proofs(self, episode: str) -> Mapping[int, bytes]:
        return self.bundle.proofs(episode)

    def administrative(self) -> Sequence[str]:
        return self.bundle.administrative()
