"""Case 090: from the record a random id is the recorded one; with live tools it is named where it was said."""

import asyncio
import json
from pathlib import Path

from spectrace.core.events import ActCompleted
from spectrace.core.observation_classes import PASSABLE
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Call, Finish, Task
from spectrace.environments.functions import FunctionEnvironment, tool
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.live import record
from spectrace.runs.reexecution import Passing
from spectrace.runs.replay import replay_episode
from spectrace.store.memory import MemoryEventStore
from tests.playbook import accept

CASE = Path(__file__).parent
RECORDED = json.loads((CASE / "recorded.jsonl").read_text().splitlines()[0])
NOW = (CASE / "tool_now.txt").read_text().strip()
TASK = Task("schedule", "Schedule it.")


def desk(says):
    @tool(effect="write")
    def schedule(at: str) -> str:
        """Schedule the job."""
        return says

    return FunctionEnvironment.from_functions(
        "desk", [schedule], "Schedule.", tasks=[TASK], reset=lambda: None, restore="reset"
    )


def played():
    name, arguments = RECORDED["call"]
    weak = [Call(name, json.dumps(arguments)), Finish("done")]
    clients = {"weak": ScriptedModel(weak), "strong": ScriptedModel([accept(), accept()])}
    store = MemoryEventStore()
    episode = asyncio.run(record(TASK, desk(RECORDED["output"]), clients, SpecAgent(), store)).episode
    return list(store.read(episode))


def test_from_the_record_it_is_the_same():
    result = asyncio.run(replay_episode(played()))

    assert (result.result, result.first_difference) == ("same", None)


def test_with_live_tools_it_diverges_at_the_step_that_said_it_and_shows_both_texts():
    events = played()
    answer = next(event for event in events if isinstance(event.body, ActCompleted))
    first = asyncio.run(replay_episode(events, environment=desk(NOW))).first_difference

    assert answer.body.position == "s1.1"
    assert (first.seq, first.field) == (answer.seq, "/observation/content")
    assert (first.recorded, first.found) == (repr(RECORDED["output"]), repr(NOW))


def test_the_id_alone_is_a_renaming_and_the_time_has_to_be_called_volatile():
    events = played()
    lenient = Passing(frozenset(PASSABLE))
    named = Passing(places=(("schedule", ""),))
    times = NOW.replace("(in 3d 2h)", "(in 12d 16h)")

    assert asyncio.run(replay_episode(events, environment=desk(NOW), passing=lenient)).result == "diverged"
    assert asyncio.run(replay_episode(events, environment=desk(NOW), passing=named)).result == "same"
    assert asyncio.run(replay_episode(events, environment=desk(times), passing=lenient)).inexact[0].notes == (
        "f4af is 91c0",
    )
