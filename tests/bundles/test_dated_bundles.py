"""A bundle of a log that went on: settled, recorded into and signed again, while the bundle lay as it was packed."""

import json
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from spectrace.audit import checkpoint_files
from spectrace.audit.bundles import Trust, verify_bundle
from spectrace.audit.checkpoints import create
from spectrace.audit.packing import given
from spectrace.audit.settling import settle
from spectrace.audit.signing import Signer
from spectrace.store.bundle import pack
from spectrace.store.event_store import Pending
from spectrace.store.manifest import Period
from spectrace.store.sql import open_store
from tests.damage import damage
from tests.episodes import recorded_events
from tests.shop_log import recorded

OWNER, STRANGER = Signer("desk.example/log", b"o" * 32), Signer("desk.example/log", b"x" * 32)
ASKED, WHOLE = 30, Period(None, None)


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """A directory: `first` and `second` are checkpoints, between which an episode grew and another was recorded."""
    directory = tmp_path_factory.mktemp("grown")
    store = open_store(str(directory / "log.db"))
    events = recorded_events()
    writer = store.create("cut", events[0].body, events[0].at)
    writer.append([Pending(one.seq, one.lane, one.at, one.body) for one in events[1 : ASKED + 1]], durable=True)
    writer.close()
    create(store, OWNER, directory / "first")
    signed = given(directory / "first", store).proved(["cut"])
    pack(store, ["cut"], directory / "dated.zip", period=WHOLE, checkpoint=signed)
    pack(store, ["cut"], directory / "plain.zip")
    pack(store, ["cut"], directory / "by_another.zip", checkpoint=resigned(directory / "first", signed))
    settle(store, "cut", ASKED, "never", evidence="looked", by="ann")
    recorded(store)
    create(store, OWNER, directory / "second")
    signed = given(directory / "second", store).proved(["cut"])
    pack(store, ["cut"], directory / "later.zip", checkpoint=signed)
    store.close()
    return directory


def resigned(path: Path, signed):
    note = STRANGER.sign(checkpoint_files.read(path).note.text)
    return type(signed)(str(note), signed.leaves, signed.proofs)


def verified(path: Path, held: str = "second", period: Period | None = None):
    trust = Trust(OWNER.key, checkpoint_files.read(path.with_name(held)), period)
    found = verify_bundle(path, trust)
    return {one.episode: one for one in found.results}, found.scope


def test_an_untouched_bundle_stays_valid_when_the_log_went_on(grown):
    found, scope = verified(grown / "dated.zip")

    assert {name: (one.result, one.covered_to) for name, one in found.items()} == {"cut": ("valid", ASKED)}
    assert "it has gone on since: a later checkpoint has 33 events of it" in found["cut"].detail
    assert scope.result == "valid"
    assert scope.detail.startswith("it is complete for the whole log: every run of it that was signed for when its")
    assert scope.detail.endswith("; 1 run of the period signed since, and not in it")


def cut(path: Path, target: Path, keep: int) -> Path:
    """Write a bundle whose episode ends after so many events, with a manifest that says so."""
    with zipfile.ZipFile(path) as source:
        members = {name: source.read(name) for name in source.namelist()}
    lines = members["episodes/cut.jsonl"].splitlines(keepends=True)[:keep]
    said = json.loads(members["manifest.json"])
    said["episodes"][0] |= {
        "events": keep,
        "head": json.loads(lines[-1])["link"],
        "state": "interrupted",
        "ended_at": None,
    }
    data = members["episodes/cut.jsonl"] = b"".join(lines)
    said["members"]["episodes/cut.jsonl"] = {"sha256": sha256(data).hexdigest(), "bytes": len(data)}
    needed = json.dumps([json.loads(line) for line in lines])
    for name in [one for one in members if one.startswith("blobs/") and one[-64:] not in needed]:
        said["blobs"]["count"] -= 1
        said["blobs"]["bytes"] -= len(members.pop(name))
    members["manifest.json"] = json.dumps(said).encode()
    with zipfile.ZipFile(target, "w") as made:
        for name, data in members.items():
            made.writestr(name, data)
    return target


@pytest.mark.parametrize(("bundle", "keep"), [("dated.zip", ASKED), ("later.zip", ASKED + 1), ("later.zip", 20)])
def test_what_is_shorter_than_by_its_own_checkpoint_was_cut(grown, bundle, keep):
    path = cut(grown / bundle, grown / "made.zip", keep)
    found, _ = verified(path)

    assert (found["cut"].result, found["cut"].first_bad_seq) == ("invalid", keep)
    assert "its end was cut off" in found["cut"].detail


@pytest.mark.parametrize("bundle", ["plain.zip", "by_another.zip"])
def test_without_a_signed_date_an_earlier_state_may_be_a_cut_one(grown, bundle):
    found, _ = verified(grown / bundle)

    assert (found["cut"].result, found["cut"].covered_to) == ("unknown", ASKED)
    assert "packed before that, or cut" in found["cut"].detail


def test_without_a_signed_date_what_no_leaf_reaches_was_cut(grown):
    found, _ = verified(cut(grown / "plain.zip", grown / "made.zip", 20))

    assert (found["cut"].result, found["cut"].first_bad_seq) == ("invalid", 20)


def test_a_bundle_that_claims_no_period_says_how_many_are_signed_for_and_not_in_it(grown):
    _, scope = verified(grown / "later.zip")

    assert (scope.episode, scope.result) == ("later.zip", "consistent")
    assert scope.detail.endswith("whether anything was left out is not said: 1 run signed for is not in it")


def test_the_holder_s_period_names_what_was_left_out(grown):
    found, scope = verified(grown / "later.zip", period=WHOLE)

    assert [one.result for name, one in found.items() if name != "cut"] == ["invalid"]
    assert (scope.result, scope.detail) == ("invalid", "it is not complete for the whole log: 1 run left out")


def test_a_bundle_under_a_checkpoint_that_was_signed_by_force_says_so(tmp_path):
    path = tmp_path / "log.db"
    store = open_store(str(path))
    first, _ = recorded(store), recorded(store)
    damage(path, "UPDATE events SET at = 1 WHERE key % 1048576 = 5 AND key > 1048576 * 2")
    assert len(create(store, OWNER, tmp_path / "cp", force=True).problems) == 1
    pack(store, [first], tmp_path / "a.zip", checkpoint=given(tmp_path / "cp", store).proved([first]))
    store.close()
    found = verify_bundle(tmp_path / "a.zip", Trust(OWNER.key)).results

    assert [(one.episode, one.result) for one in found] == [(first, "valid"), ("a.zip", "unknown")]
