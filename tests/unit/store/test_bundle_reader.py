import stat
import warnings
import zipfile

import pytest

from spectrace.audit.integrity import CONSISTENT, INVALID, verify_episode
from spectrace.errors import EpisodeNotFound, NewerSchema, StoreError, UsageError
from spectrace.store.bundle import pack
from spectrace.store.bundle_reader import Bundle, DamagedBundle, is_zip
from spectrace.store.memory import MemoryEventStore
from spectrace.store.rows import Damage
from spectrace.store.zip_members import Limits
from tests.shop_log import recorded
from tests.transfers import lines_of


@pytest.fixture(scope="module")
def source():
    store = MemoryEventStore()
    return store, recorded(store)


@pytest.fixture(scope="module")
def path(source, tmp_path_factory):
    store, episode = source
    return pack(store, [episode], tmp_path_factory.mktemp("bundle") / "a.zip").path


@pytest.fixture
def remade(path, tmp_path):
    """A function that writes the bundle anew; `change` gets a list of (ZipInfo, bytes) and may do anything to it."""

    def make(change):
        with zipfile.ZipFile(path) as archive:
            members = [(info, archive.read(info)) for info in archive.infolist()]
        with warnings.catch_warnings(), zipfile.ZipFile(tmp_path / "b.zip", "w") as made:
            warnings.simplefilter("ignore")  # of names used twice
            for info, data in change(members):
                made.writestr(info, data)
        return tmp_path / "b.zip"

    return make


def added(name, data=b"", mode=stat.S_IFREG | 0o644):
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info, data


def test_it_answers_as_a_store_does(path, source):
    store, episode = source
    row = store.row(episode)
    with Bundle(path) as bundle:
        found = bundle.row(episode)
        assert (found.events, found.head, found.started_at, found.ended_at) == (
            row.events,
            row.head,
            row.started_at,
            row.ended_at,
        )
        assert list(bundle.stored(episode, 3)) == list(store.stored(episode, 3))
        assert list(bundle.lines(episode)) == lines_of(store, episode)
        assert verify_episode(bundle, episode).result == CONSISTENT
        assert bundle.blob("sha256:" + "0" * 64) is None
        with pytest.raises(EpisodeNotFound):
            bundle.row("another")


@pytest.mark.parametrize("name", ["/etc/passwd", "../up.json", "run.sh"])
def test_a_member_that_no_bundle_has_is_refused(remade, name):
    with pytest.raises(StoreError, match="a bundle has no member"):
        Bundle(remade(lambda members: [*members, added(name)]))


def test_a_link_is_refused(remade):
    with pytest.raises(StoreError, match="is no plain file"):
        Bundle(remade(lambda members: [*members, added("checkpoints/a.json", b"/etc/passwd", stat.S_IFLNK | 0o777)]))


def test_two_members_of_one_name_are_refused(remade):
    with pytest.raises(StoreError, match=r"two members have the name 'manifest\.json'"):
        Bundle(remade(lambda members: [*members, added("manifest.json", b"{}")]))


def test_a_zip_bomb_is_refused_before_it_is_unpacked(remade):
    def bomb(members):
        info, _ = added("blobs/sha256/" + "0" * 64)
        info.compress_type = zipfile.ZIP_DEFLATED
        return [*members, (info, bytes(1 << 20))]

    with pytest.raises(StoreError, match="a zip bomb does"):
        Bundle(remade(bomb), Limits(free=1 << 20, ratio=20))


def test_members_that_the_manifest_does_not_name_and_those_that_are_missing_are_refused(remade):
    def check(change):
        with Bundle(remade(change)) as bundle:
            bundle.check_members()

    with pytest.raises(Damage, match=r"those of the manifest \(not in the manifest: checkpoints/a\.json\)"):
        check(lambda members: [*members, added("checkpoints/a.json")])
    with pytest.raises(Damage, match=r"those of the manifest \(missing: FORMAT\.md\)"):
        check(lambda members: [m for m in members if m[0].filename != "FORMAT.md"])
    with pytest.raises(Damage, match="the manifest counts"):
        check(lambda members: [*members, added("blobs/sha256/" + "0" * 64)])
    with pytest.raises(DamagedBundle, match=r"has no manifest\.json"):
        Bundle(remade(lambda members: [m for m in members if m[0].filename != "manifest.json"]))


def changed(member, old, new):
    def change(members):
        return [(info, data.replace(old, new, 1) if info.filename == member else data) for info, data in members]

    return change


def test_a_newer_format_is_refused_by_name(remade):
    with pytest.raises(NewerSchema, match=r"spectrace\.bundle\.v2"):
        Bundle(remade(changed("manifest.json", b"bundle.v1", b"bundle.v2")))


def test_a_changed_member_is_found_by_its_digest(remade):
    with Bundle(remade(changed("FORMAT.md", b"chain", b"Chain"))) as bundle, pytest.raises(Damage, match=r"FORMAT\.md"):
        bundle.check_members()


def test_a_byte_changed_in_the_file_itself_is_damage_not_a_crash(path, tmp_path, source):
    data = bytearray(path.read_bytes())
    data[data.index(b"episodes/") + 300] ^= 0x20
    (tmp_path / "b.zip").write_bytes(data)
    with Bundle(tmp_path / "b.zip") as bundle:
        with pytest.raises(Damage, match="cannot be unpacked"):
            bundle.check_members()
        assert verify_episode(bundle, source[1]).result == INVALID


@pytest.mark.parametrize("cut", [100, -1, -30])
def test_a_file_that_is_cut_short_is_what_is_left_of_a_bundle(path, tmp_path, cut):
    (tmp_path / "b.zip").write_bytes(path.read_bytes()[:cut])

    with pytest.raises(DamagedBundle, match="is what is left of a bundle: it was cut short"):
        Bundle(tmp_path / "b.zip")


def test_what_never_was_a_bundle_is_no_damaged_one(tmp_path):
    other = tmp_path / "b.zip"
    with zipfile.ZipFile(other, "w") as made:
        made.writestr("manifest.json", b"{}")
        made.writestr("photo.jpg", b"x")
    whole = other.read_bytes()
    for data in (b"", b"P", b"PK\x03\x04", whole[:60], whole):
        other.write_bytes(data)
        with pytest.raises(StoreError, match=r"is no bundle|a bundle has no member") as found:
            Bundle(other)
        assert type(found.value) is StoreError


def test_what_stands_before_the_first_member_is_refused(path, tmp_path):
    made = tmp_path / "b.zip"
    for before in (b"#!/bin/sh\n", b"PK\x03\x04" + bytes(60)):
        made.write_bytes(before + path.read_bytes())
        with pytest.raises(DamagedBundle, match=rf"{len(before)} bytes stand before its first member"):
            Bundle(made)
        assert is_zip(made)


def test_a_zip_in_the_last_page_of_a_database_makes_it_no_bundle(path, tmp_path):
    log = tmp_path / "log.db"
    log.write_bytes(b"SQLite format 3\0" + bytes(84) + path.read_bytes())

    assert zipfile.is_zipfile(log)
    assert not is_zip(log)


def test_an_episode_whose_member_is_missing_is_damage_not_a_crash(remade, source):
    made = remade(lambda members: [m for m in members if not m[0].filename.startswith("episodes/")])
    with Bundle(made) as bundle, pytest.raises(Damage, match=r"episodes/.*\.jsonl is missing from the bundle"):
        list(bundle.lines(source[1]))


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(UsageError, match="there is no file"):
        Bundle(tmp_path / "b.zip")
    with pytest.raises(UsageError, match="cannot be read"):
        Bundle(tmp_path)


def test_a_zip_is_known_by_how_it_begins(path, tmp_path):
    (tmp_path / "log.db").write_bytes(b"SQLite format 3\0")

    assert [is_zip(path), is_zip(tmp_path / "log.db"), is_zip(tmp_path), is_zip(tmp_path / "no")] == [
        True,
        False,
        False,
        False,
    ]


def test_a_line_without_its_end_is_damage(remade, source):
    episode = source[1]
    made = remade(lambda members: [(i, d[:-5] if i.filename.startswith("episodes/") else d) for i, d in members])
    with (
        Bundle(made) as bundle,
        pytest.raises(Damage, match=rf"episodes/{episode}.jsonl, line 46: the line is cut off"),
    ):
        list(bundle.lines(episode))
