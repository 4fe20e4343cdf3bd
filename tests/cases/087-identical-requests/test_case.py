"""Case 087: the same call made twice has two answers, each in its place; a third one is a miss and not a repeat."""

import asyncio
import json
from pathlib import Path

import pytest

from spectrace.core.commands import Act
from spectrace.core.events import ActCompleted, ActRequested
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Call, Effect, Finish, Task
from spectrace.environments.functions import FunctionEnvironment, tool
from spectrace.errors import ReplayDiverged
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.cached_answers import CachedAnswers, Missed
from spectrace.runs.live import record
from spectrace.runs.recording import Comparison, Recording
from spectrace.runs.replay import replay_episode
from spectrace.store.memory import MemoryEventStore
from tests.playbook import accept

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())["outputs"]
RECORDED = [json.loads(line) for line in (CASE / "recorded.jsonl").read_text().splitlines()]
TASK = Task("renew", "Renew my loan.")


def played():
    """Read, write, read again; the desk answers in the order recorded."""
    answers = iter(line["output"] for line in RECORDED)

    @tool(effect="read")
    def list_loans(member_id: int) -> str:
        """List a member's loans."""
        return next(answers)

    @tool(effect="write")
    def renew_loan(loan_id: int, days: int) -> str:
        """Renew a loan."""
        return next(answers)

    desk = FunctionEnvironment.from_functions("desk", [list_loans, renew_loan], "Renew.", tasks=[TASK])
    calls = [Call(name, json.dumps(arguments)) for name, arguments in (line["call"] for line in RECORDED)]
    clients = {"weak": ScriptedModel([*calls, Finish("Done.")]), "strong": ScriptedModel([accept(), accept()])}
    store = MemoryEventStore()
    episode = asyncio.run(record(TASK, desk, clients, SpecAgent(), store)).episode
    return list(store.read(episode))


def of_kind(events, kind):
    return [event for event in events if isinstance(event.body, kind) and event.body.tool]


def test_each_of_two_equal_reads_has_its_own_answer_and_replays_with_it():
    events = played()
    first, _, again = of_kind(events, ActRequested)

    assert first.body.action == again.body.action
    assert [event.body.observation.content for event in of_kind(events, ActCompleted)] == EXPECTED
    assert asyncio.run(replay_episode(events)).result == "same"


def test_the_same_read_a_third_time_is_a_miss_that_names_the_recorded_ones():
    events = played()
    recording = Recording(events)
    log = Comparison(recording)
    for event in events[1:-1]:
        log.write(event.lane, event.body)
    first, _, again = of_kind(events, ActRequested)

    with pytest.raises(ReplayDiverged, match=r"recorded episode\.ended, this run came to act\.requested\(list_loans\)"):
        log.write("", again.body)
    assert {near.seq for near in log.told[events[-1].seq].nearest[:2]} == {first.seq, again.seq}


def test_to_live_models_each_answer_is_given_once_and_a_third_asking_is_a_miss():
    cache = CachedAnswers.of(played())
    calls = [Call(name, json.dumps(arguments)) for name, arguments in (line["call"] for line in RECORDED)]
    effects = [Effect.READ, Effect.WRITE, Effect.READ]
    asked = [Act(call, effect, "read", "s1.1") for call, effect in zip(calls, effects, strict=True)]

    assert [cache.answer("", one).observation.content for one in asked] == EXPECTED
    with pytest.raises(Missed, match="Already used"):
        cache.answer("", asked[-1])
