import json

import pytest

from spectrace.audit.integrity import verify_episode
from spectrace.core.deeds import deeds
from spectrace.core.events import EpisodeStarted
from spectrace.core.types import Effect
from spectrace.errors import UsageError
from spectrace.interchange import losses
from spectrace.interchange.openai_chat import import_file
from spectrace.store.memory import MemoryEventStore
from tests.chat_files import ASK, DONE, SYSTEM, call, calls, imported, result, written

TALK = (SYSTEM, ASK, calls(call("a", "pay", '{"n":1}')), result("a", "ok"), DONE)
TOOLS = [{"type": "function", "function": {"name": "pay", "description": "Pay.", "parameters": {"type": "object"}}}]


def started(path) -> EpisodeStarted:
    store, (episode,) = imported(path)
    return next(store.read(episode)).body


def test_a_dialogue_becomes_an_episode_that_verifies(tmp_path):
    store, (episode,) = imported(written(tmp_path / "talk.jsonl", *TALK))
    result = verify_episode(store, episode)

    assert (result.result, store.row(episode).state) == ("consistent", "ended")


def test_nothing_is_claimed_that_the_file_does_not_say(tmp_path):
    first = started(written(tmp_path / "talk.jsonl", *TALK))

    assert (first.protocol, first.task.id, first.task.request) == ("imported", "talk", "Cancel W2.")
    assert (first.instructions, first.models[0].name, first.started_by.user) == (
        "Help the customer.",
        "unknown",
        "unknown",
    )
    assert {losses.NO_MODEL, losses.NO_TOOLS, losses.NO_AUTHORITY, losses.NO_TIMES} <= set(first.origin.losses)


def test_what_lies_beside_the_messages_is_used_and_kept(tmp_path):
    path = tmp_path / "talk.json"
    path.write_text(json.dumps({"messages": list(TALK), "model": "m-1", "tools": TOOLS, "seed": 7}))
    first = started(path)

    assert (first.models[0].name, [(tool.name, tool.effect) for tool in first.tools]) == (
        "m-1",
        [("pay", Effect.WRITE)],
    )
    assert json.loads(first.origin.extra)["beside"]["seed"] == "7"
    assert not {losses.NO_MODEL, losses.NO_TOOLS} & set(first.origin.losses)


def test_a_call_is_in_the_ledger_as_a_write_of_unknown_authority(tmp_path):
    store, (episode,) = imported(written(tmp_path / "talk.jsonl", *TALK))

    assert [(deed.tool, deed.authority, deed.outcome) for deed in deeds(store.read(episode))] == [
        ("pay", "unknown", "ok"),
        (None, "unknown", "ok"),
    ]


def test_the_same_file_is_imported_once(tmp_path, event_store):
    path = written(tmp_path / "talk.jsonl", *TALK)
    (first,), (again,) = import_file(path, event_store), import_file(path, event_store)

    assert (first.skipped, again.episode) == (None, first.episode)
    assert again.skipped == f"entry talk of talk.jsonl is here already, as episode {first.episode} (whole)"


def test_each_dialogue_of_a_file_is_an_episode_and_progress_is_told(tmp_path):
    path = written(tmp_path / "many.jsonl", *({"messages": [ASK, DONE]} for _ in range(3)))
    told: list[tuple[int, int]] = []
    found = import_file(path, MemoryEventStore(), run="x", progress=lambda n, of: told.append((n, of)))

    assert [one.task for one in found] == ["many#1", "many#2", "many#3"]
    assert (len({one.episode for one in found}), told) == (3, [(1, 3), (2, 3), (3, 3)])


def test_nothing_is_recorded_of_a_file_that_is_refused(tmp_path):
    store = MemoryEventStore()
    with pytest.raises(UsageError):
        import_file(written(tmp_path / "talk.jsonl", ASK, {"content": "no role"}), store)

    assert store._logs == {}
