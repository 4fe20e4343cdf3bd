import json
from collections.abc import Mapping

import pytest

from spectrace.store.bundle_checkpoint import (
    LEAVES,
    MEMBERS,
    NOTE,
    PROOFS,
    BundleCheckpoint,
    Inclusion,
    episode_of,
    members,
    read,
)
from spectrace.store.rows import Damage

LEAF = b'["ep1","d\xc3\xa9sk",1,2,"completed",3,0,"00"]'
HELD = BundleCheckpoint("origin\n1\nAAAA\n\n\u2014 ana AAAA\n", (LEAF,), {"ep1": Inclusion(0, (b"\x01" * 32,))})


def reading(found: Mapping[str, bytes]) -> BundleCheckpoint | None:
    return read(found.get)


def test_what_was_written_is_read_again():
    assert reading(members(HELD)) == HELD


def test_the_same_checkpoint_gives_the_same_bytes_in_the_same_order():
    two = BundleCheckpoint(HELD.note, HELD.leaves, {"b": Inclusion(0, ()), "a": Inclusion(0, ())})
    turned = BundleCheckpoint(HELD.note, HELD.leaves, {"a": Inclusion(0, ()), "b": Inclusion(0, ())})

    assert tuple(members(two)) == MEMBERS
    assert members(two) == members(turned)


def test_the_members_are_plain_json_with_leaf_and_note_as_their_exact_texts():
    found = {name: json.loads(data) for name, data in members(HELD).items()}

    assert (found[NOTE], found[LEAVES]) == ({"note": HELD.note}, [LEAF.decode()])
    assert found[PROOFS]["ep1"]["index"] == 0


def test_a_bundle_without_one_has_none():
    assert reading({}) is None


@pytest.mark.parametrize("name", MEMBERS)
def test_one_of_which_a_part_is_missing_is_damage(name):
    with pytest.raises(Damage, match="is missing; a checkpoint has"):
        reading({one: data for one, data in members(HELD).items() if one != name})


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        (NOTE, b"{}", "no object with the text `note`"),
        (NOTE, b'{"note": "\\u0007"}', "visible characters"),
        (LEAVES, b"{}", "is no list of texts"),
        (LEAVES, b'["{}"]', "names no episode"),
        (LEAVES, b'["[\\"a/b\\"]"]', "names no episode"),
        (PROOFS, b"[]", "is no object"),
        (PROOFS, b'{"ep1": []}', "is no index with hashes"),
        (PROOFS, b'{"ep1": {"index": 0, "hashes": ["\\u00e9"]}}', "is no index with hashes"),
    ],
)
def test_what_cannot_be_one_is_damage(name, data, said):
    with pytest.raises(Damage, match=said):
        reading({**members(HELD), name: data})


def test_a_leaf_says_whose_it_is():
    assert episode_of(LEAF) == "ep1"
