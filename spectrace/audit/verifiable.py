"""What `integrity` asks of a store, or of a bundle: the port that a verification reads through."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from spectrace.store.event_store import EpisodeRow, Link


class Verifiable(Protocol):
    """See `event_store.EventStore`, whose words these are."""

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

    def proofs(self, episode: str) -> Mapping[int, bytes]:
        """Return SHA-256(salt || body) of each erased event of an episode."""
        ...

    def administrative(self) -> Sequence[str]:
        """Return the ids of the administrative logs that lie there, the oldest first."""
        ...
