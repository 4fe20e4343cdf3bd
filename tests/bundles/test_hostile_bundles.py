"""A bundle that somebody made to do harm: refused in words, by `verify` and by `unpack`, and nothing is written."""

import hashlib
import io
import json
import stat
import zipfile
from collections.abc import Callable

import pytest

from spectrace.errors import StoreError
from spectrace.store import bundle_reader
from spectrace.store.bundle import pack
from spectrace.store.bundle_checkpoint import LEAVES, NOTE, PROOFS
from spectrace.store.memory import MemoryEventStore
from tests.command_line import in_a_directory
from tests.shop_log import recorded

Members = dict[str, bytes]

CHECKPOINT: Members = {
    NOTE: json.dumps({"note": "spectrace/admin-0\n1\nAAAA\n\n— a AAAA\n"}).encode(),
    LEAVES: json.dumps(['["ep1","",0,null,"open",1,0,"00"]']).encode(),
    PROOFS: json.dumps({"ep1": {"index": 0, "hashes": []}}).encode(),
}


@pytest.fixture(scope="module")
def members(tmp_path_factory) -> Members:
    store = MemoryEventStore()
    path = pack(store, [recorded(store)], tmp_path_factory.mktemp("bundle") / "a.zip").path
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture
def line(monkeypatch, tmp_path):
    return in_a_directory(monkeypatch, tmp_path)


def info(name: str, mode: int = stat.S_IFREG | 0o644, method: int = zipfile.ZIP_DEFLATED) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name)
    made.external_attr, made.compress_type, made.create_system = mode << 16, method, 3
    return made


Write = Callable[[zipfile.ZipFile], None]


def with_member(name: str, data: bytes = b"x", **given: int) -> Write:
    return lambda archive: archive.writestr(info(name, **given), data)


def twice(archive: zipfile.ZipFile) -> None:
    archive.writestr(info(LEAVES), b"[]")
    with pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr(info(LEAVES), b"[]")


def bomb(archive: zipfile.ZipFile) -> None:
    with archive.open(info(LEAVES), "w") as member:
        for _ in range(300):
            member.write(bytes(1 << 20))


HOSTILE: dict[str, tuple[Write, str]] = {
    "a path upwards": (with_member("checkpoints/../../up.json"), "a bundle has no member"),
    "an absolute path": (with_member("/up.json"), "a bundle has no member"),
    "a directory's name": (with_member("checkpoints/"), "a bundle has no member"),
    "a backslash": (with_member("checkpoints\\up.json"), "a bundle has no member"),
    "another suffix": (with_member("checkpoints/leaves.py"), "a bundle has no member"),
    "a hidden file": (with_member("checkpoints/.json"), "a bundle has no member"),
    "a link": (with_member(NOTE, b"/etc/passwd", mode=stat.S_IFLNK | 0o777), "is no plain file"),
    "a device": (with_member(NOTE, mode=stat.S_IFCHR | 0o666), "is no plain file"),
    "another method": (with_member(NOTE, method=zipfile.ZIP_LZMA), "is packed with method"),
    "one name twice": (twice, "two members have the name"),
    "a bomb": (bomb, "a zip bomb does"),
}


def written(path, members: Members, *more: Write) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(info(name), data)
        for one in more:
            one(archive)


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_member_that_could_do_harm_is_refused_and_nothing_is_written(line, members, tmp_path, kind):
    write, said = HOSTILE[kind]
    written(tmp_path / "b.zip", members, write)
    found = line.items("verify", "b.zip", code=1)
    unpacked = line("unpack", "b.zip")

    assert ([one["result"] for one in found], said in found[0]["detail"]) == (["invalid"], True)
    assert (unpacked.exit_code, said in unpacked.stderr) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["b.zip"]
    assert not (tmp_path.parent / "up.json").exists()


def digested(members: Members) -> Members:
    """Return the members with a manifest that names them all as they are."""
    said = json.loads(members["manifest.json"])
    said["members"] = {
        name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        for name, data in members.items()
        if name != "manifest.json" and not name.startswith("blobs/")
    }
    return {**members, "manifest.json": json.dumps(said).encode()}


MALFORMED = {
    "no note": ({NOTE: b"[]"}, "no object with the text `note`"),
    "control characters": ({NOTE: json.dumps({"note": "a\x1b[2J\n0\n"}).encode()}, "visible characters"),
    "a text turned round": ({NOTE: json.dumps({"note": "a\u202eb\n0\n"}).encode()}, "visible characters"),
    "a huge note": ({NOTE: json.dumps({"note": "a" * 100_000}).encode()}, "visible characters"),
    "no JSON": ({LEAVES: b"\0"}, "is not JSON"),
    "deep": ({LEAVES: b"[" * 100_000}, "is not JSON"),
    "leaves that are no texts": ({LEAVES: b"[1]"}, "is no list of texts"),
    "a leaf of nothing": ({LEAVES: b'["[]"]'}, "leaf 0"),
    "a leaf of a path": ({LEAVES: json.dumps(['["../up"]']).encode()}, "names no episode"),
    "proofs that are none": ({PROOFS: b'{"ep1": {"index": "0", "hashes": []}}'}, "is no index with hashes"),
    "a hash that is none": ({PROOFS: b'{"ep1": {"index": 0, "hashes": ["?"]}}'}, "is no index with hashes"),
    "leaves missing": ({LEAVES: None}, "is missing; a checkpoint has"),
}


@pytest.mark.parametrize("kind", MALFORMED)
def test_a_checkpoint_that_cannot_be_one_makes_the_file_invalid_and_its_episodes_no_less_consistent(
    line, members, tmp_path, kind
):
    change, said = MALFORMED[kind]
    made = {name: data for name, data in {**CHECKPOINT, **change}.items() if data is not None}
    written(tmp_path / "b.zip", digested({**members, **made}))
    episode, file = line.items("verify", "b.zip", code=1)

    assert (episode["result"], file["episode"], file["result"]) == ("consistent", "b.zip", "invalid")
    assert said in file["detail"]
    assert "\x1b" not in line("verify", "b.zip").output


def test_a_member_of_a_checkpoint_that_is_too_large_to_be_read_at_once_is_refused(members, tmp_path, monkeypatch):
    monkeypatch.setattr(bundle_reader, "_MAX_AT_ONCE", 10_000)
    made = {**CHECKPOINT, LEAVES: json.dumps(["x" * 20_000]).encode()}
    written(tmp_path / "b.zip", digested({**members, **made}))

    with (
        bundle_reader.Bundle(tmp_path / "b.zip") as bundle,
        pytest.raises(StoreError, match=r"leaves\.json has 20,004 bytes; 10,000 are the most"),
    ):
        bundle.checkpoint()


def test_a_zip_within_a_zip_is_no_checkpoint(line, members, tmp_path):
    inner = io.BytesIO()
    written(inner, members)
    written(tmp_path / "b.zip", digested({**members, **CHECKPOINT, LEAVES: inner.getvalue()}))

    assert "is not JSON" in line.items("verify", "b.zip", code=1)[-1]["detail"]
