"""A second pair of eyes: a checkpoint cosigned on another's machine, which has no database and needs none.

Cosigning says that this checkpoint is of the same history as every one that was cosigned before it. So the cosigner
keeps the last one of each log beside the key; a log that shows different people different pasts has to get past it.
That a new one goes on from the last is seen from FILE.leaves or from a consistency proof.

The origin is what the signer writes, so a second one under a key that signed another log before is a second history
until the cosigner says that this log is meant, by its name.
"""

import hashlib
import time
from dataclasses import dataclass
from pathlib import Path

from spectrace.audit import checkpoint_files
from spectrace.audit.checkpoint_files import Held
from spectrace.audit.leaves import hashes
from spectrace.audit.proofs import Consistency, read_proof
from spectrace.audit.proving import FORCED
from spectrace.audit.signing import Signed, cosigned_by, read_signer, signed_by
from spectrace.core import merkle
from spectrace.core.notes import BadNote, Key, Note, parse_checkpoint
from spectrace.errors import UsageError


@dataclass(frozen=True, slots=True)
class Cosigned:
    """A checkpoint that was cosigned, and the size of the one before; None for the first."""

    held: Held
    by: Key
    time_s: int
    before: int | None


@dataclass(frozen=True, slots=True)
class Fork:
    """The log shows another past than the one that was cosigned, or does not show that it is the same and whole."""

    detail: str


def cosign(  # noqa: PLR0913 - who signs, whose log, and what shows that it is the same one
    path: Path,
    secret: Path,
    log_key: Key,
    *,
    after: Path | None = None,
    proof: Path | None = None,
    origin: str | None = None,
    force: bool = False,
) -> Cosigned | Fork:
    """Cosign a checkpoint file in place, if it goes on from the last one of its log; `after` names that one as well.

    `origin` is the log that is meant: without it, the one that this key has signed so far. `force`: although the note
    says that not all of the log verified when it was signed.
    """
    signer = read_signer(secret)
    held = _read(path)
    if not signed_by(held.note, log_key):
        raise UsageError(f"{path} is not signed by {log_key.name}+{log_key.id.hex()}: nothing was cosigned.")
    forced = held.checkpoint.extension(FORCED)
    if forced is not None and not force:
        return Fork(f"it was signed by force, with {forced}: --force, if you know what that was")
    foreign = _another_log(held, secret, log_key, origin)
    if foreign is not None:
        return Fork(foreign)
    kept = state_file(secret, held.checkpoint.origin)
    before = [_read(one) for one in (kept, after) if one is not None and one.exists()]
    if after is not None and not after.exists():
        raise UsageError(f"{after} is not there: --after names the last checkpoint that was cosigned.")
    for one in before:
        why = _differs(one, held, proof)
        if why is not None:
            return Fork(why)
    at = int(time.time())
    note = signer.cosign(held.note, at)
    # The state first: a cosignature that nobody remembers could be given to two pasts.
    kept.parent.mkdir(mode=0o700, exist_ok=True)
    checkpoint_files.write_note(kept, note)
    checkpoint_files.write_note(path, note)
    last = max((one.checkpoint.size for one in before), default=None)
    return Cosigned(_read(path), signer.key.cosigner, at, last)


def state_file(secret: Path, origin: str) -> Path:
    """Return where the last checkpoint of a log is kept that a key cosigned."""
    name = hashlib.sha256(origin.encode()).hexdigest()[:16]
    return secret.with_name(f"{secret.name}.cosigned") / name


def _another_log(held: Held, secret: Path, log_key: Key, wanted: str | None) -> str | None:
    """Say why a checkpoint is not of the log that is meant; None where it is."""
    found = held.checkpoint.origin
    if wanted is not None:
        return None if wanted == found else f"it is of another log: {found}, and {wanted} was asked for"
    own = state_file(secret, found)
    if own.exists():
        return None
    known = [_read(one) for one in own.parent.iterdir()] if own.parent.is_dir() else []
    others = sorted({one.checkpoint.origin for one in known if signed_by(one.note, log_key)})
    if not others:
        return None
    return (
        f"it is of another log: {found}, and {log_key.name}+{log_key.id.hex()} signed {', '.join(others)} when you "
        f"cosigned it; one key with two logs may show two pasts. If you know this log too: --origin {found}"
    )


def cosignatures(note: Note, keys: list[Key]) -> list[Signed]:
    """Return the cosignatures of those keys that hold."""
    return [found for key in keys if (found := cosigned_by(note, key)) is not None]


def _differs(before: Held, new: Held, proof: Path | None) -> str | None:
    """Say why a checkpoint does not go on from an earlier one; None where it does."""
    old, now = before.checkpoint, new.checkpoint
    if old.origin != now.origin:
        return f"it is of another log: {now.origin}, and {before.path.name} is of {old.origin}"
    sizes = f"{old.size} leaves, root {old.root.hex()}; it now has {now.size} leaves, root {now.root.hex()}"
    if now.size < old.size:
        return f"the log was rolled back: {before.path.name} was cosigned with {sizes}"
    if new.leaves is not None:
        found = merkle.root(hashes(new.leaves[: old.size]))
        if found == old.root:
            return None
        return f"a fork: cosigned was {sizes}, whose first {old.size} leaves have the root {found.hex()}"
    if old.size == now.size:
        return None if old.root == now.root else f"a fork: cosigned was {sizes}"
    if proof is None:
        return f"nothing shows that it goes on from {sizes}: {new.problem}; give a consistency proof with --proof F"
    path = read_proof(proof)
    if not isinstance(path, Consistency) or path.size != old.size:
        return f"{proof.name} is no consistency proof from {old.size} leaves"
    if merkle.verify_consistency(old.size, now.size, path.hashes, old.root, now.root):
        return None
    return f"a fork: the proof {proof.name} does not lead from {sizes}"


def _read(path: Path) -> Held:
    try:
        held = checkpoint_files.read(path)
        parse_checkpoint(held.note.text)
    except BadNote as error:
        raise UsageError(f"{path} is no checkpoint: {error}.") from None
    return held
