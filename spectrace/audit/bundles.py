"""Whether a bundle is intact by its own account, as it lies: nothing is stored for it. Counterpart of `integrity`."""

from dataclasses import dataclass
from pathlib import Path

from spectrace.audit.integrity import INVALID, UNKNOWN, Verifier, VerifyResult
from spectrace.errors import NewerSchema
from spectrace.store.bundle import file_digest
from spectrace.store.bundle_reader import Bundle
from spectrace.store.rows import Damage


@dataclass(frozen=True, slots=True)
class VerifiedBundle:
    """A bundle's episodes, and the digest of the file that was read."""

    sha256: str
    results: tuple[VerifyResult, ...]
    """One for each episode; one with the file's name where another member is not what the manifest says, and for a
    bundle of a newer format, of which nothing can be known."""


def verify_bundle(path: Path) -> VerifiedBundle:
    """Check every episode and member; raise StoreError for a file that is no bundle, or not safe to read."""
    try:
        bundle = Bundle(path)
    except NewerSchema as error:
        return VerifiedBundle(file_digest(path), (VerifyResult(path.name, UNKNOWN, 0, None, None, str(error)),))
    with bundle:
        verifier = Verifier(bundle)
        results = [verifier.verify(one.episode) for one in bundle.episodes]
        try:
            bundle.check_members()
        except Damage as error:
            results.append(VerifyResult(path.name, INVALID, 0, None, None, str(error)))
        return VerifiedBundle(bundle.sha256(), tuple(results))
