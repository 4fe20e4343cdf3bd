import zipfile

import pytest

from spectrace.errors import StoreError
from spectrace.store import admin
from spectrace.store.bundle import file_digest, pack
from spectrace.store.memory import MemoryEventStore
from spectrace.store.soundness import check
from spectrace.store.sql import open_store
from spectrace.store.transfer import GREW, PRESENT, STORED, insert_stored, selection_digest
from spectrace.store.unpacking import unpack
from tests.transfers import NOTHING, Told, blobs_of, chained, events_of, lines_of, with_field, write_episode


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    store = MemoryEventStore()
    for name in ("ep1", "ep2"):
        write_episode(store, name)
    return pack(store, ["ep1", "ep2"], tmp_path_factory.mktemp("bundle") / "a.zip").path


@pytest.fixture
def target(database_url):
    store = open_store(database_url)
    yield store
    store.close()


@pytest.fixture
def sqlite(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    yield store
    store.close()


def test_what_was_packed_comes_out_and_packs_to_the_same_bytes(target, bundle, tmp_path):
    found = unpack(bundle, target)
    again = pack(target, ["ep1", "ep2"], tmp_path / "b.zip")

    assert [(one.episode, one.result) for one in found.arrivals] == [("ep1", STORED), ("ep2", STORED)]
    assert again.sha256 == found.sha256 == file_digest(bundle)
    assert all(blobs_of(target).values())


def test_the_file_is_not_altered(sqlite, bundle):
    before = (bundle.read_bytes(), bundle.stat().st_mtime_ns)
    unpack(bundle, sqlite)

    assert (bundle.read_bytes(), bundle.stat().st_mtime_ns) == before


def test_what_is_here_already_is_skipped_and_nothing_is_written(sqlite, bundle):
    unpack(bundle, sqlite)
    before = events_of(sqlite)

    assert [one.result for one in unpack(bundle, sqlite).arrivals] == [PRESENT, PRESENT]
    assert events_of(sqlite) == before


def test_another_episode_of_the_same_id_is_refused_and_the_others_are_not_held_up(sqlite, bundle):
    write_episode(sqlite, "ep1", seed=2)
    mine = list(sqlite.stored("ep1"))
    found = unpack(bundle, sqlite)
    (episode, why) = found.refused[0]

    assert (episode, [one.episode for one in found.arrivals]) == ("ep1", ["ep2"])
    assert mine[-1].link.hex()[:16] in why
    assert list(sqlite.stored("ep1")) == mine


def test_a_running_episode_that_was_packed_is_gone_on_with_by_a_later_bundle(sqlite, bundle, tmp_path):
    source = MemoryEventStore()
    write_episode(source, "ep1")
    lines = lines_of(source, "ep1")
    other = open_store(str(tmp_path / "other.db"))
    insert_stored(other, "ep1", lines[9].row.link, lines[:10], lambda names: {n: source.blob(n) for n in names})
    early = pack(other, ["ep1"], tmp_path / "early.zip").path
    insert_stored(other, "ep1", lines[-1].row.link, lines, lambda names: {n: source.blob(n) for n in names})
    late = pack(other, ["ep1"], tmp_path / "late.zip").path
    other.close()
    results = [unpack(path, sqlite).arrivals[0].result for path in (early, late, early)]

    assert results == [STORED, GREW, PRESENT]
    assert lines_of(sqlite, "ep1") == lines


def test_an_unpacking_is_on_record(sqlite, bundle):
    found = unpack(bundle, sqlite)
    unpack(bundle, sqlite)
    log = list(sqlite.read(admin.episodes(sqlite.database)[0]))
    told = [event.body for event in log if event.type == "admin.unpacked"]

    assert [(one.source, one.source_digest, one.episodes, one.selection_digest) for one in told] == [
        ("a.zip", f"sha256:{found.sha256}", 2, selection_digest(found.arrivals))
    ]


def test_an_unpacking_that_stopped_is_not_sound_until_it_is_done_again(sqlite, bundle, tmp_path):
    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        unpack(bundle, sqlite, progress=stop)
    stopped = problems(tmp_path / "log.db")
    unpack(bundle, sqlite)

    assert "not all of a.zip was unpacked" in stopped["copies"]
    assert problems(tmp_path / "log.db") == {}


def problems(path):
    return {one.check: one.problem for one in check(str(path)) if one.problem is not None}


def rewritten(bundle, target, change):
    """Write the bundle anew with one member changed, everything else as it is."""
    with zipfile.ZipFile(bundle) as source, zipfile.ZipFile(target, "w") as made:
        for info in source.infolist():
            made.writestr(info, change(info.filename, source.read(info)))
    return target


@pytest.mark.parametrize(
    ("member", "change", "said"),
    [
        ("episodes/ep2.jsonl", (b'"salt":"', b'"salt":"f'), "episodes/ep2.jsonl has the SHA-256"),
        ("FORMAT.md", (b"chain", b"Chain"), "FORMAT.md has the SHA-256"),
        ("manifest.json", (b'"state":"ended"', b'"state":"running"'), "`state` is running there, ended by its"),
    ],
)
def test_a_bundle_that_is_not_intact_is_refused_whole(sqlite, bundle, member, change, said):
    path = sqlite.database.path.with_name("b.zip")
    damaged = rewritten(bundle, path, lambda name, data: data.replace(*change, 1) if name == member else data)
    before = events_of(sqlite)

    with pytest.raises(StoreError, match=rf"b\.zip: .*{said}.*Nothing of it was stored"):
        unpack(damaged, sqlite)
    assert events_of(sqlite) == before


def test_types_versions_and_fields_that_nobody_knows_pack_to_the_same_bytes(target, tmp_path):
    source = MemoryEventStore()
    write_episode(source, "ep1")
    first = lines_of(source, "ep1")
    theirs = chained(
        "ep1",
        [
            first[0],
            with_field(first[1], later={"a": [1, None]}),
            Told("later.type", b'{"nested":{"x":1}}'),
            Told("verdict.given", b'{"quite":"another"}', 9, NOTHING),
            first[-1],
        ],
    )
    one = open_store(str(tmp_path / "one.db"))
    insert_stored(one, "ep1", theirs[-1].row.link, theirs, lambda names: {n: source.blob(n) for n in names})
    packed = pack(one, ["ep1"], tmp_path / "a.zip")
    one.close()
    unpack(packed.path, target)

    assert pack(target, ["ep1"], tmp_path / "b.zip").sha256 == packed.sha256
    assert lines_of(target, "ep1") == theirs


def test_an_administrative_log_comes_along_as_one_and_never_becomes_this_database_s_own(sqlite, bundle, tmp_path):
    other = open_store(str(tmp_path / "other.db"))
    unpack(bundle, other)
    (log,) = admin.episodes(other.database)
    packed = pack(other, [log, "ep1"], tmp_path / "b.zip")
    theirs = list(other.stored(log))
    other.close()
    own = admin.episodes(sqlite.database)
    found = unpack(packed.path, sqlite)
    with sqlite.database.reading() as connection:
        current = admin.current(connection)

    assert {one.episode: one.result for one in found.arrivals} == {log: STORED, "ep1": STORED}
    assert list(sqlite.stored(log)) == theirs
    assert ([current.episode], set(admin.episodes(sqlite.database))) == (own, {*own, log})
