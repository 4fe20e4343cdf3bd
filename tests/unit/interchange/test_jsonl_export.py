import json
import sqlite3

import pytest

from spectrace.core.digest import digest
from spectrace.errors import StoreError, UsageError
from spectrace.interchange import jsonl_export
from spectrace.interchange.jsonl_export import Exported, export_jsonl
from spectrace.store.memory import MemoryEventStore
from spectrace.store.sql import open_store
from tests.transfers import write_episode


@pytest.fixture(scope="module")
def store():
    made = MemoryEventStore()
    for name in ("ep2", "ep1"):
        write_episode(made, name)
    return made


@pytest.fixture
def lines(store, tmp_path) -> list[dict]:
    export_jsonl(store, ["ep2", "ep1"], tmp_path / "a.jsonl")
    return [json.loads(line) for line in (tmp_path / "a.jsonl").read_bytes().split(b"\n")[:-1]]


def test_every_line_is_strict_json(store, tmp_path):
    export_jsonl(store, ["ep1"], tmp_path / "a.jsonl")

    def refuse(constant):
        raise AssertionError(constant)

    for line in (tmp_path / "a.jsonl").read_text(encoding="utf-8").split("\n")[:-1]:
        json.loads(line, parse_constant=refuse)
    assert (tmp_path / "a.jsonl").read_bytes().endswith(b"\n")


def test_the_first_line_names_what_follows(lines):
    assert (lines[0]["format"], lines[0]["episodes"]) == ("spectrace.jsonl.v1", ["ep1", "ep2"])
    assert [line["episode"] for line in lines if "episode" in line] == ["ep1", "ep2"]


def test_events_are_their_exact_bytes(store, lines):
    events = [line for line in lines if "header" in line]
    stored = [*store.stored("ep1"), *store.stored("ep2")]

    assert [(line["header"].encode(), line["body"].encode()) for line in events] == [(e.header, e.body) for e in stored]
    assert [(line["salt"], line["link"]) for line in events] == [(e.salt.hex(), e.link.hex()) for e in stored]


def test_a_text_stands_once_before_the_event_that_needs_it(lines):
    seen = []
    for line in lines:
        if "blob" in line:
            seen.append(line["blob"])
        if "body" in line:
            for part in line["body"].split('"$blob":"')[1:]:
                assert part[:71] in seen

    assert len(seen) == len(set(seen)) > 0
    assert all(digest(line["text"].encode()) == line["blob"] for line in lines if "text" in line)
    assert any("base64" in line for line in lines)


def test_the_same_episodes_give_the_same_file(store, tmp_path):
    export_jsonl(store, ["ep1", "ep2"], tmp_path / "a.jsonl")
    export_jsonl(store, ["ep2", "ep1", "ep2"], tmp_path / "b.jsonl")

    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_an_episode_still_being_written_is_exported_as_far_as_it_goes_and_said_to_be(store, tmp_path):
    events = list(store.read("ep1"))
    log = open_store(str(tmp_path / "log.db"))
    writer = log.create("ep1", events[0].body, events[0].at)
    (done,) = export_jsonl(log, ["ep1"], tmp_path / "a.jsonl")
    writer.close()
    log.close()

    assert (done.events, "still being written" in done.losses[0]) == (1, True)


def test_nothing_is_replaced_unasked_and_nothing_half_is_left(store, tmp_path):
    assert export_jsonl(store, ["ep1"], tmp_path / "a.jsonl") == [Exported("ep1", store.row("ep1").events, ())]
    with pytest.raises(UsageError, match="is there already"):
        export_jsonl(store, ["ep1"], tmp_path / "a.jsonl")
    with pytest.raises(UsageError, match="name at least one episode"):
        export_jsonl(store, [], tmp_path / "b.jsonl")
    export_jsonl(store, ["ep2"], tmp_path / "a.jsonl", force=True)

    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


def test_a_text_that_is_too_long_for_a_line_is_refused_with_what_takes_it(store, tmp_path, monkeypatch):
    monkeypatch.setattr(jsonl_export, "MAX_LINE_BYTES", 10_000)

    with pytest.raises(StoreError, match="too many for a line: `spectrace pack` takes it"):
        export_jsonl(store, ["ep1"], tmp_path / "a.jsonl")


def test_an_episode_that_is_not_intact_is_refused(tmp_path):
    log = open_store(str(tmp_path / "log.db"))
    write_episode(log, "ep1")
    log.close()
    connection = sqlite3.connect(tmp_path / "log.db")
    connection.execute("DELETE FROM blobs")
    connection.commit()
    connection.close()
    log = open_store(str(tmp_path / "log.db"), read_only=True)

    with pytest.raises(StoreError, match="is missing"):
        export_jsonl(log, ["ep1"], tmp_path / "a.jsonl")
    log.close()
