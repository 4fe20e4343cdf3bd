"""FORMAT.md is enough: a program that follows it, with the standard library alone, verifies and finds damage."""

import hashlib
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from spectrace.audit.bundles import verify_bundle
from spectrace.audit.integrity import CONSISTENT, INVALID
from spectrace.errors import StoreError
from spectrace.store.bundle import pack
from spectrace.store.bundle_reader import Bundle
from spectrace.store.sql import open_store
from spectrace.store.unpacking import verify
from tests.shop_log import recorded
from tests.transfers import write_episode

VERIFIER = Path(__file__).resolve().parents[1] / "bundle_verifier.py"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    directory = tmp_path_factory.mktemp("bundle")
    store = open_store(str(directory / "log.db"))
    write_episode(store, "ep2")
    episode = recorded(store)
    packed = pack(store, [episode, "ep2"], directory / "a.zip")
    store.close()
    return packed.path, episode


def verified(path) -> tuple[int, list[dict]]:
    done = subprocess.run(
        [sys.executable, "-S", "-I", VERIFIER, path], capture_output=True, text=True, check=False, env={}
    )
    assert done.stderr == ""
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def test_it_imports_nothing_that_is_not_python_s_own():
    code = (
        f"import runpy, sys; runpy.run_path({str(VERIFIER)!r}); "
        "print(sorted(n for n in {m.split('.')[0] for m in sys.modules} - sys.stdlib_module_names))"
    )
    done = subprocess.run([sys.executable, "-S", "-I", "-c", code], capture_output=True, text=True, check=True)

    assert [name for name in json.loads(done.stdout.replace("'", '"')) if "spectrace" in name] == []


def test_an_intact_bundle_is_consistent_and_never_called_valid(bundle):
    path, episode = bundle
    code, found = verified(path)

    assert (code, {one["episode"]: one["result"] for one in found}) == (0, {episode: "consistent", "ep2": "consistent"})


class Forger:
    """Somebody who has the file and knows the format."""

    def __init__(self, path, episode):
        with zipfile.ZipFile(path) as archive:
            self.members = {info.filename: archive.read(info) for info in archive.infolist()}
        self.name = f"episodes/{episode}.jsonl"
        self.lines = [json.loads(line) for line in self.members[self.name].splitlines()]

    def write(self, path, *, manifest=True, chain=False):
        """Write the bundle with the manifest's digests, number and (with `chain`) head and links put right."""
        episode = self.name.removeprefix("episodes/").removesuffix(".jsonl")
        if chain:
            self.relink(episode)
        self.members[self.name] = b"".join(json.dumps(line).encode() + b"\n" for line in self.lines)
        said = json.loads(self.members["manifest.json"])
        if manifest:
            data = self.members[self.name]
            said["members"][self.name] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        if chain:
            (entry,) = (one for one in said["episodes"] if one["episode"] == episode)
            entry.update(events=len(self.lines), head=self.lines[-1]["link"])
            *_, type_, _, at = json.loads(self.lines[-1]["header"])[:6]
            ended = type_ == "episode.ended"
            entry.update(state="ended" if ended else "interrupted", ended_at=at if ended else None)
        self.members["manifest.json"] = json.dumps(said).encode()
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in self.members.items():
                archive.writestr(name, data)
        return path

    def relink(self, episode):
        link = hashlib.sha256(b"spectrace.v1" + episode.encode()).digest()
        for seq, line in enumerate(self.lines):
            header = json.loads(line["header"])
            line["header"] = json.dumps([header[0], seq, *header[2:]], separators=(",", ":"))
            proof = hashlib.sha256(bytes.fromhex(line["salt"]) + line["body"].encode()).digest()
            link = hashlib.sha256(link + hashlib.sha256(line["header"].encode()).digest() + proof).digest()
            line["link"] = link.hex()


def body(forger):
    forger.lines[20]["body"] = forger.lines[20]["body"].replace("e", "f", 1)


def header(forger):
    forger.lines[20]["header"] = forger.lines[20]["header"].replace("20,", "20 ,", 1)


def time(forger):
    values = json.loads(forger.lines[20]["header"])
    values[5] += 1
    forger.lines[20]["header"] = json.dumps(values, separators=(",", ":"))


def salt(forger):
    forger.lines[20]["salt"] = "00" * 16


def link(forger):
    forger.lines[20]["link"] = "00" * 32


def version(forger):
    values = json.loads(forger.lines[20]["header"])
    values[4] += 1
    forger.lines[20]["header"] = json.dumps(values, separators=(",", ":"))


def swapped(forger):
    forger.lines[20], forger.lines[21] = forger.lines[21], forger.lines[20]


def removed(forger):
    del forger.lines[20]


def added(forger):
    forger.lines.insert(20, forger.lines[20])


@pytest.mark.parametrize("change", [body, header, time, salt, link, version, swapped, removed, added])
def test_each_change_is_found_at_its_event_though_the_manifest_was_put_right(bundle, tmp_path, change):
    path, episode = bundle
    forger = Forger(path, episode)
    before = json.dumps(forger.lines)
    change(forger)
    assert json.dumps(forger.lines) != before
    code, found = verified(forger.write(tmp_path / "b.zip"))

    where = 21 if change is added else 20
    assert (code, [(one["episode"], one["seq"]) for one in found if one["result"] == "invalid"]) == (
        1,
        [(episode, where)],
    )


def test_an_altered_blob_is_found_at_the_event_that_needs_it(bundle, tmp_path):
    path, episode = bundle
    forger = Forger(path, episode)
    name = json.loads(forger.lines[0]["body"])["prompts"]["$blob"].removeprefix("sha256:")
    data = bytearray(forger.members[f"blobs/sha256/{name}"])
    data[10] ^= 1
    forger.members[f"blobs/sha256/{name}"] = bytes(data)
    code, found = verified(forger.write(tmp_path / "b.zip"))

    assert code == 1
    assert next(one["seq"] for one in found if one["episode"] == episode) == 0


def test_removing_the_last_events_is_found_by_the_manifest_alone(bundle, tmp_path):
    path, episode = bundle
    forger = Forger(path, episode)
    del forger.lines[-3:]
    code, found = verified(forger.write(tmp_path / "b.zip"))

    told = next(one for one in found if one["episode"] == episode)
    assert (code, told["result"], told["seq"]) == (1, "invalid", 43)


@pytest.mark.parametrize("change", [{"started_at": 1}, {"ended_at": None}, {"ended_at": 1}, {"state": "running"}])
def test_a_manifest_that_tells_another_start_or_end_is_found_by_the_verifier_by_verify_and_by_unpack(
    bundle, tmp_path, change
):
    path, episode = bundle
    forger = Forger(path, episode)
    manifest = json.loads(forger.members["manifest.json"])
    next(one for one in manifest["episodes"] if one["episode"] == episode).update(change)
    forger.members["manifest.json"] = json.dumps(manifest).encode()
    altered = forger.write(tmp_path / "b.zip")
    code, found = verified(altered)

    assert (code, [one["episode"] for one in found if one["result"] == "invalid"]) == (1, [episode])
    results = [
        next(one.result for one in verify_bundle(file).results if one.episode == episode) for file in (path, altered)
    ]
    assert results == [CONSISTENT, INVALID]
    with Bundle(altered) as read, pytest.raises(StoreError, match=f"{episode} is not what the manifest says"):
        verify(read)


@pytest.mark.parametrize("change", [body, removed, lambda forger: forger.lines.pop()])
def test_a_history_rewritten_with_its_chain_and_manifest_is_consistent_which_is_why_that_proves_nothing(
    bundle, tmp_path, change
):
    path, episode = bundle
    forger = Forger(path, episode)
    change(forger)
    code, found = verified(forger.write(tmp_path / "b.zip", chain=True))

    assert (code, {one["result"] for one in found}) == (0, {"consistent"})


def test_a_member_that_was_changed_is_found(bundle, tmp_path):
    path, episode = bundle
    forger = Forger(path, episode)
    forger.members["FORMAT.md"] += b" "
    code, found = verified(forger.write(tmp_path / "b.zip"))

    assert (code, found[-1]["detail"]) == (1, "FORMAT.md is not the one that the manifest names")
