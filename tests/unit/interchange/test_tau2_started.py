import json
import math
import time

import pytest
from tau2_files import BYE, GREETING, HELLO, calls, result, result_file, says, simulation, task, written

from spectrace.core.setup import setup_of
from spectrace.core.types import EnvironmentFacts, ModelFacts, Outcome, Task
from spectrace.interchange import losses
from spectrace.interchange.imported import Filing
from spectrace.interchange.tau2_events import transcribe
from spectrace.interchange.tau2_file import read_result_file
from spectrace.interchange.tau2_messages import read_messages
from spectrace.interchange.tau2_started import always_lost, scene_of, started

TEN = 1_748_772_000_000_000
"""2025-06-01 10:00:00 UTC."""


def begun(folder, one=None, **more):
    """Return the scene, event 0 and the losses of the first simulation of a file."""
    file = read_result_file(written(folder, result_file(one or simulation(GREETING, HELLO, says("Bye"), BYE), **more)))
    lost = always_lost(file, file.simulations[0])
    messages = read_messages(file.simulations[0].parts["messages"], lost)
    scene = scene_of(file, file.simulations[0], "e1", messages, lost)
    script = transcribe(scene, messages, lost)
    return scene, started(file, file.simulations[0], script, Filing("p", "r", "why not")), lost


def test_an_episode_starts_from_what_the_file_says(tmp_path):
    _, first, _ = begun(tmp_path)

    assert first.environment == EnvironmentFacts(
        "tau2:airline", "tau2-bench", "abc123", restore="reset", replies=True, finish=False
    )
    assert first.models == (
        ModelFacts(
            "strong", "openai", "openai/gpt-4.1", parameters='{"temperature":0.0}', calls="native", constrained=False
        ),
        ModelFacts("user", "unknown", "gpt-4.1", calls="native", constrained=False),
    )
    assert (first.instructions, first.seed, first.trial, first.protocol) == ("Be kind.", 7, 0, "imported")
    assert (first.project, first.run, first.started_by.user) == ("p", "r", "unknown")


def test_a_setup_can_be_made_of_it(tmp_path):
    _, first, _ = begun(tmp_path)

    assert setup_of(first).task == first.task


def test_the_task_is_the_files_own(tmp_path):
    _, first, _ = begun(tmp_path, tasks=[task("0")])

    assert first.task == Task("0", "wish 0", json.dumps(task("0"), separators=(",", ":")))


@pytest.mark.parametrize(
    ("scenario", "request_"),
    [("null", ""), ('{"instructions": "Just cancel."}', "Just cancel."), ('{"instructions": {"persona": null}}', "")],
)
def test_a_task_may_word_its_wish_otherwise(tmp_path, scenario, request_):
    _, first, _ = begun(tmp_path, tasks=[{"id": "0", "user_scenario": json.loads(scenario)}])

    assert first.task.request == request_


def test_a_task_that_is_not_in_the_file_is_an_id_and_a_loss(tmp_path):
    _, first, lost = begun(tmp_path, tasks=[])

    assert first.task == Task("0", "")
    assert losses.NO_TASK in lost


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [
        ("user_stop", Outcome("completed", "user_stop", reward="1.0")),
        ("agent_stop", Outcome("completed", "agent_stop", reward="1.0")),
        ("max_steps", Outcome("truncated", "max_steps", reward="1.0")),
        ("too_many_errors", Outcome("truncated", "too_many_errors", reward="1.0")),
        ("infrastructure_error", Outcome("failed", "infrastructure_error", reward="1.0")),
        (..., Outcome("completed", "user_stop", reward="1.0")),
    ],
)
def test_the_end_is_the_one_that_is_filed(tmp_path, reason, outcome):
    scene, _, _ = begun(tmp_path, simulation(GREETING, HELLO, says("Bye"), BYE, reason=reason))

    assert scene.outcome == outcome
    assert (scene.grade is not None) == (outcome.status == "completed")


def test_an_end_of_which_nothing_tells_is_unknown(tmp_path):
    scene, _, lost = begun(tmp_path, simulation(GREETING, HELLO, says("Bye"), reason=...))

    assert scene.outcome == Outcome("failed", "unknown", reward="1.0")
    assert losses.NO_TERMINATION in lost


@pytest.mark.parametrize("grade", [{"reward": None}, {"reward": math.nan}, {"reward": -math.inf}, {}, "none"])
def test_no_reward_is_none_never_zero(tmp_path, grade):
    scene, _, lost = begun(tmp_path, simulation(GREETING, HELLO, says("Bye"), BYE, reward_info=grade or {"x": 1}))

    assert (scene.outcome.reward, scene.grade) == (None, None)
    assert losses.NO_REWARD in lost


@pytest.mark.parametrize(
    ("one", "began"),
    [
        ({}, TEN),
        ({"start_time": ...}, TEN + 1),
        ({"start_time": None, "messages": [HELLO], "timestamp": "2025-06-01T10:30:00"}, TEN + 1_800_000_000),
        ({"start_time": None, "messages": [HELLO]}, TEN + 3_600_000_000),
    ],
)
def test_an_episode_begins_at_the_best_time_that_the_file_gives(tmp_path, one, began):
    scene, _, lost = begun(tmp_path, simulation(GREETING, HELLO, says("Bye"), BYE, **one))

    assert scene.began == began
    assert losses.NAIVE_TIMES in lost


def test_a_file_without_any_time_takes_the_imports_and_says_so(tmp_path):
    before = time.time_ns() // 1000

    scene, _, lost = begun(tmp_path, simulation(HELLO, start_time=None), timestamp=None)

    assert scene.began >= before
    assert {losses.NO_TIMES, losses.NO_MESSAGE_TIMES} <= lost


def test_tools_that_the_file_defines_are_no_loss(tmp_path):
    definitions = {"cancel_order": {"name": "cancel_order", "doc": "d", "params": {"type": "object"}}}

    _, first, lost = begun(tmp_path, environment={"tool_defs": definitions})

    assert [tool.name for tool in first.tools] == ["cancel_order"]
    assert losses.NO_TOOLS not in lost


def test_what_no_event_holds_is_in_extra(tmp_path):
    one = simulation(
        GREETING,
        HELLO | {"cost": 0.10},
        calls(("c1", "look", {}), turn_idx=2),
        result("c9", "whose?"),
        says("Bye"),
        BYE,
        reason="max_steps",
        duration=1.50,
    )

    _, first, _ = begun(tmp_path, one, note="kept")

    extra = json.loads(first.origin.extra)
    assert extra["file"]["note"] == "kept"
    assert extra["file"]["info"]["agent_info"]["llm"] == "openai/gpt-4.1"
    assert "policy" not in extra["file"]["info"]["environment_info"]
    assert (extra["simulation"]["duration"], extra["simulation"]["reward_info"]) == (1.5, {"reward": 1.0})
    assert extra["messages"]["1"] == {"cost": 0.1}
    assert (extra["messages"]["2"], extra["messages"]["3"]["content"]) == ({"turn_idx": 2}, "whose?")
    assert '"duration":1.5' in first.origin.extra


def test_the_origin_names_file_entry_losses_and_doubt(tmp_path):
    _, first, lost = begun(tmp_path)

    origin = first.origin
    assert (origin.format, origin.file, origin.entry, origin.unfit) == ("tau2", "results.json", "sim-1", "why not")
    assert origin.digest.startswith("sha256:")
    assert origin.losses == tuple(sorted(lost))
