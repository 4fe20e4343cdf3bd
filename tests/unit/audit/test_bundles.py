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


def test_of_a_newer_format_nothing_is_known(changed):
    (found,) = verify_bundle(changed("manifest.json", b"bundle.v1", b"bundle.v2")).results

    assert (found.episode, found.result, "spectrace.bundle.v2" in found.detail) == ("b.zip", UNKNOWN, True)


def test_a_file_that_is_no_bundle_is_an_error_not_a_result(tmp_path):
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04 and nothing more")

    with pytest.raises(StoreError, match="is no bundle"):
        verify_bundle(tmp_path / "a.zip")
