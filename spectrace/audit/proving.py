"""Whether episodes are those that a signed checkpoint covers: each compared with its leaves. See `integrity`.

`valid` needs both: the chain, computed from the stored bytes, is whole, and it has the signed head after as many
events as the signed leaf says. What is newer than the checkpoint stays `consistent`. What the checkpoint knows and is
not there, or is otherwise, is `invalid` with its place.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path

from spectrace.audit import checkpoint_files
from spectrace.audit.checkpoint_files import Held
from spectrace.audit.integrity import CONSISTENT, INVALID, UNKNOWN, VerifyResult
from spectrace.audit.leaves import Leaf
from spectrace.audit.lines import counted
from spectrace.audit.signing import cosigned_by, signed_by
from spectrace.audit.standing_leaves import Stored, Tree
from spectrace.core.notes import BadNote, Checkpoint, Key
from spectrace.errors import UsageError

VALID = "valid"
FORCED = "forced"
"""The further line of a checkpoint that was signed over what did not verify."""

PROVED = (
    "Valid means: equal to what was signed with that key at that time, up to the event in `covered to`. It proves "
    "order and content, not that the recorder was told the truth; and whoever has the secret key can sign another "
    "history."
)
"""What the word proves and what not; said wherever people read it."""


@dataclass(frozen=True, slots=True)
class Unproved:
    """Nothing can be proved with this checkpoint, and why."""

    file: str
    detail: str

    @property
    def result(self) -> VerifyResult:
        """As an answer, under the file's name."""
        return VerifyResult(self.file, UNKNOWN, 0, None, None, self.detail)

    def of(self, results: Iterable[VerifyResult]) -> list[VerifyResult]:
        """Return the results of episodes: what is not invalid may be what was signed, or not."""
        detail = "intact by its own account; whether it is what was signed is unknown"
        return [replace(one, result=UNKNOWN, detail=detail) if one.result == CONSISTENT else one for one in results]


def trusted(path: Path, key: Key, cosigners: Sequence[Key] = (), origin: str | None = None) -> Held | Unproved:
    """Return a checkpoint of the log asked for that the key, and every cosigner, signed; else why it proves nothing."""
    try:
        held = checkpoint_files.read(path)
    except UsageError as error:
        return Unproved(path.name, str(error))
    except BadNote as error:
        return Unproved(path.name, f"this is no checkpoint that this spectrace can read: {error}")
    if not signed_by(held.note, key):
        return Unproved(path.name, _not_signed(held, key))
    missing = [one for one in cosigners if cosigned_by(held.note, one) is None]
    if missing:
        named = ", ".join(f"{one.name}+{one.cosigner.id.hex()}" for one in missing)
        return Unproved(path.name, f"it has no cosignature that holds by {named}")
    if origin not in {None, held.checkpoint.origin}:
        return Unproved(path.name, f"it is of another log: {held.checkpoint.origin}, and {origin} was asked for")
    return held


def forced(file: str, checkpoint: Checkpoint) -> list[VerifyResult]:
    """Return that a checkpoint was signed although not all of the log verified then; empty for one that was not."""
    said = checkpoint.extension(FORCED)
    if said is None:
        return []
    detail = (
        f"it was signed by force: {said} when it was made. Valid means as it was then, which is not that it was whole"
    )
    return [VerifyResult(file, UNKNOWN, 0, None, None, detail)]


def prove_leaves(
    results: Iterable[VerifyResult], tree: Tree, stored: Mapping[str, Stored], at: int | None = None
) -> Iterator[VerifyResult]:
    """Yield each result as the leaves prove it: valid, invalid, or as it was where no leaf is of that episode.

    `stored` says how the episodes lie there (see `standing_leaves`); `at` is when the checkpoint was made.
    """
    for result in results:
        leaves = tree.get(result.episode)
        if result.result != CONSISTENT:
            yield result
        elif leaves is None:
            yield replace(result, detail=f"{result.detail}; newer than the checkpoint, so nothing proves it")
        else:
            yield _compared(result, leaves, stored.get(result.episode), at)


def removed(tree: Tree, there: Iterable[str]) -> Iterator[VerifyResult]:
    """Yield an invalid result for each episode that the leaves have and that is not there."""
    names = set(there)
    for episode, leaves in tree.items():
        if episode not in names:
            detail = f"removed: the checkpoint has it with {leaves[-1].events} events, and it is not there any more"
            yield VerifyResult(episode, INVALID, 0, None, None, detail)


def _compared(result: VerifyResult, leaves: Sequence[Leaf], stored: Stored | None, at: int | None) -> VerifyResult:
    newest = leaves[-1]
    if stored is None:
        return replace(result, result=INVALID, detail="its row was altered while it was verified, or holds no numbers")
    if stored.events < newest.events:
        detail = f"its end is missing: the checkpoint has it with {newest.events} events, {stored.events} are there"
        return replace(result, result=INVALID, first_bad_seq=stored.events, detail=detail)
    whole = [leaf.events for leaf in leaves if stored.heads.get(leaf.events) == leaf.head]
    if len(whole) < len(leaves):
        good = max((count for count in whole if count < newest.events), default=0)
        first = next(leaf for leaf in leaves if stored.heads.get(leaf.events) != leaf.head)
        detail = (
            f"its chain is whole and not the one that was signed: after {first.events} events the link is "
            f"{stored.heads.get(first.events, '')[:16]}, signed was {first.head[:16]}; it was written anew"
        )
        return replace(result, result=INVALID, first_bad_seq=good, detail=detail)
    differing = [
        f"{name.name} {getattr(stored.leaf, name.name)!r:.40}, signed was {getattr(newest, name.name)!r:.40}"
        for name in fields(Leaf)
        if getattr(stored.leaf, name.name) != getattr(newest, name.name)
    ]
    if differing:
        return replace(result, result=INVALID, detail=f"its row says {'; '.join(differing)}: somebody altered it")
    when = "" if at is None else f" at {_time(at)}"
    newer = stored.events - newest.events
    more = f"; newer than the checkpoint: {counted(newer, 'event')}" if newer else ""
    detail = f"{result.detail}; as it was signed{when}{more}"
    return replace(result, result=VALID, covered_to=newest.events - 1, detail=detail)


def _not_signed(held: Held, key: Key) -> str:
    signers = ", ".join(f"{one.name}+{one.key_id.hex()}" for one in held.note.signatures)
    if key.among(held.note.signatures):
        return f"the signature of {key.name}+{key.id.hex()} does not hold: the note was altered, or made by another"
    return f"it is not signed by {key.name}+{key.id.hex()}; its signature lines say {signers}"


def _time(at: int) -> str:
    return datetime.fromtimestamp(at / 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
