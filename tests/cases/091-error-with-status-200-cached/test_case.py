"""Case 091: an error under status 200 is a failed call and never an answer; a tool's error is what the model saw.

A replay of this very run has each in its place, and asks nobody.
"""

import asyncio
import json
from pathlib import Path

import pytest

from spectrace.core.events import ActCompleted, GenerateCompleted, GenerateFailed
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Call, Finish, Task
from spectrace.environments.functions import FunctionEnvironment, tool
from spectrace.errors import ModelFailed
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.live import record
from spectrace.runs.replay import replay_episode
from spectrace.store.memory import MemoryEventStore
from tests.lending_desk import play
from tests.playbook import accept
from tests.wire import received

CASE = Path(__file__).parent
USABLE = json.loads((CASE / "expected.json").read_text())["usable_answers"]
REPLIES = ["reply_200_error.json", "reply_200_choices_and_error.json", "reply_200_html.txt"]
LIMITED = json.loads((CASE / "tool_output_rate_limited.json").read_text())["content"][0]["text"]


def failure(name):
    with pytest.raises(ModelFailed) as failed:
        received(CASE / name)
    return failed.value


@pytest.mark.parametrize("name", REPLIES)
def test_each_is_a_failed_call_in_the_record_and_in_its_replay(name):
    error = failure(name)
    desk = play([error], [])
    (failed,) = desk.bodies(GenerateFailed)

    assert len(desk.bodies(GenerateCompleted)) == USABLE
    assert (failed.error, failed.attempts, len(failed.attempts)) == (str(error), error.attempts, 1)
    assert desk.ended.outcome == "failed"
    assert desk.replayed().result == "same"


def test_a_tools_error_is_the_steps_observation_and_replays_as_such():
    @tool(effect="read")
    def list_loans() -> str:
        """List the loans."""
        raise RuntimeError(LIMITED)

    task, store = Task("loans", "Which loans are there?"), MemoryEventStore()
    desk = FunctionEnvironment.from_functions("desk", [list_loans], "Look.", tasks=[task])
    weak = ScriptedModel([Call("list_loans", "{}"), Finish("I cannot see them.")])
    clients = {"weak": weak, "strong": ScriptedModel([accept()])}
    events = list(store.read(asyncio.run(record(task, desk, clients, SpecAgent(), store)).episode))
    seen = next(event.body.observation for event in events if isinstance(event.body, ActCompleted))

    assert (LIMITED in seen.content, seen.error) == (True, True)
    assert seen.content in weak.requests[1].messages[-1].content
    assert asyncio.run(replay_episode(events)).result == "same"
