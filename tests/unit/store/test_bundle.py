import hashlib
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from spectrace.errors import StoreError, UsageError
from spectrace.store.bundle import file_digest, pack
from spectrace.store.bundle_checkpoint import BundleCheckpoint, Inclusion
from spectrace.store.bundle_reader import Bundle
from spectrace.store.manifest import Period
from spectrace.store.memory import MemoryEventStore
from spectrace.store.sql import open_store
from spectrace.store.zip_members import LIMITS, Limits
from tests.damage import damage
from tests.transfers import write_episode

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def store():
    made = MemoryEventStore()
    for name in ("ep2", "ep1"):
        write_episode(made, name)
    return made


@pytest.fixture
def packed(store, tmp_path):
    return pack(store, ["ep2", "ep1"], tmp_path / "a.zip")


def members(path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_same_episodes_give_the_same_bytes(store, packed, tmp_path):
    again = pack(store, ["ep1", "ep2", "ep1"], tmp_path / "b.zip")

    assert (again.sha256, again.bytes, again.episodes) == (packed.sha256, packed.bytes, packed.episodes)
    assert packed.path.read_bytes() == again.path.read_bytes()
    assert packed.sha256 == file_digest(packed.path) == hashlib.sha256(packed.path.read_bytes()).hexdigest()


def test_members_are_plain_files_with_a_fixed_time_in_a_fixed_order(packed):
    with zipfile.ZipFile(packed.path) as archive:
        infos = archive.infolist()

    assert {(info.date_time, info.create_system, info.external_attr) for info in infos} == {
        ((1980, 1, 1, 0, 0, 0), 3, 0o100644 << 16)
    }
    names = [info.filename for info in infos]
    assert names[:2] == ["episodes/ep1.jsonl", "episodes/ep2.jsonl"]
    assert [name for name in names if name.startswith("blobs/")] == sorted(n for n in names if n.startswith("blobs/"))
    assert names[-1] == "manifest.json"


def test_each_line_is_an_event_and_each_blob_is_named_by_its_digest(store, packed):
    found = members(packed.path)
    lines = [json.loads(line) for line in found["episodes/ep1.jsonl"].splitlines()]
    stored = list(store.stored("ep1"))
    blobs = {name: data for name, data in found.items() if name.startswith("blobs/")}

    assert [(line["header"].encode(), line["body"].encode()) for line in lines] == [(e.header, e.body) for e in stored]
    assert blobs
    assert {f"blobs/sha256/{hashlib.sha256(data).hexdigest()}" for data in blobs.values()} == set(blobs)


def test_it_says_what_it_is_and_carries_what_its_reader_needs(packed):
    found = members(packed.path)
    manifest = json.loads(found["manifest.json"])
    types = {tuple(json.loads(json.loads(line)["header"])[3:5]) for line in found["episodes/ep1.jsonl"].splitlines()}

    Draft202012Validator(json.loads(found["schemas/bundle.v1.json"])).validate(manifest)
    assert found["FORMAT.md"] == (ROOT / "schemas" / "FORMAT.md").read_bytes()
    assert {name for name in found if name.startswith("schemas/events/")} == {
        f"schemas/events/{type_}.v{version}.json" for type_, version in types
    }
    assert [(one["episode"], one["state"]) for one in manifest["episodes"]] == [("ep1", "ended"), ("ep2", "ended")]
    assert {name: hashlib.sha256(found[name]).hexdigest() for name in manifest["members"]} == {
        name: one["sha256"] for name, one in manifest["members"].items()
    }


def test_an_unfinished_episode_is_packed_as_far_as_it_was_committed(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    lines = MemoryEventStore()
    write_episode(lines, "x")
    started = next(lines.read("x"))
    writer = store.create("ep1", started.body, started.at)
    (entry,) = pack(store, ["ep1"], tmp_path / "a.zip").episodes
    writer.close()
    store.close()

    assert (entry.state, entry.events, entry.ended_at) == ("running", 1, None)


def test_an_episode_that_is_not_intact_is_refused_and_leaves_no_file(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    write_episode(store, "ep1")
    store.close()
    damage(tmp_path / "log.db", "UPDATE blobs SET codec = 0, bytes = x'00'")
    store = open_store(str(tmp_path / "log.db"), read_only=True)
    before = sorted(tmp_path.iterdir())

    with pytest.raises(StoreError, match="holds other bytes than its name says"):
        pack(store, ["ep1"], tmp_path / "a.zip")
    store.close()
    assert [path for path in sorted(tmp_path.iterdir()) if path not in before] == []


def test_nothing_is_no_bundle(store, tmp_path):
    with pytest.raises(UsageError, match="at least one episode"):
        pack(store, [], tmp_path / "a.zip")


def test_progress_is_told_after_each_episode(store, tmp_path):
    told = []
    pack(store, ["ep1", "ep2"], tmp_path / "a.zip", progress=lambda done, of: told.append((done, of)))

    assert told == [(1, 2), (2, 2)]


def test_what_packs_as_well_as_a_zip_bomb_is_stored_plainly_so_that_its_reader_takes_it(store, packed, tmp_path):
    strict = Limits(free=1000, ratio=3)
    with pytest.raises(StoreError, match="a zip bomb does"):
        Bundle(packed.path, strict)
    found = pack(store, ["ep1", "ep2"], tmp_path / "b.zip", limits=strict)
    again = pack(store, ["ep1", "ep2"], tmp_path / "c.zip", limits=strict)
    with zipfile.ZipFile(found.path) as archive:
        methods = {info.compress_type for info in archive.infolist()}

    with Bundle(found.path, strict) as bundle:
        bundle.check_members()
    assert methods == {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
    assert members(found.path) == members(packed.path)
    assert (found.sha256, found.bytes) == (again.sha256, found.path.stat().st_size)


@pytest.mark.parametrize("limits", [Limits(bytes=5000), Limits(members=3)])
def test_what_no_reader_would_take_is_not_written(store, tmp_path, limits):
    with pytest.raises(StoreError, match=r"no reader .*acks? fewer"):
        pack(store, ["ep1"], tmp_path / "a.zip", limits=limits)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_text_that_packs_a_thousand_times_is_packed_and_read_again(tmp_path):
    source = MemoryEventStore()
    write_episode(source, "ep1")
    bodies = [event.body for event in source.read("ep1")]
    started = replace(bodies[0], task=replace(bodies[0].task, request="0" * (LIMITS.free + 1)))
    store = MemoryEventStore()
    store.create("ep1", started, 5).close()
    found = pack(store, ["ep1"], tmp_path / "a.zip")

    with Bundle(found.path) as bundle:
        bundle.check_members()


def test_a_checkpoint_and_a_period_go_in_as_they_are_given(store, packed, tmp_path):
    held = BundleCheckpoint("note\n", (b'["ep1"]', b'["ep3"]'), {"ep1": Inclusion(0, (b"h" * 32,))})
    path = pack(store, ["ep1", "ep2"], tmp_path / "b.zip", checkpoint=held, period=Period(1, 2)).path
    again = pack(store, ["ep2", "ep1"], tmp_path / "c.zip", checkpoint=held, period=Period(1, 2)).path
    with Bundle(path) as bundle:
        bundle.check_members()
        told = bundle.checkpoint(), bundle.manifest.period
    with Bundle(packed.path) as bundle:
        without = bundle.checkpoint(), bundle.manifest.period

    assert (told, without) == ((held, Period(1, 2)), (None, None))
    assert path.read_bytes() == again.read_bytes()
    Draft202012Validator(json.loads(members(path)["schemas/bundle.v1.json"])).validate(
        json.loads(members(path)["manifest.json"])
    )
