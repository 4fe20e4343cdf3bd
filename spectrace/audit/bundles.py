"""Whether a bundle is intact by its own account, or valid by a checkpoint, as it lies: nothing is stored for it.

Counterpart of `integrity`; what the checkpoint says is `bundle_proofs`'.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import orjson

from spectrace.audit.bundle_proofs import Carried, Covered, Unproved, carried, covered
from spectrace.audit.bundle_scope import scope
from spectrace.audit.checkpoint_files import Held
from spectrace.audit.integrity import CONSISTENT, INVALID, UNKNOWN, Verifier, VerifyResult
from spectrace.audit.leaves import Leaf
from spectrace.audit.proving import VALID, forced
from spectrace.audit.signing import signed_by
from spectrace.core.events import ActRequested, EpisodeEnded, EpisodeStarted
from spectrace.core.notes import Key
from spectrace.errors import NewerSchema
from spectrace.store.bundle import file_digest
from spectrace.store.bundle_reader import Bundle, DamagedBundle
from spectrace.store.event_store import EpisodeRow, Link
from spectrace.store.leaf_rows import ADMINISTRATIVE, OPEN
from spectrace.store.manifest import Entry, Period
from spectrace.store.projections import storable
from spectrace.store.rows import Damage
from spectrace.store.zip_members import Limits

_LIMITS = Limits(bytes=sys.maxsize)
"""Nothing is written, so how much it would unpack to is no matter; a zip bomb is one all the same."""
_AT, _EFFECT, _OUTCOME = 5, 6, 8
"""Where a header has them."""


@dataclass(frozen=True, slots=True)
class VerifiedBundle:
    """A bundle's episodes, and the digest of the file that was read."""

    sha256: str
    results: tuple[VerifyResult, ...]
    """One for each episode; one with the file's name where another member is not what the manifest says, for what is
    too damaged to be read as a bundle, and for one of a newer format, of which nothing can be known."""
    scope: VerifyResult | None = None
    """What it is the whole of, by a checkpoint: under the file's name, whatever the period."""


@dataclass(frozen=True, slots=True)
class Trust:
    """What the verifier has from elsewhere: a key; perhaps a checkpoint, and which period the bundle is to hold."""

    key: Key
    held: Held | None = None
    period: Period | None = None
    """None: the one that the bundle claims to hold, if it does."""


def verify_bundle(path: Path, trust: Trust | None = None) -> VerifiedBundle:
    """Check every episode and member; raise StoreError for a file that is no bundle.

    With `trust` an episode that equals its signed leaf is valid, and one of the period that is not there is an item of
    its own. Where nothing is known, since the key did not sign, what else would be consistent is unknown.
    """
    try:
        bundle = Bundle(path, _LIMITS)
    except NewerSchema as error:
        return VerifiedBundle(file_digest(path), (_of_file(path, UNKNOWN, error),))
    except DamagedBundle as error:
        return VerifiedBundle(file_digest(path), (_of_file(path, INVALID, error),))
    with bundle:
        of_the_file: list[VerifyResult] = []
        try:
            bundle.check_members()
            own = _carried(bundle)
        except Damage as error:
            own = None
            of_the_file.append(_of_file(path, INVALID, error))
        signed, unproved = None, "the checkpoint in it is damaged"
        if trust is not None and not of_the_file:
            try:
                signed = covered(own, trust.held, trust.key)
            except Damage as error:
                of_the_file.append(_of_file(path, INVALID, error))
            except Unproved as error:
                unproved = str(error)
        noted = _Noted(bundle, {} if signed is None else _to_compare(bundle, signed))
        verifier = Verifier(noted)
        results = [_compared(verifier.verify(entry.episode), entry, noted) for entry in bundle.episodes]
        if trust is not None:
            results = [_proved(one, signed, noted, unproved) for one in results]
        if trust is None or signed is None:
            return VerifiedBundle(bundle.sha256(), (*results, *of_the_file))
        there = {one.episode for one in bundle.episodes}
        of = scope(path.name, signed, there, bundle.manifest.period, trust.period)
        if own is not None and signed_by(own.note, trust.key):
            of_the_file += forced(path.name, own.checkpoint)
        return VerifiedBundle(bundle.sha256(), (*results, *of.missing, *of_the_file), of.summary)


def _to_compare(bundle: Bundle, signed: Covered) -> dict[str, Leaf]:
    """Return the newest leaf of each episode that what the bundle has of it reaches."""
    reached = ((one.episode, signed.reached(one.episode, one.events)) for one in bundle.episodes)
    return {name: leaf for name, leaf in reached if leaf is not None}


def _carried(bundle: Bundle) -> Carried | None:
    held = bundle.checkpoint()
    return None if held is None else carried(held)


def _of_file(path: Path, result: str, error: Exception) -> VerifyResult:
    return VerifyResult(path.name, result, 0, None, None, str(error))


def _compared(result: VerifyResult, entry: Entry, noted: "_Noted") -> VerifyResult:
    """Compare the times, too, that the manifest tells: the chain covers those of the events."""
    if result.result != CONSISTENT:
        return result
    said = entry.differences(result.events, entry.head, *noted.times[entry.episode])
    return result if said is None else replace(result, result=INVALID, first_bad_seq=result.events - 1, detail=said)


def _proved(result: VerifyResult, signed: Covered | None, noted: "_Noted", unproved: str) -> VerifyResult:
    """Say of an episode that is consistent what the checkpoint says of it."""
    if result.result != CONSISTENT:
        return result
    if signed is None:
        return replace(result, result=UNKNOWN, detail=f"whether it is what was signed is unknown: {unproved}")
    leaves, leaf = signed.leaves.get(result.episode), noted.leaves.get(result.episode)
    if not leaves:
        return replace(result, detail=f"{result.detail}; newer than the checkpoint, which does not have it")
    newest, least = leaves[-1].events, signed.least.get(result.episode)
    if least is not None and result.events < least.events and (signed.dated or leaf is None):
        said = f"it has {result.events} events, and {least.events} when the checkpoint was signed: its end was cut off"
        return replace(result, result=INVALID, first_bad_seq=result.events, detail=said)
    if leaf is None:
        said = f"{result.detail}; newer than its own checkpoint; a later one has it with {newest} events"
        return replace(result, detail=said)
    last, differences = leaf.events - 1, noted.parts[result.episode].differences(leaf)
    if differences:
        return replace(result, result=INVALID, first_bad_seq=last, detail=f"not what was signed: {differences}")
    after = "" if result.events == leaf.events else f"; what is signed of this is its events up to {last}"
    if least is not None and result.events < least.events:
        said = (
            f"as it was signed with {leaf.events} events{after}; since then {newest} were signed: it was packed before "
            "that, or cut, and no checkpoint that the key signed says when the bundle was made"
        )
        return replace(result, result=UNKNOWN, covered_to=last, detail=said)
    after += f"; it has gone on since: a later checkpoint has {newest} events of it" if newest > result.events else ""
    return replace(result, result=VALID, covered_to=last, detail=f"{result.detail}{after}")


@dataclass(slots=True)
class _Part:
    """What an episode's events tell up to the one that its leaf ends with."""

    events: int
    """As many as the leaf has."""
    started_at: int | None = None
    ended_at: int | None = None
    status: str = OPEN
    writes: int = 0
    head: str = ""
    project: str | None = None
    """None where it cannot be told: erased, or too long to stand in the body."""

    def add(self, link: Link) -> None:
        """Take the next event, if it is one of them."""
        seq, type_, header, body, _, stored = link
        if seq >= self.events:
            return
        told = orjson.loads(header)
        if seq == 0:
            self.started_at, self.project = told[_AT], _project(body)
            self.status = OPEN if type_ == EpisodeStarted.TYPE else ADMINISTRATIVE
        if type_ == EpisodeEnded.TYPE:
            self.ended_at, self.status = told[_AT], str(told[_OUTCOME])
        self.writes += type_ == ActRequested.TYPE and told[_EFFECT] == "write"
        self.head = stored.hex()

    def differences(self, leaf: Leaf) -> str:
        """Say what the leaf tells otherwise."""
        told: list[tuple[str, object, object]] = [
            ("head", leaf.head, self.head),
            ("status", leaf.status, self.status),
            ("started_at", leaf.started_at, self.started_at),
            ("ended_at", leaf.ended_at, self.ended_at),
            ("writes", leaf.writes, self.writes),
        ]
        told += [] if self.project is None else [("project", leaf.project, self.project)]
        return "; ".join(f"{name} was {said!r:.40}, is {found!r:.40}" for name, said, found in told if said != found)


def _project(body: bytes | None) -> str | None:
    try:
        value = orjson.loads(body or b"null")
    except orjson.JSONDecodeError:
        return None
    project = value.get("project") if isinstance(value, dict) else None
    return storable(project) if isinstance(project, str) else None


@dataclass(slots=True)
class _Noted:
    """A bundle as the verifier reads it, noting what the events of each episode tell."""

    bundle: Bundle
    leaves: Mapping[str, Leaf]
    times: dict[str, tuple[int | None, int | None]] = field(default_factory=dict, init=False)
    """When it started and ended."""
    parts: dict[str, _Part] = field(default_factory=dict, init=False)

    def row(self, episode: str) -> EpisodeRow:
        return self.bundle.row(episode)

    def links(self, episode: str) -> Iterator[list[Link]]:
        started_at = ended_at = None
        leaf = self.leaves.get(episode)
        part = self.parts[episode] = _Part(0 if leaf is None else leaf.events)
        for batch in self.bundle.links(episode):
            for seq, type_, header, *_ in batch:
                if seq == 0:
                    started_at = orjson.loads(header)[_AT]
                if type_ == EpisodeEnded.TYPE:
                    ended_at = orjson.loads(header)[_AT]
            for link in batch if leaf is not None else ():
                part.add(link)
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
