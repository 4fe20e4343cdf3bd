"""Case 005, stored history: calls without ids get stable ones, and results are paired with them by position."""

import json
from dataclasses import replace
from pathlib import Path

from spectrace.core.events import ActCompleted, ActRequested, GenerateCompleted
from spectrace.interchange import losses
from spectrace.interchange.openai_chat import import_file
from spectrace.interchange.openai_chat_export import export_openai
from spectrace.store.memory import MemoryEventStore

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())["history.jsonl"]


def imported(path=CASE / "history.jsonl"):
    store = MemoryEventStore()
    (one,) = import_file(path, store)
    return store, one.episode, [event.body for event in store.read(one.episode)]


def test_results_are_paired_with_the_calls_by_position_and_the_pairing_is_marked_as_inferred():
    _, _, bodies = imported()
    asked = {seq: body for seq, body in enumerate(bodies) if isinstance(body, ActRequested)}
    pairs = [[asked[body.request].tool, body.observation.content] for body in bodies if isinstance(body, ActCompleted)]
    origin = bodies[0].origin

    assert pairs == EXPECTED["pairs"]
    assert losses.INFERRED_PAIRS in origin.losses
    assert EXPECTED["pairing"] in losses.INFERRED_PAIRS
    assert json.loads(origin.extra)["inferred"] == [1, 2]


def test_each_call_has_an_id_made_from_its_place_and_marked_as_synthetic():
    _, _, bodies = imported()
    (answer,) = (body for body in bodies if isinstance(body, GenerateCompleted))
    ids = [call.id for call in answer.message.calls]

    assert ids == ["synthetic-1.1", "synthetic-1.2"]
    assert losses.SYNTHETIC_IDS in bodies[0].origin.losses
    assert json.loads(bodies[0].origin.extra)["synthetic"] == ids


def test_a_synthetic_id_is_never_one_that_the_file_gives(tmp_path):
    lines = (CASE / "history.jsonl").read_text().splitlines()
    taken = json.loads(lines[0])
    taken["tool_calls"][1]["id"] = "synthetic-1.1"
    (tmp_path / "in.jsonl").write_text("\n".join([json.dumps(taken), *lines[1:]]))
    _, _, bodies = imported(tmp_path / "in.jsonl")
    (answer,) = (body for body in bodies if isinstance(body, GenerateCompleted))

    assert [call.id for call in answer.message.calls] == ["synthetic-1.1'", "synthetic-1.1"]


def test_the_same_bytes_give_the_same_events():
    one, two = imported(), imported()

    assert one[1:] == two[1:]
    assert [event.body for event in one[0].stored(one[1])] == [event.body for event in two[0].stored(two[1])]


def test_what_is_exported_gives_the_same_events_again(tmp_path):
    store, episode, bodies = imported()
    export_openai(store, [episode], tmp_path / "history.jsonl")
    again = imported(tmp_path / "history.jsonl")[2]

    lines = (tmp_path / "history.jsonl").read_text().splitlines()

    assert again[0].origin.extra == bodies[0].origin.extra
    assert [keyless(body) for body in again[1:]] == [keyless(body) for body in bodies[1:]]
    assert json.loads(lines[0])["tool_calls"][0]["id"] == ""


def keyless(body):
    """The event without the key that its episode's id is in."""
    return replace(body, idempotency_key="") if isinstance(body, ActRequested) else body
