"""Whatever happens to a file, what is read from it is what was written, or the damage is said: never a silent loss."""

import io
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spectrace.audit.bundles import verify_bundle
from spectrace.audit.integrity import CONSISTENT, INVALID, verify_episode
from spectrace.errors import StoreError, UsageError
from spectrace.interchange.jsonl_export import export_jsonl
from spectrace.interchange.jsonl_import import import_jsonl
from spectrace.interchange.jsonl_scan import scan
from spectrace.store.bundle import pack
from spectrace.store.bundle_reader import Bundle
from spectrace.store.lines import parse_line
from spectrace.store.memory import MemoryEventStore
from spectrace.store.sql import open_store
from spectrace.store.unpacking import verify
from tests.shop_log import recorded
from tests.transfers import lines_of

DAMAGE = st.tuples(
    st.sampled_from(["flip", "cut", "drop", "zero", "insert", "twice"]),
    st.floats(0, 1, exclude_max=True),
    st.integers(1, 600),
    st.binary(min_size=1, max_size=5),
)


def damaged(data: bytes, kind: str, where: float, length: int, extra: bytes) -> bytes:
    at = int(where * len(data))
    match kind:
        case "flip":
            return data[:at] + bytes([data[at] ^ (1 << length % 8)]) + data[at + 1 :]
        case "cut":
            return data[:at]
        case "drop":
            return data[:at] + data[at + length :]
        case "zero":
            return data[:at] + bytes(length) + data[at + length :]
        case "insert":
            return data[:at] + extra + data[at:]
        case _:
            return data[: at + length] + data[at:]


@pytest.fixture(scope="module")
def source():
    store = MemoryEventStore()
    return store, recorded(store)


@pytest.fixture(scope="module")
def exported(source, tmp_path_factory) -> bytes:
    path = tmp_path_factory.mktemp("jsonl") / "a.jsonl"
    export_jsonl(source[0], [source[1]], path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def packed(source, tmp_path_factory) -> Path:
    return pack(source[0], [source[1]], tmp_path_factory.mktemp("bundle") / "a.zip").path


@settings(max_examples=150, database=None)
@given(damage=DAMAGE)
def test_a_damaged_jsonl_file_is_refused_or_says_what_is_lost_or_reads_as_it_was(source, exported, damage):
    store, episode = source
    data = damaged(exported, *damage)
    try:
        found = scan(Path("a.jsonl"), io.BytesIO(data))
    except (UsageError, StoreError):
        return
    if found.faults or found.cut:
        return
    places = found.episodes[episode].places.values()
    lines = [parse_line(data[place.offset : place.offset + place.length]) for place in places]

    assert lines == lines_of(store, episode)


@settings(max_examples=900)
@given(damage=DAMAGE)
def test_a_damaged_bundle_is_refused_or_invalid_or_reads_as_it_was(source, packed, tmp_path_factory, damage):
    store, episode = source
    path = tmp_path_factory.getbasetemp() / "damaged.zip"
    path.write_bytes(damaged(packed.read_bytes(), *damage))
    try:
        consistent = {one.result for one in verify_bundle(path).results} == {CONSISTENT}
    except StoreError:
        consistent = False
    try:
        with Bundle(path) as bundle:
            verify(bundle)
            lines = list(bundle.lines(episode))
    except StoreError:
        lines = None

    assert (lines is not None) == consistent  # what `verify` and `unpack` make of it is the same
    assert lines in (None, lines_of(store, episode))


@pytest.fixture(scope="module")
def empty(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("empty") / "log.db"
    open_store(str(path)).close()
    return path


@pytest.mark.slow
@settings(max_examples=100, database=None)
@given(damage=st.lists(DAMAGE, min_size=1, max_size=3))
def test_what_is_salvaged_is_whole_or_says_what_it_lacks(source, exported, empty, damage):
    store, episode = source
    data = exported
    for one in damage:
        data = damaged(data, *one) if data else data
    path, log = empty.with_name("a.jsonl"), empty.with_name("copy.db")
    path.write_bytes(data)
    shutil.copy(empty, log)
    target = open_store(str(log))
    try:
        found = [one for one in import_jsonl(path, target, salvage=True).episodes if one.result == "stored"]
        for one in found:
            same = one.episode == episode and lines_of(target, episode) == lines_of(store, episode)
            assert same or one.losses
            assert one.first_bad_seq is None or verify_episode(target, one.episode).result == INVALID
    except (UsageError, StoreError):
        pass  # refused, in words
    finally:
        target.close()
        for file in empty.parent.glob("copy.db*"):
            file.unlink()
