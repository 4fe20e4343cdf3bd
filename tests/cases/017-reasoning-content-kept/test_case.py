"""Case 017: reasoning comes back as it was spelled, empty or absent, and neighbouring messages stay apart."""

import json
from pathlib import Path

from spectrace.core.events import GenerateCompleted
from spectrace.interchange.openai_chat import import_file
from spectrace.interchange.openai_chat_export import export_openai
from spectrace.store.memory import MemoryEventStore

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())
HISTORY = (CASE / "history.jsonl").read_text()


def imported(path=CASE / "history.jsonl"):
    store = MemoryEventStore()
    (one,) = import_file(path, store)
    return store, one.episode


def test_what_is_exported_is_what_was_imported(tmp_path):
    store, episode = imported()
    export_openai(store, [episode], tmp_path / "out.jsonl")
    given = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]

    assert len(given) == EXPECTED["n_messages"]
    assert given == [json.loads(line) for line in HISTORY.splitlines()]
    assert [list(one) for one in given] == [list(json.loads(line)) for line in HISTORY.splitlines()]


def test_each_assistant_message_is_a_call_of_its_own_with_its_reasoning():
    store, episode = imported()
    calls = [event.body for event in store.read(episode) if isinstance(event.body, GenerateCompleted)]

    assert [(call.message.content, call.reasoning) for call in calls] == [
        ("", "Need the member first."),
        ("", ""),
        ("Found you.", "vendor spelling"),
    ]


def test_a_reasoning_that_is_absent_stays_absent(tmp_path):
    lines = HISTORY.splitlines()
    lines[3] = '{"role": "assistant", "content": ""}'
    lines[4] = '{"role": "assistant", "content": "Found you.", "reasoning": null}'
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    store, episode = imported(tmp_path / "in.jsonl")
    export_openai(store, [episode], tmp_path / "out.jsonl")

    assert [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()] == [*map(json.loads, lines)]
