import io
import stat
import zipfile

import pytest

from spectrace.store.rows import Damage
from spectrace.store.zip_members import LIMITS, Limits, checked, first_name, is_ours, too_dense


def member(name, size=10, packed=10, mode=stat.S_IFREG | 0o644, **given):
    info = zipfile.ZipInfo(name)
    info.external_attr, info.file_size, info.compress_size = mode << 16, size, packed
    for field, value in given.items():
        setattr(info, field, value)
    return info


BLOB = "blobs/sha256/" + "0" * 64


@pytest.mark.parametrize(
    "name",
    [
        "manifest.json",
        "FORMAT.md",
        "episodes/e9d18fd9b806591e.jsonl",
        BLOB,
        "schemas/bundle.v1.json",
        "schemas/events/act.requested.v1.json",
        "checkpoints/1.json",
        "checkpoints/checkpoint.json",
        "checkpoints/leaves.json",
        "checkpoints/proofs.json",
    ],
)
def test_the_members_of_a_bundle_pass(name):
    assert list(checked([member(name)], LIMITS)) == [name]


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "../up.json",
        "episodes/../../up.jsonl",
        "episodes/",
        "episodes/a/b.jsonl",
        "C:\\windows\\a.json",
        "episodes\\a.jsonl",
        "blobs/sha256/" + "g" * 64,
        "blobs/sha256/" + "0" * 63,
        "manifest.json ",
        "manifest.json\n",
        "MANIFEST.JSON",
        "run.sh",
        "schemas/events/../x.json",
        "checkpoints/../x.json",
        "checkpoints/.json",
        "checkpoints/a/b.json",
        "checkpoints/leaves",
        "checkpoints/leaves.json/",
        "ëpisodes/a.jsonl",
        "manifest.json\0.sh",
    ],
)
def test_a_member_of_another_name_is_refused(name):
    with pytest.raises(Damage, match="a bundle has no member"):
        checked([member(name)], LIMITS)


@pytest.mark.parametrize("mode", [stat.S_IFLNK | 0o777, stat.S_IFDIR | 0o755, stat.S_IFIFO | 0o644, stat.S_IFCHR])
def test_links_directories_and_devices_are_refused(mode):
    with pytest.raises(Damage, match="is no plain file"):
        checked([member("checkpoints/a.json", mode=mode)], LIMITS)


def test_two_members_of_one_name_are_refused():
    with pytest.raises(Damage, match=r"two members have the name 'manifest\.json'"):
        checked([member("manifest.json"), member("manifest.json")], LIMITS)


def test_what_is_encrypted_or_packed_otherwise_is_refused():
    with pytest.raises(Damage, match="is encrypted"):
        checked([member("manifest.json", flag_bits=1)], LIMITS)
    with pytest.raises(Damage, match="is packed with method 12"):
        checked([member("manifest.json", compress_type=zipfile.ZIP_BZIP2)], LIMITS)


@pytest.mark.parametrize(
    ("infos", "limits", "said"),
    [
        ([member("manifest.json"), member("FORMAT.md")], Limits(members=1), "2 members, more than 1"),
        ([member("manifest.json", 600), member("FORMAT.md", 600)], Limits(bytes=1000), "1,200 bytes; the limit is"),
        ([member(BLOB, 10**9, 10**6)], LIMITS, "a zip bomb does"),
        ([member(BLOB, 10**9 + 1, 10**9)], LIMITS, "no database takes more"),
    ],
)
def test_what_is_too_much_is_refused(infos, limits, said):
    with pytest.raises(Damage, match=said):
        checked(infos, limits)


def test_a_small_bundle_may_pack_as_well_as_it_can():
    assert checked([member(BLOB, 10**8, 10**5)], LIMITS)


def test_a_bundle_is_told_by_its_episodes_and_texts_not_by_what_other_zips_have_too():
    names = ["episodes/ep1.jsonl", BLOB, "manifest.json", "FORMAT.md", "episodes/readme.txt", "blobs/x", ""]

    assert [is_ours(name) for name in names] == [True, True, False, False, False, False, False]


def test_the_first_member_s_name_is_found_without_the_directory():
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("episodes/ep1.jsonl", b"x" * 100)
    for data, name in ((made.getvalue()[:60], "episodes/ep1.jsonl"), (b"PK\3\4", ""), (b"", ""), (bytes(60), "")):
        assert first_name(io.BytesIO(data)) == name


def test_all_members_together_are_too_dense_or_not():
    dense, plain = member("a", 10**9, 10**6), member("b", 10**7, 10**7)

    assert too_dense([dense], LIMITS)
    assert not too_dense([dense, plain], LIMITS)
    assert not too_dense([member("a", LIMITS.free, 1)], LIMITS)
