"""Real τ²-bench episodes, imported and executed again on the real environment: outputs exact, rewards reproduced."""

import asyncio
import json
import time

import pytest
from tau2_files import AIRLINE, RETAIL, corpus, written

from spectrace.core.events import ActCompleted, EvaluateCompleted
from spectrace.environments.tau2 import open_tau2
from spectrace.interchange.tau2 import import_file
from spectrace.runs.replay import replay_episode
from spectrace.store.memory import MemoryEventStore
from spectrace.store.sql import open_store

pytest.importorskip("tau2")
pytestmark = pytest.mark.slow

CORPUS = {
    "airline__18b3a435": (1, 0),
    "airline__3b514b95": (50, 50),
    "airline__45651a42": (50, 0),
    "airline__83e60796": (20, 0),
    "airline__b4e983fc": (50, 0),
    "retail__94ad2a06": (40, 0),
    "retail__e55ede02": (1, 0),
}
"""File -> simulations, and how many of them are filed under a wrong task or one that nothing shows."""


def executed_again(path):
    """Return every episode of a file as (imported, events, replay's result)."""
    store = MemoryEventStore()
    domain = json.loads(path.read_text(encoding="utf-8"))["info"]["environment_info"]["domain_name"]
    found = []
    for imported in import_file(path, store):
        events = list(store.read(imported.episode))
        result = asyncio.run(replay_episode(events, environment=open_tau2(domain)))
        found.append((imported, events, result))
    return found


def answers(events, kind):
    return [event for event in events if isinstance(event.body, kind)]


@pytest.mark.parametrize("path", [AIRLINE, RETAIL], ids=lambda path: path.stem)
def test_a_real_episode_executed_again_is_the_same(path):
    ((_, events, result),) = executed_again(path)

    assert (result.result, result.first_difference) == ("same", None)
    assert result.observations == len(answers(events, ActCompleted))
    assert len(answers(events, EvaluateCompleted)) == 1


@pytest.mark.parametrize("path", [AIRLINE, RETAIL], ids=lambda path: path.stem)
def test_one_altered_byte_of_any_output_diverges_at_that_event(tmp_path, path):
    whole = json.loads(path.read_text(encoding="utf-8"))
    outputs = [message for message in whole["simulations"][0]["messages"] if message["role"] == "tool"]
    for output in outputs:
        told = output["content"]
        output["content"] = told[:-1] + chr(ord(told[-1]) ^ 1)

        ((_, events, result),) = executed_again(written(tmp_path, whole))

        (altered,) = (
            event for event in answers(events, ActCompleted) if event.body.observation.content == output["content"]
        )
        assert (result.result, result.first_difference.seq) == ("diverged", altered.seq)
        assert result.first_difference.field == "/observation/content"
        output["content"] = told


def test_an_altered_reward_diverges_at_the_grade(tmp_path):
    text = AIRLINE.read_text(encoding="utf-8").replace('"reward": 1.0', '"reward": 0.0', 1)

    ((_, events, result),) = executed_again(written(tmp_path, text))

    (grade,) = answers(events, EvaluateCompleted)
    assert (result.result, result.first_difference.seq) == ("diverged", grade.seq)
    assert (result.first_difference.recorded, result.first_difference.found) == ("'0.0'", "'1.0'")


@pytest.mark.parametrize("name", CORPUS)
def test_every_real_episode_that_fits_its_task_is_the_same_and_no_other_passes(name):
    (path,) = (path for path in corpus("airline", "retail") if path.name.startswith(name))
    began = time.process_time()

    found = executed_again(path)

    # Of the process, not of the wall: the machine may be shared.
    assert time.process_time() - began < 120
    assert (len(found), sum(imported.unfit is not None for imported, _, _ in found)) == CORPUS[name]
    for imported, events, result in found:
        if imported.unfit is None:
            assert (result.result, result.first_difference) == ("same", None), imported
            assert result.observations == len(answers(events, ActCompleted))
        else:
            assert (result.result, result.detail) == ("untestable", f"task does not fit: {imported.unfit}")


def test_every_real_file_is_among_them():
    assert ["__".join(path.name.split("__")[:2]) for path in corpus("airline", "retail")] == [*CORPUS]


def test_all_real_files_import_in_a_minute(tmp_path):
    files = corpus("airline", "retail", "telecom")
    store = open_store(f"sqlite:///{tmp_path / 'log.db'}")
    began = time.process_time()

    found = [imported for path in files for imported in import_file(path, store)]

    assert time.process_time() - began < 60
    assert len({imported.episode for imported in found}) == 213
    assert {store.row(imported.episode).state for imported in found} == {"ended"}
    store.close()
