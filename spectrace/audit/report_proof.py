"""How far a report's episodes are proved: each verified as `spectrace verify` does it, and what the checkpoint says.

Of the checkpoint a page gives all that is needed to check it again with other tools: its exact text, who signed it, the
key that was trusted, and the leaves that its root is of.
"""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spectrace.audit.answers import Filters
from spectrace.audit.checkpoint_files import Held
from spectrace.audit.integrity import VerifyResult
from spectrace.audit.proved_log import Proof
from spectrace.audit.proving import Unproved, forced
from spectrace.audit.queries import Reader
from spectrace.audit.signing import cosigned_by, signed_by
from spectrace.audit.verifying import Told, verify_all
from spectrace.core.notes import Key
from spectrace.errors import UsageError
from spectrace.store.sql import SqlEventStore


@dataclass(frozen=True, slots=True)
class Trust:
    """The checkpoint that a report is held against, and the key that is trusted to have signed it."""

    path: Path
    key: Key
    cosigners: tuple[Key, ...]
    held: Held | Unproved


@dataclass(frozen=True, slots=True)
class SignatureLine:
    """A signature of the checkpoint: name and id as it stands there, and whether it is a trusted key's and holds."""

    name: str
    key_id: str
    trusted: bool


@dataclass(frozen=True, slots=True)
class Witness:
    """A checkpoint as a page shows it; without `note` it proves nothing, and `problem` says why."""

    file: str
    key: str
    problem: str | None
    note: str = ""
    origin: str = ""
    size: int = 0
    root: str = ""
    """In base64, as the note has it."""
    at: int | None = None
    signatures: tuple[SignatureLine, ...] = ()
    leaves: tuple[bytes, ...] = ()
    """Those that lie beside the checkpoint and have its root."""
    without_leaves: str | None = None
    """Why there are none."""


def verify(  # noqa: PLR0913 - what is verified, and by what
    reader: Reader,
    episodes: Sequence[str],
    trust: Trust | None,
    url: str | None,
    told: Told,
    chosen_by: Filters | None = None,
) -> list[VerifyResult]:
    """Verify episodes and administrative logs; with a `url` the log as a whole, as `verify --all` does.

    With the filters that they were chosen by, what the checkpoint has of those and is gone is among the results.
    """
    held = None if trust is None else trust.held
    if isinstance(held, Held):
        if not isinstance(reader.store, SqlEventStore):
            raise UsageError("a checkpoint is compared with a database; this log lies in memory.")
        proof = Proof(reader.store, held)
        names = proof.names() if url is not None else episodes
        results = list(verify_all(reader.store, names, None, told))
        gone = [] if chosen_by is None else proof.unlisted(names, chosen_by)
        found = [*proof.episodes(results), *gone] if url is None else proof.whole(results, url, None, told)
        return [*found, *forced(held.path.name, held.checkpoint)]
    results = list(verify_all(reader.store, episodes, None, told))
    return results if held is None else [*held.of(results), held.result]


def witness(trust: Trust) -> Witness:
    """Return what a page shows of the checkpoint."""
    held, key = trust.held, str(trust.key)
    if isinstance(held, Unproved):
        return Witness(held.file, key, held.detail)
    note, said = held.note, held.checkpoint
    keys = [trust.key] if signed_by(note, trust.key) else []
    holding = {(one.name, one.id) for one in keys}
    holding |= {(one.name, one.cosigner.id) for one in trust.cosigners if cosigned_by(note, one) is not None}
    lines = (SignatureLine(one.name, one.key_id.hex(), (one.name, one.key_id) in holding) for one in note.signatures)
    return Witness(
        file=held.path.name,
        key=key,
        problem=None,
        note=str(note),
        origin=said.origin,
        size=said.size,
        root=base64.b64encode(said.root).decode(),
        at=said.at,
        signatures=tuple(lines),
        leaves=held.leaves or (),
        without_leaves=held.problem,
    )
