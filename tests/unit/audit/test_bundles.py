import hashlib
import zipfile

import pytest

from spectrace.audit.bundles import verify_bundle
from spectrace.audit.integrity import CONSISTENT, INVALID, UNKNOWN
from spectrace.errors import StoreError
from spectrace.store.bundle import pack
from spectrace.store.memory import MemoryEventStore
from tests.shop_log import recorded


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    store = MemoryEventStore()
    episodes = sorted(recorded(store) for _ in range(2))
    return pack(store, episodes, tmp_path_factory.mktemp("bundle") / "a.zip").path, episodes


@pytest.fixture
def changed(packed, tmp_path):
    """A function that writes the bundle with one member changed."""

    def make(member, old, new):
        with zipfile.ZipFile(packed[0]) as source, zipfile.ZipFile(tmp_path / "b.zip", "w") as made:
            for name in source.namelist():
                data = source.read(name)
                assert name != member or old in data
                made.writestr(name, data.replace(old, new, 1) if name == member else data)
        return tmp_path / "b.zip"

    return make


def test_each_episode_of_an_intact_bundle_is_consistent(packed):
    path, episodes = packed
    found = verify_bundle(path)

    assert [(one.episode, one.result, one.covered_to) for one in found.results] == [
        (episode, CONSISTENT, 45) for episode in episodes
    ]
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_changed_event_is_found_at_its_number_and_the_other_episode_is_not_blamed(packed, changed):
    first, second = packed[1]
    path = changed(f"episodes/{first}.jsonl", b'",20,\\"\\",\\"'[1:], b',20,\\"0\\",\\"')
    results = {one.episode: (one.result, one.first_bad_seq) for one in verify_bundle(path).results}

    assert (results[first], results[second]) == ((INVALID, 20), (CONSISTENT, None))


def test_a_line_that_cannot_be_read_covers_what_stands_before_it(packed, changed):
    first = packed[1][0]
    path = changed(f"episodes/{first}.jsonl", b'"header":"[\\"%s\\",20,' % first.encode(), b'"header":"[20,')
    found = verify_bundle(path).results[0]

    assert (found.result, found.first_bad_seq, found.covered_to) == (INVALID, 20, 19)
    assert f"episodes/{first}.jsonl, line 21" in found.detail


def test_a_changed_text_is_found_at_the_event_that_needs_it(packed, changed):
    with zipfile.ZipFile(packed[0]) as archive:
        name = next(name for name in archive.namelist() if name.startswith("blobs/"))
        data = archive.read(name)
    found = verify_bundle(changed(name, data[:4], b"XXXX")).results

    assert [one.result for one in found] == [INVALID, INVALID, INVALID]


def test_a_changed_member_besides_is_told_by_the_file_s_name(changed):
    *episodes, last = verify_bundle(changed("FORMAT.md", b"chain", b"Chain")).results

    assert {one.result for one in episodes} == {CONSISTENT}
    assert (last.episode, last.result, "FORMAT.md" in last.detail) == ("b.zip", INVALID, True)


@pytest.fixture
def remade(packed, tmp_path):
    """A function that writes the bundle with other members: `change` gets a dict of them."""

    def make(change):
        with zipfile.ZipFile(packed[0]) as source, zipfile.ZipFile(tmp_path / "b.zip", "w") as made:
            for name, data in change({name: source.read(name) for name in source.namelist()}).items():
                made.writestr(name, data)
        return tmp_path / "b.zip"

    return make


def without(name):
    return lambda members: {one: data for one, data in members.items() if one != name}


def test_what_the_manifest_says_of_an_episode_is_compared_with_its_events(packed, changed):
    first, second = packed[1]
    found = verify_bundle(changed("manifest.json", b'"ended_at":1', b'"ended_at":2')).results

    assert [(one.episode, one.result) for one in found] == [(first, INVALID), (second, CONSISTENT)]
    assert "`ended_at` is 2" in found[0].detail


def test_a_removed_text_is_told_of_the_events_that_need_it_and_of_the_file(packed, remade):
    with zipfile.ZipFile(packed[0]) as archive:
        name = next(name for name in archive.namelist() if name.startswith("blobs/"))
    *episodes, last = verify_bundle(remade(without(name))).results

    assert {(one.result, "which is missing" in one.detail) for one in episodes} == {(INVALID, True)}
    assert (last.episode, last.result, "the manifest counts" in last.detail) == ("b.zip", INVALID, True)


def test_a_removed_episode_is_invalid_and_the_other_is_not_blamed(packed, remade):
    first, second = packed[1]
    found = verify_bundle(remade(without(f"episodes/{first}.jsonl"))).results

    assert [(one.episode, one.result) for one in found] == [
        (first, INVALID),
        (second, CONSISTENT),
        ("b.zip", INVALID),
    ]


def test_an_added_member_that_a_bundle_may_have_leaves_the_episodes_consistent(remade):
    *episodes, last = verify_bundle(remade(lambda members: {**members, "checkpoints/a.json": b""})).results

    assert ({one.result for one in episodes}, last.result) == ({CONSISTENT}, INVALID)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (without("manifest.json"), "has no manifest.json"),
        (lambda members: {**members, "manifest.json": b"[]"}, "is a list"),
        (lambda members: {**members, "../up": b""}, "a bundle has no member '../up'"),
    ],
)
def test_what_is_too_damaged_to_be_read_is_invalid_by_the_file_s_name(remade, change, said):
    (found,) = verify_bundle(remade(change)).results

    assert (found.episode, found.result, said in found.detail) == ("b.zip", INVALID, True)


@pytest.mark.parametrize("damage", ["cut", "before", "doubled"])
def test_a_damaged_zip_is_invalid_too(packed, tmp_path, damage):
    data, path = packed[0].read_bytes(), tmp_path / "b.zip"
    path.write_bytes({"cut": data[:-40], "before": b"MZ" + data, "doubled": data}[damage])
    if damage == "doubled":
        with zipfile.ZipFile(path, "a") as made, pytest.warns(UserWarning, match="Duplicate name"):
            made.writestr("FORMAT.md", b"another")
    (found,) = verify_bundle(path).results

    assert (found.episode, found.result, found.first_bad_seq) == ("b.zip", INVALID, None)


def test_of_a_newer_format_nothing_is_known(changed):
    (found,) = verify_bundle(changed("manifest.json", b"bundle.v1", b"bundle.v2")).results

    assert (found.episode, found.result, "spectrace.bundle.v2" in found.detail) == ("b.zip", UNKNOWN, True)


def test_a_file_that_is_no_bundle_is_an_error_not_a_result(tmp_path):
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04 and nothing more")

    with pytest.raises(StoreError, match="is no bundle"):
        verify_bundle(tmp_path / "a.zip")
