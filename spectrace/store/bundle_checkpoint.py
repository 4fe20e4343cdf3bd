"""The checkpoint that travels in a bundle: the signed note, every leaf of its tree, and a proof for each episode.

    checkpoints/checkpoint.json     {"note": "<the signed note, its exact text>"}
    checkpoints/leaves.json         ["<leaf 0, its exact text>", ...]
    checkpoints/proofs.json         {"<episode>": {"index": n, "hashes": ["<base64>", ...]}}

All leaves, not only those of the episodes packed: so a holder sees which others there were. The three bind each other
by hashes and the note by its signature, so nothing here is believed: `audit.bundles` compares. `audit.packing` makes
it, `bundle` writes it, `bundle_reader` reads it. The names are those that readers of the first bundles let pass.
"""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import orjson

from spectrace.core.digest import canonical
from spectrace.store.names import is_episode_id
from spectrace.store.rows import Damage

NOTE, LEAVES, PROOFS = "checkpoints/checkpoint.json", "checkpoints/leaves.json", "checkpoints/proofs.json"
MEMBERS = (NOTE, LEAVES, PROOFS)

_MAX_NOTE = 1 << 16
"""Three lines, and one of a hundred characters for each who signed."""


@dataclass(frozen=True, slots=True)
class Inclusion:
    """Where an episode's newest leaf stands, and the hashes that lead from it to the root."""

    index: int
    hashes: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class BundleCheckpoint:
    """A checkpoint as a bundle holds it."""

    note: str
    leaves: tuple[bytes, ...]
    proofs: Mapping[str, Inclusion]


def members(held: BundleCheckpoint) -> dict[str, bytes]:
    """Return the members of the zip, in their order."""
    proofs = {
        name: {"index": one.index, "hashes": [base64.b64encode(found).decode() for found in one.hashes]}
        for name, one in held.proofs.items()
    }
    return {
        NOTE: canonical({"note": held.note}),
        LEAVES: orjson.dumps([leaf.decode() for leaf in held.leaves]),
        PROOFS: canonical(proofs),
    }


def read(member: Callable[[str], bytes | None]) -> BundleCheckpoint | None:
    """Return a bundle's checkpoint, None where it has none; raise Damage for what cannot be one."""
    found = {name: member(name) for name in MEMBERS}
    if all(data is None for data in found.values()):
        return None
    missing = [name for name, data in found.items() if data is None]
    if missing:
        raise Damage(f"{', '.join(missing)} is missing; a checkpoint has {', '.join(MEMBERS)}.")
    note, leaves, proofs = (_json(name, found[name] or b"") for name in MEMBERS)
    text = note.get("note") if isinstance(note, dict) else None
    if not isinstance(text, str) or len(text) > _MAX_NOTE or not text.replace("\n", "").isprintable():
        raise Damage(f"{NOTE} is no object with the text `note`, up to {_MAX_NOTE:,} visible characters on some lines.")
    if not isinstance(leaves, list) or not all(isinstance(leaf, str) for leaf in leaves):
        raise Damage(f"{LEAVES} is no list of texts.")
    data = tuple(leaf.encode() for leaf in leaves)
    for place, leaf in enumerate(data):
        _check_leaf(place, leaf)
    if not isinstance(proofs, dict):
        raise Damage(f"{PROOFS} is no object.")
    return BundleCheckpoint(text, data, {name: _inclusion(name, value) for name, value in proofs.items()})


def episode_of(leaf: bytes) -> str:
    """Return the episode that a leaf is of."""
    return str(orjson.loads(leaf)[0])


def _json(name: str, data: bytes) -> object:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise Damage(f"{name} is not JSON ({error}).") from None


def _check_leaf(place: int, leaf: bytes) -> None:
    value = _json(f"leaf {place} of {LEAVES}", leaf)
    if not isinstance(value, list) or not value or not isinstance(value[0], str) or not is_episode_id(value[0]):
        raise Damage(f"leaf {place} of {LEAVES} names no episode.")


def _inclusion(name: str, value: object) -> Inclusion:
    match value:
        case {"index": int(index), "hashes": list(hashes)} if all(isinstance(one, str) for one in hashes):
            try:
                return Inclusion(index, tuple(base64.b64decode(one, validate=True) for one in hashes))
            except ValueError:
                pass
        case _:
            pass
    raise Damage(f"what {PROOFS} says of {name[:80]!r} is no index with hashes.")
