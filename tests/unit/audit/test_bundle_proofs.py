from pathlib import Path

import pytest

from spectrace.audit.bundle_proofs import Covered, Unproved, carried, covered
from spectrace.audit.checkpoint_files import Held
from spectrace.audit.leaves import Leaf, hashes
from spectrace.audit.packing import Tree
from spectrace.audit.signing import Signer
from spectrace.core import merkle
from spectrace.core.notes import Checkpoint
from spectrace.store.bundle_checkpoint import BundleCheckpoint, Inclusion
from spectrace.store.manifest import Period
from spectrace.store.rows import Damage

OWNER, STRANGER = Signer("desk.example/log", b"o" * 32), Signer("other.example/log", b"x" * 32)


def leaf(name: str, at: int, events: int = 3, status: str = "completed") -> Leaf:
    return Leaf(name, "desk", at, None if status == "administrative" else at + 1, status, events, 0, f"{events:064x}")


LEAVES = [
    leaf("admin-000000000000", 1, status="administrative"),
    leaf("ep1", 10),
    leaf("ep2", 20, 2),
    leaf("ep2", 20, 5),
    leaf("ep3", 30),
]
DATA = tuple(one.data for one in LEAVES)


def note(size: int, signer: Signer = OWNER, data: tuple[bytes, ...] = DATA) -> tuple[str, Checkpoint]:
    made = Checkpoint("spectrace/admin-000000000000", size, merkle.root(hashes(data[:size])), (f"at {size}",))
    return str(signer.sign(str(made))), made


def own(size: int = 5, signer: Signer = OWNER) -> BundleCheckpoint:
    return Tree(note(size, signer)[0], DATA[:size]).proved(["ep1", "ep2", "newer"])


def held(size: int, signer: Signer = OWNER, data: tuple[bytes, ...] = DATA, *, alone: bool = False) -> Held:
    text, made = note(size, signer, data)
    found = Tree(text, data[:size]).proved([]).leaves
    signed = carried(BundleCheckpoint(text, found, {})).note
    return Held(Path("held"), signed, made, None if alone else found, "held.leaves is not there" if alone else None)


def events(found: Covered) -> dict[str, int]:
    return {name: leaves[-1].events for name, leaves in found.leaves.items()}


def least(found: Covered) -> dict[str, int]:
    return {name: one.events for name, one in found.least.items()}


def test_a_checkpoint_of_one_piece_is_taken_and_its_newest_leaves_count():
    assert events(covered(carried(own()), None, OWNER.key)) == {
        "admin-000000000000": 3,
        "ep1": 3,
        "ep2": 5,
        "ep3": 3,
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda one: BundleCheckpoint("nothing", one.leaves, one.proofs), "its checkpoint is none"),
        (lambda one: BundleCheckpoint(one.note, one.leaves[:-1], one.proofs), "its 4 leaves are not the 5"),
        (lambda one: BundleCheckpoint(one.note, one.leaves[::-1], one.proofs), "are not the 5"),
        (lambda one: BundleCheckpoint(one.note, one.leaves, {"ep2": Inclusion(2, ())}), "what .* says of ep2"),
        (lambda one: BundleCheckpoint(one.note, one.leaves, {"ep9": Inclusion(0, ())}), "what .* says of ep9"),
        (lambda one: BundleCheckpoint(one.note, one.leaves, {"ep1": Inclusion(-1, ())}), "what .* says of ep1"),
        (lambda one: BundleCheckpoint(one.note, one.leaves, {"ep1": Inclusion(1, ())}), "what .* says of ep1"),
    ],
)
def test_parts_that_are_not_of_each_other_are_damage(change, said):
    with pytest.raises(Damage, match=said):
        carried(change(own()))


def test_a_leaf_that_is_none_is_damage_though_it_was_signed():
    data = (b'["ep1"]',)
    made = Checkpoint("spectrace/x", 1, merkle.root(hashes(data)))

    with pytest.raises(Damage, match="leaf 0 of its checkpoint is none"):
        carried(BundleCheckpoint(str(OWNER.sign(str(made))), data, {}))


def test_an_older_checkpoint_of_the_same_history_lets_the_newer_one_count_if_it_is_signed_too():
    signed = covered(carried(own()), held(3), OWNER.key)
    unsigned = covered(carried(own(signer=STRANGER)), held(3), OWNER.key)

    assert (events(signed)["ep2"], "ep3" in signed.leaves) == (5, True)
    assert (events(unsigned)["ep2"], "ep3" in unsigned.leaves) == (2, False)


def test_a_newer_checkpoint_counts_with_its_leaves_and_the_bundle_is_dated_by_its_own():
    found = covered(carried(own(3)), held(5), OWNER.key)

    assert (events(found)["ep2"], least(found)) == (5, {"admin-000000000000": 3, "ep1": 3, "ep2": 2})
    assert (found.dated, found.at) == (True, 3)


@pytest.mark.parametrize("bundle", [None, own(3, STRANGER)])
def test_what_the_key_did_not_sign_dates_no_bundle(bundle):
    found = covered(None if bundle is None else carried(bundle), held(5), OWNER.key)

    assert (found.dated, least(found)) == (False, events(found))


def test_of_an_episode_s_leaves_counts_the_newest_that_is_reached():
    found = covered(carried(own()), None, OWNER.key)

    assert [found.reached("ep2", count) for count in (1, 4, 5, 9)] == [None, LEAVES[2], LEAVES[3], LEAVES[3]]


OTHER = (*DATA[:2], leaf("ep2", 20, 4).data, *DATA[3:])


@pytest.mark.parametrize("size", [3, 5])
def test_another_history_is_damage(size):
    with pytest.raises(Damage, match=r"its leaves are not those that held was signed over.*admin-000000000000"):
        covered(carried(own(3 if size == 5 else 5)), held(size, data=OTHER), OWNER.key)


@pytest.mark.parametrize(
    ("bundle", "elsewhere", "said"),
    [
        (None, None, "has no checkpoint; give the one that you hold"),
        (own(signer=STRANGER), None, r"was not signed by desk\.example/log"),
        (own(), held(5, STRANGER), "held was not signed by"),
        (None, held(5, alone=True), "it has no leaves, and held.leaves is not there"),
        (own(3), held(5, alone=True), "held is newer than it"),
    ],
)
def test_where_nothing_is_known_it_is_said_why(bundle, elsewhere, said):
    with pytest.raises(Unproved, match=said):
        covered(None if bundle is None else carried(bundle), elsewhere, OWNER.key)


def test_missing_are_the_runs_of_the_period_that_are_not_there():
    found = covered(carried(own()), None, OWNER.key)
    missing = [
        [one.episode for one in found.missing(period, ["ep1"])]
        for period in (Period(None, None), Period(20, 30), Period(0, 11))
    ]

    assert missing == [["ep2", "ep3"], ["ep2"], []]
