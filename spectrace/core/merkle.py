"""The Merkle tree of RFC 6962 (section 2.1; the same as RFC 9162's): root, inclusion and consistency proofs.

Pure hashing over leaf hashes that the caller holds, so that what is verified is independent of who stores it. A tree is
only ever appended to; a consistency proof shows that a later root is of the same leaves with others behind them. The
verifying functions are RFC 9162's 2.1.3.2 and 2.1.4.2, which never recurse and reject whatever is left over.
"""

from collections.abc import Sequence
from hashlib import sha256

HASH_BYTES = 32
EMPTY_ROOT = sha256(b"").digest()
"""The root of no leaves."""


def leaf_hash(data: bytes) -> bytes:
    """Return SHA-256(0x00 || data): RFC 6962, 2.1. The first byte keeps a leaf from passing for a node."""
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return SHA-256(0x01 || left || right): RFC 6962, 2.1."""
    return sha256(b"\x01" + left + right).digest()


def root(hashes: Sequence[bytes]) -> bytes:
    """Return the Merkle tree hash of leaf hashes: RFC 6962, 2.1.

    Level by level, the odd one moving up: the same tree as the RFC's split at the greatest power of two.
    """
    if not hashes:
        return EMPTY_ROOT
    level = hashes
    while len(level) > 1:
        level = _above(level)
    return level[0]


def inclusion_proof(hashes: Sequence[bytes], index: int) -> tuple[bytes, ...]:
    """Return the audit path of one leaf, from its sibling to the root's child: RFC 6962, 2.1.1."""
    if not 0 <= index < len(hashes):
        msg = f"a tree of {len(hashes)} leaves has no leaf {index}"
        raise ValueError(msg)
    path, level = [], hashes
    while len(level) > 1:
        sibling = index ^ 1
        if sibling < len(level):
            path.append(level[sibling])
        index, level = index >> 1, _above(level)
    return tuple(path)


def consistency_proof(hashes: Sequence[bytes], first: int) -> tuple[bytes, ...]:
    """Return the proof that the tree of the `first` leaves is a prefix of this one: RFC 6962, 2.1.2."""
    if not 0 <= first <= len(hashes):
        msg = f"a tree of {len(hashes)} leaves was never one of {first}"
        raise ValueError(msg)
    if first in {0, len(hashes)}:
        return ()
    path, low, high, whole = [], 0, len(hashes), True
    while first != high:
        split = low + _split(high - low)
        if first <= split:
            path.append(root(hashes[split:high]))
            high = split
        else:
            path.append(root(hashes[low:split]))
            low, whole = split, False
    if not whole:
        path.append(root(hashes[low:high]))
    return tuple(reversed(path))


def verify_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes], expected: bytes) -> bool:
    """Whether the leaf of that hash stands at `index` in the tree of that size and root: RFC 9162, 2.1.3.2."""
    if not 0 <= index < size:
        return False
    place, last, found = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            return False
        if place & 1 or place == last:
            found = node_hash(sibling, found)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            found = node_hash(found, sibling)
        place, last = place >> 1, last >> 1
    return last == 0 and found == expected


def verify_consistency(first: int, second: int, path: Sequence[bytes], first_root: bytes, second_root: bytes) -> bool:
    """Whether the tree of `second` leaves begins with the tree of the `first` ones: RFC 9162, 2.1.4.2."""
    if not 0 <= first <= second:
        return False
    if first == second:
        return not path and first_root == second_root
    if first == 0:
        return not path and first_root == EMPTY_ROOT
    whole = first & (first - 1) == 0  # a power of two: the old tree is a node of the new one
    steps = [first_root, *path] if whole else list(path)
    if not steps:
        return False
    place, last = first - 1, second - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    old = new = steps[0]
    for step in steps[1:]:
        if last == 0:
            return False
        if place & 1 or place == last:
            old, new = node_hash(step, old), node_hash(step, new)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            new = node_hash(new, step)
        place, last = place >> 1, last >> 1
    return last == 0 and old == first_root and new == second_root


def _above(level: Sequence[bytes]) -> list[bytes]:
    """Return the level of nodes above one; an odd last one moves up as it is."""
    sha, pairs = sha256, zip(level[::2], level[1::2], strict=False)
    above = [sha(b"\x01" + left + right).digest() for left, right in pairs]  # `node_hash`, in line
    return [*above, level[-1]] if len(level) % 2 else above


def _split(size: int) -> int:
    """Return the greatest power of two below a size of at least two."""
    return 1 << (size - 1).bit_length() - 1
