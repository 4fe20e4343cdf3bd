"""Known answers of RFC 6962's reference vectors, and a naive tree written as the RFC writes it."""

import base64
from hashlib import sha256

import metamorphic_log
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectrace.core import merkle

INPUTS = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
"""The inputs and roots of Certificate Transparency's own tests."""
LEAVES = [merkle.leaf_hash(data) for data in INPUTS]

sizes = st.integers(1, 70)


def naive(data: list[bytes]) -> bytes:
    """MTH of RFC 6962, word by word."""
    if not data:
        return sha256(b"").digest()
    if len(data) == 1:
        return sha256(b"\x00" + data[0]).digest()
    split = max(1 << power for power in range(len(data).bit_length()) if 1 << power < len(data))
    return sha256(b"\x01" + naive(data[:split]) + naive(data[split:])).digest()


def tree(size: int) -> tuple[list[bytes], list[bytes]]:
    data = [n.to_bytes(2, "big") * (n % 5) for n in range(size)]
    return data, [merkle.leaf_hash(one) for one in data]


def test_no_leaves_have_the_root_of_nothing():
    assert merkle.root([]).hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize("size", range(1, 9))
def test_the_roots_are_those_that_certificate_transparency_publishes(size):
    assert merkle.root(LEAVES[:size]).hex() == ROOTS[size - 1]


def test_the_published_audit_path_of_the_first_of_eight_leaves():
    assert [one.hex()[:8] for one in merkle.inclusion_proof(LEAVES, 0)] == ["96a296d2", "5f083f0a", "6b47aaf2"]


def test_the_published_consistency_proof_of_six_to_eight_leaves():
    found = [one.hex()[:8] for one in merkle.consistency_proof(LEAVES, 6)]

    assert found == ["0ebc5d34", "ca854ea1", "d37ee418"]


@given(st.integers(0, 70))
def test_the_root_is_that_of_the_tree_as_the_rfc_writes_it(size):
    data, hashes = tree(size)

    assert merkle.root(hashes) == naive(data)


@given(st.data(), sizes)
def test_a_leaf_is_proved_at_its_own_place_only(data, size):
    index = data.draw(st.integers(0, size - 1))
    hashes = tree(size)[1]
    path, top = merkle.inclusion_proof(hashes, index), merkle.root(hashes)

    assert [place for place in range(size) if merkle.verify_inclusion(hashes[index], place, size, path, top)] == [index]


@given(st.data(), sizes)
def test_no_altered_audit_path_is_accepted(data, size):
    index = data.draw(st.integers(0, size - 1))
    hashes = tree(size)[1]
    path, top = merkle.inclusion_proof(hashes, index), merkle.root(hashes)
    others = [
        (*path, top),
        path[:-1] if path else (top,),
        *((*path[:n], top, *path[n + 1 :]) for n in range(len(path))),
    ]

    assert not any(merkle.verify_inclusion(hashes[index], index, size, other, top) for other in others)


@given(st.data(), sizes)
def test_a_tree_is_proved_to_begin_with_each_earlier_one(data, size):
    first = data.draw(st.integers(0, size))
    hashes = tree(size)[1]
    path, old, new = merkle.consistency_proof(hashes, first), merkle.root(hashes[:first]), merkle.root(hashes)

    assert merkle.verify_consistency(first, size, path, old, new)


@given(st.data(), st.integers(2, 70))
def test_a_tree_with_another_past_is_never_proved_to_be_a_later_one(data, size):
    first = data.draw(st.integers(1, size))
    changed = data.draw(st.integers(0, first - 1))
    hashes = tree(size)[1]
    forged = [*hashes[:changed], merkle.leaf_hash(b"forged"), *hashes[changed + 1 :]]
    path, old, new = merkle.consistency_proof(forged, first), merkle.root(hashes[:first]), merkle.root(forged)

    assert not merkle.verify_consistency(first, size, path, old, new)


@given(st.data(), st.integers(2, 70))
def test_no_altered_consistency_proof_is_accepted(data, size):
    first = data.draw(st.integers(1, size - 1))
    hashes = tree(size)[1]
    path, old, new = merkle.consistency_proof(hashes, first), merkle.root(hashes[:first]), merkle.root(hashes)
    others = [(*path, new), path[:-1], *((*path[:n], bytes(32), *path[n + 1 :]) for n in range(len(path)))]

    assert not any(merkle.verify_consistency(first, size, other, old, new) for other in others)


@given(st.data(), sizes)
def test_an_implementation_that_is_not_ours_accepts_both_proofs(data, size):
    index, first = data.draw(st.integers(0, size - 1)), data.draw(st.integers(1, size))
    hashes = tree(size)[1]
    top = merkle.root(hashes)

    metamorphic_log.verify_inclusion(index, size, hashes[index], list(merkle.inclusion_proof(hashes, index)), top)
    proof = list(merkle.consistency_proof(hashes, first))
    metamorphic_log.verify_consistency(first, size, proof, merkle.root(hashes[:first]), top)


def test_what_is_beyond_the_tree_has_no_proof():
    with pytest.raises(ValueError, match="8 leaves has no leaf 8"):
        merkle.inclusion_proof(LEAVES, 8)
    with pytest.raises(ValueError, match="was never one of 9"):
        merkle.consistency_proof(LEAVES, 9)


def test_sizes_that_no_tree_has_verify_nothing():
    top = merkle.root(LEAVES)

    assert not merkle.verify_inclusion(LEAVES[0], 8, 8, (), top)
    assert not merkle.verify_inclusion(LEAVES[0], -1, 8, (), top)
    assert not merkle.verify_consistency(9, 8, (), top, top)
    assert not merkle.verify_consistency(3, 8, (), merkle.root(LEAVES[:3]), top)
    assert base64.b64encode(merkle.EMPTY_ROOT).startswith(b"47DEQpj8")
