"""Speculative Actions and AgentCollab, recorded: whatever the models say, whoever is faster, the log holds it all."""

import asyncio
import json
from collections import defaultdict
from dataclasses import replace

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from spectrace.audit.integrity import verify_episode
from spectrace.core.agentcollab import AgentCollab
from spectrace.core.baselines import StrongOnly
from spectrace.core.compare import differences
from spectrace.core.deeds import deeds
from spectrace.core.events import (
    ActRequested,
    ControlPassed,
    EffectObserved,
    EpisodeEnded,
    GenerateCompleted,
    ProgressJudged,
    SpeculationMatched,
    StepsDiscarded,
)
from spectrace.core.fold import fold
from spectrace.core.speculative_actions import SpeculativeActions
from spectrace.core.types import Call, Effect, Finish
from spectrace.errors import ModelFailed
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.live import record
from spectrace.runs.replay import replay_episode
from spectrace.store.memory import MemoryEventStore
from tests.aio import in_loop
from tests.desk import IDS, at, open_desk

DONE = Finish("done")
ACTIONS = st.sampled_from([at(name, id_) for name in ("look", "look", "change", "search", "peek") for id_ in IDS])
BROKEN = st.sampled_from(["no JSON", ModelFailed("server", "500"), Call("fly", "{}")])


class Paced:
    """Replies, each after a while: a model that is slower or faster than the other one."""

    def __init__(self, replies, waits=()):
        self.replies, self.waits = iter(replies), iter(waits)

    async def __call__(self, request):
        await asyncio.sleep(next(self.waits, 0) / 1000)
        return next(self.replies, DONE)


async def recorded(protocol, weak, strong, *, store=None, waits=((), ())):
    """Record one episode; return its events and the calls that the desk got. `waits`: of the weak, of the strong."""
    store, calls = MemoryEventStore() if store is None else store, []
    environment = open_desk(calls)
    models = {"weak": ScriptedModel(Paced(weak, waits[0])), "strong": ScriptedModel(Paced(strong, waits[1]))}
    clients = {role: models[role] for role in protocol.MODELS}
    done = await record(environment.tasks()[0], environment, clients, protocol, store)
    return list(store.read(done.episode)), calls


def of(events, kind):
    return [one.body for one in events if isinstance(one.body, kind)]


def acts(events):
    return [body for body in of(events, ActRequested) if isinstance(body.action, Call)]


def told_by_lane(events):
    """What each lane tells, without numbers of other events: those depend on who was faster."""
    lanes = defaultdict(list)
    for one in events:
        lanes[one.lane].append((one.type, getattr(one.body, "position", None), getattr(one.body, "outcome", None)))
    return dict(lanes)


def replayed(events):
    return asyncio.run(replay_episode(events))


@settings(max_examples=40)
@given(
    weak=st.lists(ACTIONS | BROKEN, max_size=8),
    strong=st.lists(ACTIONS, max_size=6),
    guesses=st.integers(1, 3),
    waits=st.lists(st.integers(0, 1), max_size=6),
)
def test_whatever_is_guessed_the_strong_models_episode_is_its_own(weak, strong, guesses, waits):
    protocol = SpeculativeActions(guesses=guesses, max_steps=8)
    events, calls = asyncio.run(recorded(protocol, weak, strong, waits=(waits, waits[::-1])))
    alone, _ = asyncio.run(recorded(StrongOnly(max_steps=8), [], strong))
    sent, ended = acts(events), of(events, EpisodeEnded)[-1]
    moved = of(events, EffectObserved)
    event(f"matched: {bool(of(events, SpeculationMatched))}, a guess changed the state: {bool(moved)}")

    assert [body.action for body in sent] == calls
    assert {body.effect for body in sent if body.authority == "speculative"} <= {Effect.READ}
    assert {body.authority for body in sent if body.effect == Effect.WRITE} <= {"actor"}
    if not [one for one in moved if one.authority == "speculative"]:
        own, same = fold(events).history.steps, fold(alone).history.steps
        assert [(step.action, step.observation) for step in own] == [(step.action, step.observation) for step in same]
        assert [b.action for b in sent if b.effect == Effect.WRITE] == [
            b.action for b in acts(alone) if b.effect == Effect.WRITE
        ]
    assert fold(events).totals == ended.totals
    assert replayed(events).result == "same"


@settings(max_examples=15)
@given(
    weak=st.lists(ACTIONS, min_size=2, max_size=6),
    strong=st.lists(ACTIONS, max_size=4),
    fast=st.lists(st.integers(0, 2), max_size=3),
)
def test_who_is_faster_changes_the_order_of_the_log_and_nothing_else(weak, strong, fast):
    protocol = SpeculativeActions(guesses=2, max_steps=6)
    one, _ = asyncio.run(recorded(protocol, weak, strong, waits=(fast, ())))
    other, _ = asyncio.run(recorded(protocol, weak, strong, waits=((), fast)))

    assert told_by_lane(one) == told_by_lane(other)
    assert {replayed(one).result, replayed(other).result} == {"same"}


@settings(max_examples=40)
@given(
    weak=st.lists(ACTIONS | st.sampled_from(["?", DONE]), max_size=10),
    strong=st.lists(ACTIONS, max_size=8),
    judgements=st.lists(st.booleans() | st.none(), max_size=8),
)
def test_agentcollab_runs_every_step_on_the_authority_of_its_actor_and_replays(weak, strong, judgements):
    says = iter(judgements)

    def model(replies):
        own = iter(replies)

        def reply(request):
            question = request.messages[-1].content
            if question.startswith("PLAN"):
                return '{"plan": "Look, then change A."}'
            if not question.startswith("LOOK BACK") and "progress" not in (request.schema or ""):
                return next(own, DONE)
            said = next(says, True)
            return "hm" if said is None else json.dumps({"progress": said, "reason": "because"})

        return ScriptedModel(reply)

    async def run():
        store, calls = MemoryEventStore(), []
        environment = open_desk(calls)
        clients = {"weak": model(weak), "strong": model(strong)}
        task = environment.tasks()[0]
        done = await record(task, environment, clients, AgentCollab(k=2, max_steps=12), store)
        return list(store.read(done.episode)), calls

    events, calls = asyncio.run(run())
    event(f"escalated: {any(body.to == 'strong' for body in of(events, ControlPassed))}")

    assert [body.action for body in acts(events)] == calls
    assert {body.authority for body in of(events, ActRequested)} <= {"actor"}
    assert [body.steps for body in of(events, ControlPassed) if body.to == "strong"] == _stretches(events)
    assert fold(events).totals == of(events, EpisodeEnded)[-1].totals
    assert replayed(events).result == "same"


def _stretches(events) -> list[int]:
    """Return the lengths that follow from the failures that were counted, an unread weak model's included."""
    failures, lengths = 0, []
    for one in events:
        match one.body:
            case ProgressJudged():
                failures = one.body.failures
            case ControlPassed(to="strong"):
                unread = not isinstance(events[one.seq - 1].body, ProgressJudged)
                failures += unread
                lengths.append(2 * failures)
    return lengths


@in_loop
async def test_a_log_cut_anywhere_among_the_lanes_replays_up_to_there():
    weak = [at("look"), at("look", "B"), at("change"), at("look", "B")]
    strong = [at("look"), at("look", "B"), at("change"), DONE]
    events, _ = await recorded(SpeculativeActions(guesses=2), weak, strong, waits=((), (2, 0, 2)))

    for length in range(1, len(events)):
        result = await replay_episode(events[:length])
        assert (length, result.result, result.compared) == (length, "same", length - 1)


@pytest.mark.parametrize("slow", ["weak", "strong"])
@in_loop
async def test_an_interruption_in_the_middle_of_the_lanes_is_recorded_and_replays(slow):
    store = MemoryEventStore()
    waits = ([0, 60_000], []) if slow == "weak" else ([], [0, 60_000])
    run = recorded(SpeculativeActions(), [at("look"), at("look", "B")], [at("look"), DONE], store=store, waits=waits)
    task, before = asyncio.create_task(run), asyncio.all_tasks()
    await asyncio.sleep(0.1)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    events = list(store.read(next(iter(store._logs))))
    result = await replay_episode(events)

    assert (events[-1].type, events[-1].body.outcome) == ("episode.ended", "interrupted")
    assert (result.result, result.compared) == ("same", len(events) - 2)
    assert asyncio.all_tasks() == before - {task}


@in_loop
async def test_an_answer_taken_out_of_one_lane_is_a_difference_and_not_the_end_of_the_record():
    events, _ = await recorded(SpeculativeActions(), [at("look"), at("change")], [at("look"), at("look", "B"), DONE])
    taken = next(one.seq for one in events if one.lane == "1" and isinstance(one.body, GenerateCompleted))
    kept = [one for one in events if one.seq != taken]
    result = await replay_episode([replace(one, seq=number) for number, one in enumerate(kept)])

    assert (result.result, "a question that the record has no answer to" in result.detail) == ("diverged", True)


@in_loop
async def test_a_guess_more_than_was_recorded_is_a_difference():
    events, _ = await recorded(SpeculativeActions(), [at("look")], [DONE])
    options = json.loads(events[0].body.options) | {"guesses": 2}
    started = replace(events[0], body=replace(events[0].body, options=json.dumps(options)))
    result = await replay_episode([started, *events[1:]])

    assert (result.result, "when lane 1 was over" in result.detail) == ("diverged", True)


@in_loop
async def test_speculated_reads_are_in_the_ledger_and_the_chain_is_whole():
    store = MemoryEventStore()
    events, _ = await recorded(SpeculativeActions(), [at("look"), at("look")], [at("look"), at("change")], store=store)
    ledger = {deed.position: (deed.effect_declared, deed.authority) for deed in deeds(events)}

    assert verify_episode(store, events[0].episode).result == "consistent"
    assert ledger["s1.1"] == ("read", "speculative")
    assert ledger["s2.1"] == ("write", "actor")


@in_loop
async def test_the_lost_branch_is_awaited_before_the_strong_models_own_step_runs():
    weak, strong = [at("look", "B")], [at("change")]
    events, calls = await recorded(SpeculativeActions(), weak, strong, waits=((5,), ()))
    lost = next(one.seq for one in events if isinstance(one.body, StepsDiscarded))
    asked = {one.body.position: one.seq for one in events if isinstance(one.body, ActRequested)}

    assert calls[:2] == [at("look", "B"), at("change")]
    assert asked["s1.g1"] < lost < asked["s1.1"]


@in_loop
async def test_the_log_of_an_episode_that_was_guessed_right_holds_each_read_once():
    weak, strong = [at("look"), at("look", "B")], [at("look"), at("look", "B"), DONE]
    events, calls = await recorded(SpeculativeActions(), weak, strong)
    twice, _ = await recorded(SpeculativeActions(), weak, strong)

    assert calls == [at("look"), at("look", "B")]
    assert [
        found for one, other in zip(events[1:], twice[1:], strict=True) for found in differences(one.body, other.body)
    ] == []
