"""A bundle with a checkpoint: what it proves, to us and to a program that follows FORMAT.md with `cryptography`."""

import json
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pytest

from spectrace.audit.bundles import Trust, verify_bundle
from spectrace.audit.checkpoint_files import Held, read
from spectrace.audit.checkpoints import Created, create
from spectrace.audit.packing import given
from spectrace.audit.signing import Signer
from spectrace.core.notes import Checkpoint, parse_checkpoint, parse_key, parse_note
from spectrace.store.bundle import pack, with_logs
from spectrace.store.bundle_checkpoint import LEAVES, NOTE, PROOFS
from spectrace.store.erasing import Order, erase
from spectrace.store.erasing_plan import Named
from spectrace.store.manifest import Period
from spectrace.store.sql import SqlEventStore, open_store
from tests.shop_log import recorded

VERIFIER = Path(__file__).resolve().parents[1] / "bundle_verifier.py"
OWNER, STRANGER = Signer("desk.example/log", b"o" * 32), Signer("desk.example/log", b"x" * 32)
KEY = str(OWNER.key)

Results = Mapping[str | None, str]
Verify = Callable[..., Results]


@dataclass(frozen=True)
class Log:
    """A log of four episodes, one with erased events; a checkpoint was made after three of them."""

    store: SqlEventStore
    episodes: Sequence[str]
    log: str
    note: Path
    directory: Path

    def pack(self, name: str, episodes: Sequence[str], period: Period | None = None, note: Path | None = None) -> Path:
        """Pack episodes with the checkpoint."""
        chosen = with_logs(self.store, episodes)
        tree = given(note or self.note, self.store).proved(chosen)
        return pack(self.store, episodes, self.directory / name, period=period, checkpoint=tree, force=True).path


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    directory = tmp_path_factory.mktemp("signed")
    store = open_store(str(directory / "log.db"))
    episodes = [recorded(store) for _ in range(3)]
    erase(store, Named(((episodes[0], 5),)), Order("ana", "asked for"))
    assert isinstance(create(store, OWNER, directory / "note"), Created)
    (log_,) = store.administrative()
    episodes.append(recorded(store))
    yield Log(store, episodes, log_, directory / "note", directory)
    store.close()


def ours(path: Path, key: str = KEY, held: Held | None = None) -> Results:
    found = verify_bundle(path, Trust(parse_key(key), held)).results
    return {None if one.episode == path.name else one.episode: one.result for one in found}


def by_hand(path: Path, key: str = KEY) -> Results:
    done = subprocess.run([sys.executable, "-I", VERIFIER, path, key], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return {one["episode"]: one["result"] for one in map(json.loads, done.stdout.splitlines())}


BOTH = pytest.mark.parametrize("verified", [ours, by_hand])
WHOLE = Period(None, None)


@BOTH
def test_what_was_signed_is_valid_and_what_is_newer_is_consistent(log, verified):
    first, second, third, newer = log.episodes
    path = log.pack("a.zip", log.episodes, WHOLE)

    assert verified(path) == {
        first: "valid",
        second: "valid",
        third: "valid",
        newer: "consistent",
        log.log: "valid",
    }


@BOTH
def test_an_episode_of_the_period_that_is_not_in_it_is_named(log, verified):
    first, second, third, _ = log.episodes
    left_out = verified(log.pack("b.zip", [first, third], WHOLE))
    claiming_nothing = verified(log.pack("b.zip", [first, third]))

    assert (left_out[second], left_out[first]) == ("invalid", "valid")
    assert second not in claiming_nothing


@BOTH
def test_a_period_asks_for_what_began_in_it_and_for_no_more(log, verified):
    first, second, third, _ = log.episodes
    begun = [log.store.row(one).started_at for one in (second, third)]
    period = verified(log.pack("c.zip", [second], Period(begun[0], begun[1])))
    longer = verified(log.pack("c.zip", [second], Period(begun[0], begun[1] + 1)))

    assert (set(period), period[second]) == ({second}, "valid")
    assert (longer[third], first in longer) == ("invalid", False)


def test_the_verifier_s_own_period_counts_before_the_bundle_s(log):
    first, second, third, _ = log.episodes
    path = log.pack("b.zip", [first, third])
    asked = Trust(parse_key(KEY), None, WHOLE)
    (missing,) = [one for one in verify_bundle(path, asked).results if one.result == "invalid"]

    assert (missing.episode, "it was left out" in missing.detail) == (second, True)


def changed(path: Path, target: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """Write the bundle with other members, and a manifest that names them as they are."""
    with zipfile.ZipFile(path) as source:
        members = {name: source.read(name) for name in source.namelist()}
    change(members)
    said = json.loads(members["manifest.json"])
    said["members"] = {
        name: {"sha256": sha256(data).hexdigest(), "bytes": len(data)}
        for name, data in members.items()
        if name != "manifest.json" and not name.startswith("blobs/")
    }
    there = {name.removeprefix("episodes/").removesuffix(".jsonl") for name in members if name.startswith("episodes/")}
    said["episodes"] = [one for one in said["episodes"] if one["episode"] in there]
    members["manifest.json"] = json.dumps(said).encode()
    with zipfile.ZipFile(target, "w") as made:
        for name, data in members.items():
            made.writestr(name, data)
    return target


def without_leaf(episode: str) -> Callable[[dict[str, bytes]], None]:
    def change(members: dict[str, bytes]) -> None:
        del members[f"episodes/{episode}.jsonl"]
        leaves, proofs = json.loads(members[LEAVES]), json.loads(members[PROOFS])
        del proofs[episode]
        members[LEAVES] = json.dumps([one for one in leaves if episode not in one]).encode()
        members[PROOFS] = json.dumps(proofs).encode()

    return change


def other_leaf(members: dict[str, bytes]) -> None:
    members[LEAVES] = members[LEAVES].replace(b",46,", b",45,", 1)


def other_proof(members: dict[str, bytes]) -> None:
    proofs = json.loads(members[PROOFS])
    for one in proofs.values():
        one["index"] = 0
    members[PROOFS] = json.dumps(proofs).encode()


def other_note(members: dict[str, bytes]) -> None:
    members[NOTE] = members[NOTE].replace(b"at 1", b"at 2")


@pytest.mark.parametrize("change", [other_leaf, other_proof, other_note])
@BOTH
def test_an_altered_part_of_the_checkpoint_leaves_nothing_valid(log, tmp_path, verified, change):
    path = log.pack("a.zip", log.episodes, WHOLE)
    found = verified(changed(path, tmp_path / "b.zip", change))

    assert "valid" not in found.values()
    assert set(found.values()) & {"invalid", "unknown"}


@BOTH
def test_an_episode_taken_out_with_its_leaf_is_found_by_the_root(log, tmp_path, verified):
    path = log.pack("a.zip", log.episodes, WHOLE)
    found = verified(changed(path, tmp_path / "b.zip", without_leaf(log.episodes[1])))

    assert found[None] == "invalid"
    assert "valid" not in found.values()


@BOTH
def test_another_key_knows_nothing(log, verified):
    assert "valid" not in verified(log.pack("a.zip", log.episodes, WHOLE), str(STRANGER.key)).values()


def test_without_a_signature_by_the_key_all_is_unknown_and_why_is_said(log):
    found = verify_bundle(log.pack("a.zip", log.episodes, WHOLE), Trust(STRANGER.key)).results

    assert {one.result for one in found} == {"unknown"}
    assert all("was not signed by desk.example/log" in one.detail for one in found)


def test_without_a_key_it_is_consistent_and_no_more(log):
    found = verify_bundle(log.pack("a.zip", log.episodes, WHOLE)).results

    assert {one.result for one in found} == {"consistent"}


class TestHeldElsewhere:
    """A checkpoint that whoever packed the bundle could not choose."""

    def test_an_older_one_of_the_same_history_fits(self, log, tmp_path):
        create(log.store, OWNER, tmp_path / "later")
        path = log.pack("d.zip", log.episodes, WHOLE, tmp_path / "later")

        assert set(ours(path, held=read(log.note)).values()) == {"valid"}

    def test_a_newer_one_fits_with_its_leaves_and_without_them_nothing_is_known(self, log, tmp_path):
        create(log.store, OWNER, tmp_path / "later")
        path, held = log.pack("d.zip", log.episodes[:3], WHOLE), read(tmp_path / "later")
        alone = Held(held.path, held.note, held.checkpoint, None, "later.leaves is not there")

        assert set(ours(path, held=held).values()) == {"valid"}  # what was signed since was not left out
        assert set(ours(path, held=alone).values()) == {"unknown"}

    def test_who_asks_for_a_period_is_told_what_was_signed_in_it_since(self, log, tmp_path):
        create(log.store, OWNER, tmp_path / "later")
        asked = Trust(parse_key(KEY), read(tmp_path / "later"), WHOLE)
        found = verify_bundle(log.pack("d.zip", log.episodes[:3], WHOLE), asked)

        assert [one.episode for one in found.results if one.result == "unknown"] == [log.episodes[3]]
        assert (found.scope.result, "1 run of the period signed since" in found.scope.detail) == ("unknown", True)

    def test_one_of_a_rewritten_history_does_not(self, log, tmp_path):
        leaves = read(log.note).leaves or ()
        other = (*leaves[:-1], leaves[-1].replace(b'"desk"', b'"attic"').replace(b'"default"', b'"other"'))
        checkpoint = parse_checkpoint(parse_note(log.note.read_text()).text)
        forged = OWNER.sign(str(Checkpoint(checkpoint.origin, checkpoint.size, b"\1" * 32, checkpoint.extensions)))
        held = Held(tmp_path / "held", forged, parse_checkpoint(forged.text), other)
        found = ours(log.pack("a.zip", log.episodes, WHOLE), held=held)

        assert found[None] == "invalid"
        assert "valid" not in found.values()

    def test_one_that_the_key_did_not_sign_says_nothing(self, log):
        found = ours(log.pack("a.zip", log.episodes, WHOLE), str(STRANGER.key), read(log.note))

        assert set(found.values()) == {"unknown"}

    def test_a_bundle_without_a_checkpoint_is_compared_with_the_leaves_beside_the_file(self, log, tmp_path):
        path = pack(log.store, log.episodes, tmp_path / "plain.zip").path
        held = read(log.note)
        alone = Held(held.path, held.note, held.checkpoint, None, "note.leaves is not there")

        assert ours(path, held=held)[log.episodes[0]] == "valid"
        assert set(ours(path, held=alone).values()) == set(ours(path).values()) == {"unknown"}


@BOTH
def test_the_end_of_an_episode_that_was_cut_off_is_found_though_the_manifest_says_so(log, tmp_path, verified):
    episode = log.episodes[1]

    def cut(members: dict[str, bytes]) -> None:
        name = f"episodes/{episode}.jsonl"
        lines = members[name].splitlines(keepends=True)[:20]
        said = json.loads(members["manifest.json"])
        (entry,) = [one for one in said["episodes"] if one["episode"] == episode]
        entry |= {"events": 20, "head": json.loads(lines[-1])["link"], "state": "interrupted", "ended_at": None}
        members[name], members["manifest.json"] = b"".join(lines), json.dumps(said).encode()

    found = verified(changed(log.pack("a.zip", log.episodes[:3], WHOLE), tmp_path / "b.zip", cut))

    assert (found[episode], found[log.episodes[2]]) == ("invalid", "valid")


def test_the_same_log_and_checkpoint_give_the_same_bytes(log):
    first = log.pack("a.zip", log.episodes, WHOLE).read_bytes()

    assert log.pack("a.zip", list(reversed(log.episodes)), WHOLE).read_bytes() == first
