"""The record answers first, lane by lane; a failure is told again; keys stay those of the actions."""

import asyncio
from dataclasses import replace

import pytest

from spectrace.core.commands import Act, Generate
from spectrace.core.events import ActRequested, GenerateCompleted, GenerateFailed, GenerateRequested
from spectrace.core.types import Effect, ModelRequest, Observation, Role, Usage
from spectrace.environments.shop import open_shop
from spectrace.errors import ModelFailed
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.recorder import Recorder
from spectrace.runs.sources import Limits, LiveSource, Observed
from spectrace.runs.taking_over import TakenOver, keys_of
from spectrace.store.memory import MemoryEventStore
from tests.episodes import CANCEL, recorded_events
from tests.forks import first

DRAFT = Generate(Role.DRAFTER, "weak", "s1.1", ModelRequest(()))


class Child:
    """A child that has written its record up to a question."""

    def __init__(self, told, words=None):
        self.store = MemoryEventStore()
        writer = self.store.create("child", told[0].body, 1)
        live = LiveSource(open_shop(), {"weak": ScriptedModel(["live"])}, Limits())
        self.taking = TakenOver(told, Recorder("child", writer), live, words or {}, keys_of(told))
        self.told = told

    def write(self, upto):
        for event in self.told[1 : upto + 1]:
            self.seq = self.taking.write(event.lane, event.body)
        return self.seq

    @property
    def stored(self):
        return len(list(self.store.read("child")))


def generated(child, request):
    return asyncio.run(child.taking.generate("", request, DRAFT))


def test_a_question_in_the_record_has_the_recorded_answer_and_one_behind_it_is_live():
    events = recorded_events()
    asked = first(events, GenerateRequested)
    child = Child(events[: asked + 2])
    told = generated(child, child.write(asked))
    child.write(asked + 1)
    live = generated(child, child.taking.write("", events[asked].body))

    assert (told.source, told.completion.message) == ("record", events[asked + 1].body.message)
    assert (live.source, live.completion.message.content) == ("live", "live")


def test_a_failure_is_told_again_and_that_it_is_from_the_record():
    events = recorded_events()
    asked = first(events, GenerateRequested)
    failed = GenerateFailed(
        request=asked,
        role="drafter",
        kind="context",
        error="too long",
        partial_text="",
        usage=Usage(),
        latency_us=1,
        attempts=(),
        source="live",
    )
    child = Child([*events[: asked + 1], replace(events[asked + 1], body=failed)])
    with pytest.raises(ModelFailed, match="too long") as told:
        generated(child, child.write(asked))

    assert (told.value.kind, told.value.source) == ("context", "record")


def test_a_persons_word_is_the_answer_of_an_act_that_got_none():
    events = recorded_events()
    asked = first(events, ActRequested)
    word = Observed(Observation("it is done"), None, None, None, "edited", "person:Ann")
    child = Child(events[: asked + 1], {asked: word})
    act = Act(CANCEL, Effect.WRITE, "verdict:1", events[asked].body.position)

    assert asyncio.run(child.taking.act("", child.write(asked), act)) is word


def test_an_action_that_was_asked_before_keeps_its_key_and_a_new_one_has_its_own():
    events = recorded_events()
    asked = events[first(events, ActRequested)].body
    child = Child(events)

    assert child.taking.act_key(asked.position) == asked.idempotency_key
    assert child.taking.act_key("s99.1") == "child:s99.1"


def test_of_two_askings_of_one_action_the_first_key_counts():
    events = recorded_events()
    at_ = first(events, ActRequested)
    again = replace(events[at_], body=replace(events[at_].body, idempotency_key="later"))

    assert keys_of([events[at_], again]) == {events[at_].body.position: events[at_].body.idempotency_key}


def test_the_record_is_committed_with_the_first_event_behind_it():
    events = recorded_events()
    answered = first(events, GenerateCompleted)
    child = Child(events[: answered + 1])
    child.write(answered)
    asyncio.run(child.taking.settle(durable=True))
    before = child.stored
    child.taking.write("", events[answered + 1].body)
    asyncio.run(child.taking.settle(durable=False))

    assert (before, child.stored) == (1, answered + 2)
