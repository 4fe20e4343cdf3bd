"""Erased events in a bundle: what records the erasure comes along, and everybody who verifies accepts just that."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from spectrace.audit.bundles import verify_bundle
from spectrace.audit.integrity import CONSISTENT, INVALID, verify_episode
from spectrace.store.bundle import pack
from spectrace.store.erasing import Order, erase
from spectrace.store.erasing_plan import Named
from spectrace.store.sql import open_store
from spectrace.store.unpacking import unpack
from tests.shop_log import recorded
from tests.transfers import lines_of

VERIFIER = Path(__file__).resolve().parents[1] / "bundle_verifier.py"
SEQ = 5
FIRST = 4
"""It says what event 5 says, so it is erased with it."""


@pytest.fixture(scope="module")
def erased(tmp_path_factory):
    """A log with an episode of which two events were erased, and one that is whole; both packed."""
    directory = tmp_path_factory.mktemp("erased")
    store = open_store(str(directory / "log.db"))
    episode, other = recorded(store), recorded(store)
    erase(store, Named(((episode, SEQ), (episode, SEQ + 1))), Order("ana", "asked for"))
    (log,) = store.administrative()
    pack(store, [episode, other], directory / "a.zip")
    yield store, episode, other, log, directory / "a.zip"
    store.close()


def without(path, target, name):
    """Write the bundle without an episode, as somebody who knows the format would."""
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(target, "w") as made:
        for info in source.infolist():
            data = source.read(info)
            if info.filename == "manifest.json":
                said = json.loads(data)
                said["episodes"] = [one for one in said["episodes"] if one["episode"] != name]
                del said["members"][f"episodes/{name}.jsonl"]
                data = json.dumps(said).encode()
            if info.filename != f"episodes/{name}.jsonl":
                made.writestr(info, data)
    return target


def results(path):
    return {one.episode: (one.result, one.first_bad_seq) for one in verify_bundle(path).results}


def by_hand(path):
    done = subprocess.run([sys.executable, "-S", "-I", VERIFIER, path], capture_output=True, text=True, check=False)
    return {one["episode"]: (one["result"], one["seq"]) for one in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("verified", [results, by_hand])
def test_the_administrative_log_that_records_it_comes_along_and_all_is_consistent(erased, verified):
    _, episode, other, log, path = erased

    assert verified(path) == dict.fromkeys((log, episode, other), (CONSISTENT, None))


@pytest.mark.parametrize("verified", [results, by_hand])
def test_without_the_record_the_first_erased_event_is_missing(erased, verified, tmp_path):
    _, episode, other, log, path = erased
    found = verified(without(path, tmp_path / "b.zip", log))

    assert (found[episode], found[other]) == ((INVALID, FIRST), (CONSISTENT, None))


def test_a_bundle_of_which_nothing_was_erased_brings_no_administrative_log(erased, tmp_path):
    store, _, other, _, _ = erased

    assert [one.episode for one in pack(store, [other], tmp_path / "b.zip").episodes] == [other]


def test_unpacked_it_is_as_it_was_and_packs_to_the_same_bytes(erased, tmp_path):
    store, episode, other, log, path = erased
    target = open_store(str(tmp_path / "other.db"))
    found = unpack(path, target)
    again = pack(target, [episode, other], tmp_path / "b.zip")
    told = (verify_episode(target, episode).result, lines_of(target, other))
    target.close()

    assert {one.episode for one in found.arrivals} == {episode, other, log}
    assert told == (CONSISTENT, lines_of(store, other))
    assert again.path.read_bytes() == path.read_bytes()


def test_nothing_of_what_was_erased_is_in_the_file(erased):
    *_, path = erased
    with zipfile.ZipFile(path) as archive:
        lines = [json.loads(line) for line in archive.read(f"episodes/{erased[1]}.jsonl").splitlines()]

    assert [line["body"] for line in lines[SEQ : SEQ + 2]] == [None, None]
    assert all("salt" not in line and len(line["proof"]) == 64 for line in lines[SEQ : SEQ + 2])
