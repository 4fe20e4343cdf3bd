"""Recorded episodes of every past version must read, verify, replay and be given back as they always did."""

import asyncio
import json
from dataclasses import asdict
from pathlib import Path

import orjson
import pytest
import sqlalchemy as sa

from spectrace.audit.integrity import verify_episode
from spectrace.audit.queries import Reader
from spectrace.core.deeds import deeds
from spectrace.core.digest import digest
from spectrace.core.events import EpisodeEnded, Unknown
from spectrace.core.fold import fold
from spectrace.core.reviews import reviews_of
from spectrace.core.versions import CLASSES
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.replay import replay_episode
from spectrace.runs.reverify import reverify_episode
from spectrace.store import tables
from spectrace.store.lines import line_from
from spectrace.store.memory import MemoryEventStore
from spectrace.store.schemas import file_name, published, versions
from spectrace.store.sql import open_store
from spectrace.store.validation import check_foreign
from tests.golden.loader import HERE, all_golden, read, write
from tests.playbook import accept
from tests.stored_episodes import put

ALL = all_golden()
RUNS = [golden for golden in ALL if "totals" in golden.about]
EACH = pytest.mark.parametrize("golden", ALL, ids=str)
EACH_RUN = pytest.mark.parametrize("golden", RUNS, ids=str)


def told(golden):
    store = MemoryEventStore()
    put(store, golden.lines, golden.blobs)
    return list(store.read(golden.episode))


def test_no_golden_file_was_changed_added_or_removed_unsaid():
    pinned = json.loads((HERE / "digests.json").read_text())

    assert {f"{one.path.parent.name}/{one.path.name}": digest(one.path.read_bytes()) for one in ALL} == pinned


def test_no_published_schema_was_changed():
    pinned = json.loads((HERE / "schemas.json").read_text())

    assert {file_name(*one): digest(published(*one)) for one in versions()} == pinned, "see README.md here"


def test_every_type_and_version_is_in_a_golden_episode():
    recorded = {(line.row.type, line.row.version) for golden in ALL for line in golden.lines}

    assert set(versions()) <= recorded


@EACH
def test_it_verifies(golden):
    store = MemoryEventStore()
    result = verify_episode(store, put(store, golden.lines, golden.blobs))

    assert (result.result, result.events) == ("consistent", golden.about["events"]), result.detail


@EACH
def test_its_events_fit_the_schemas_of_their_versions(golden):
    for line in golden.lines:
        row = line.row
        assert check_foreign(row.type, row.version, orjson.loads(row.header(golden.episode)), orjson.loads(row.body))


@EACH
def test_it_is_decoded_to_types_of_today(golden):
    events = told(golden)

    assert [event.seq for event in events if isinstance(event.body, Unknown)] == []
    assert all(type(event.body) is CLASSES[event.type] for event in events)


@EACH_RUN
def test_it_folds_to_what_it_always_did(golden):
    events = told(golden)

    assert asdict(fold(events).totals) == golden.about["totals"]
    assert [[deed.position, deed.authority, deed.outcome] for deed in deeds(events)] == golden.about["deeds"]


@EACH_RUN
def test_it_replays_the_same(golden):
    parent = golden.about.get("parent")
    parents = None if parent is None else told(read(golden.path.with_name(f"{parent}.jsonl")))
    result = asyncio.run(replay_episode(told(golden), parent=parents))

    assert result.result == golden.about["replay"], result.detail


@pytest.mark.parametrize("golden", [one for one in RUNS if reviews_of(fold(told(one)))], ids=str)
def test_its_reviews_can_be_judged_again(golden):
    events = told(golden)
    again, outcome = asyncio.run(
        reverify_episode(events, ScriptedModel([accept()] * 9, name="second"), MemoryEventStore(), "again")
    )

    assert (len(again), outcome.status) == (len(reviews_of(fold(events))), "completed")


def test_all_are_given_back_equal_by_every_store(event_store):
    for golden in ALL:
        put(event_store, golden.lines, golden.blobs)
    given = {str(one): [line_from(event).row for event in event_store.stored(one.episode)] for one in ALL}

    assert given == {str(one): [line.row for line in one.lines] for one in ALL}
    assert all(event_store.blob(name) == data for golden in ALL for name, data in golden.blobs.items())


def test_all_are_projected_and_audited(database_url):
    store = open_store(database_url)
    for golden in RUNS:
        put(store, golden.lines, golden.blobs)
    found = sa.select(tables.episodes.c.episode, tables.summaries).join(tables.summaries)
    with store.database.reading() as connection:
        summaries = {row.episode: (row.problem, row.status) for row in connection.execute(found)}
    ledger = {one.episode: list(Reader(store).actions(reads=True, episodes=[one.episode])) for one in RUNS}
    store.close()

    assert summaries == {one.episode: (None, status(one)) for one in RUNS}
    assert {
        name: [[deed.position, deed.authority, deed.outcome] for deed in found] for name, found in ledger.items()
    } == {one.episode: one.about["deeds"] for one in RUNS}


def status(golden):
    return next((event.body.outcome for event in told(golden) if isinstance(event.body, EpisodeEnded)), None)


def test_a_golden_file_is_never_written_over(tmp_path):
    golden = ALL[0]
    store = MemoryEventStore()
    put(store, golden.lines, golden.blobs)
    path: Path = tmp_path / "one.jsonl"
    write(store, golden.episode, path, golden.about)

    assert read(path).lines == golden.lines
    with pytest.raises(FileExistsError):
        write(store, golden.episode, path, golden.about)
