"""An episode of hard values on its way: to the other database and back, through a bundle, through a file of JSON lines.

Wherever it arrives, its headers, bodies, salts and links are the bytes that were first written, and it replays.
"""

import asyncio
import json

import pytest

from spectrace.audit.integrity import CONSISTENT, verify_episode
from spectrace.core.types import Call
from spectrace.interchange.jsonl_export import export_jsonl
from spectrace.interchange.jsonl_import import import_jsonl
from spectrace.runs.replay import replay_episode
from spectrace.store.bundle import pack
from spectrace.store.copying import copy_log
from spectrace.store.sql import open_store
from spectrace.store.unpacking import unpack
from tests.hard_values import VALUES, asked, record_steps
from tests.playbook import reject, written

HOSTILE = "x\ud835y \0 \\u0000 😀"


@pytest.fixture
def stores():
    """A function that opens databases, which are closed at the end."""
    opened = []

    def open_one(url):
        opened.append(open_store(str(url)))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


def record_hard(store):
    """Record every value, and a write that was rejected, repaired and done, all with hostile words."""
    put = Call("put", json.dumps({"value": HOSTILE}))
    rejected = reject(len(VALUES) + 1, put, reason=HOSTILE)
    return record_steps(store, [*asked(*VALUES), written(put)], [rejected]).episode


def arrived(store, episode, source):
    """Whether an episode is here as it was there: every byte, and what its questions and answers say."""
    assert list(store.stored(episode)) == list(source.stored(episode))
    assert list(store.read(episode)) == list(source.read(episode))
    assert verify_episode(store, episode).result == CONSISTENT
    assert asyncio.run(replay_episode(list(store.read(episode)))).result == "same"
    assert [
        row.body.outcome for row in store.read(episode) if row.type == "act.completed" and row.body.tool == "put"
    ] == ["ok"]


def test_from_one_database_to_the_other_and_back(stores, tmp_path, postgres_url):
    source, middle, back = stores(tmp_path / "a.db"), stores(postgres_url), stores(tmp_path / "b.db")
    episode = record_hard(source)
    copy_log(source, middle)
    copy_log(middle, back)

    arrived(middle, episode, source)
    arrived(back, episode, source)


def test_through_a_bundle(stores, tmp_path, database_url):
    source, target = stores(database_url), stores(tmp_path / "b.db")
    episode = record_hard(source)
    pack(source, [episode], tmp_path / "bundle.zip")
    unpack(tmp_path / "bundle.zip", target)

    arrived(target, episode, source)


def strict(line):
    """Parse a line as a reader does that takes nothing but JSON in UTF-8."""

    def refuse(name):
        raise AssertionError(name)

    return json.loads(line.decode("utf-8"), parse_constant=refuse)


def test_through_json_lines_that_a_strict_reader_takes(stores, tmp_path, database_url):
    source, target = stores(database_url), stores(tmp_path / "b.db")
    episode, path = record_hard(source), tmp_path / "log.jsonl"
    export_jsonl(source, [episode], path)
    lines = [strict(line) for line in path.read_bytes().split(b"\n") if line]
    import_jsonl(path, target)

    assert len(lines) > source.row(episode).events
    arrived(target, episode, source)
