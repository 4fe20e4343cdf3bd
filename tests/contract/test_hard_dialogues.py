"""Dialogues with odd ids, answers out of order and one huge answer, over every store; and errors that tell nothing."""

import asyncio
import base64
import hashlib
import json
import traceback
from dataclasses import replace

import pytest
import sqlalchemy as sa

from spectrace.audit.integrity import INVALID, verify_episode
from spectrace.core import commands
from spectrace.core.events import (
    ActCompleted,
    ActRequested,
    EpisodeEnded,
    GenerateCompleted,
    GenerateRequested,
)
from spectrace.core.prompts import Prompts
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Call, Completion, Effect, Message, ModelRequest, Observation, Outcome, Role, ToolCall
from spectrace.environments.functions import FunctionEnvironment, tool
from spectrace.errors import StoreError
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.drive import Driver
from spectrace.runs.live import Labels, run_recorded, started
from spectrace.runs.recorder import Recorder
from spectrace.runs.recording import Comparison, RecordedSource, Recording
from spectrace.runs.replay import replay_episode
from spectrace.runs.sources import Limits, LiveSource
from spectrace.store.event_store import Pending
from spectrace.store.samples import EPOCH_US, pending, sample_episode
from spectrace.store.sql import SqlEventStore, open_store
from tests.hard_values import TASK, case, record_steps


def bodies(store, episode, kind):
    return [event.body for event in store.read(episode) if isinstance(event.body, kind)]


def native(*made):
    """Return a reply of tool calls: (id, name of a value)."""
    calls = tuple(ToolCall(id_, "give", json.dumps({"name": name})) for id_, name in made)
    return Completion(Message("assistant", "", calls))


def test_ids_used_twice_or_empty_are_kept_and_answers_go_by_position(open_event_store):
    store = open_event_store()
    drafts = [native(("call_1", "nul"), ("call_1", "decimal"), ("", "set")), native(("call_1", "nul-literal"))]
    episode = record_steps(store, drafts, calls="native").episode
    said = [[call.id for call in body.message.calls] for body in bodies(store, episode, GenerateCompleted)]
    answered = [body.observation.content for body in bodies(store, episode, ActCompleted)][:-1]
    prompt = [body for body in bodies(open_event_store(), episode, GenerateRequested) if body.who == "weak"][
        -1
    ].messages

    assert [ids for ids in said if ids] == [["call_1", "call_1", ""], ["call_1"]]
    assert answered == ["a\0b", '{"$decimal":"1.10"}', '{"$set":["a","b","c"]}', "a\\u0000b"]
    assert [event.seq for event in store.read(episode)] == list(range(store.row(episode).events))
    assert [call.id for message in prompt for call in message.calls] == ["s1.1", "s1.2", "s1.3", "s1.4"]
    assert asyncio.run(replay_episode(list(store.read(episode)))).result == "same"


def test_a_second_answer_to_one_call_is_kept_and_named_as_what_it_is(event_store):
    sample = sample_episode(7)
    end = next(n for n, body in enumerate(sample) if isinstance(body, ActCompleted)) + 1
    again = Pending(end, "", EPOCH_US + 1_000 * end, sample[end - 1])
    writer = event_store.create("twice", sample[0], EPOCH_US)
    writer.append([*pending(sample)[1:end], again], durable=True)
    writer.close()
    found = verify_episode(event_store, "twice")

    assert (found.result, found.first_bad_seq) == (INVALID, end)
    assert "no open act.requested" in found.detail
    assert bodies(event_store, "twice", ActCompleted)[-1] == sample[end - 1]


def polls():
    """Ask twice at once, then tell a model of both in the order of the calls."""
    yield from commands.reset(None)
    asked = [
        commands.act(Call("wait", json.dumps({"name": name})), Effect.READ, "read", f"s1.{number}")
        for number, name in enumerate(("A", "B"), start=1)
    ]
    answers = yield from commands.parallel(asked)
    told = tuple(
        Message("tool", answer.value.observation.content, (), f"s1.{number}")
        for number, answer in enumerate(answers, start=1)
    )
    yield from commands.generate(Role.DRAFTER, "weak", "s1.3", ModelRequest(told))
    return Outcome("completed", "finished")


def open_waiting_room():
    """Return an environment whose first call waits for the second."""
    second = asyncio.Event()

    @tool(effect="read")
    async def wait(name: str) -> str:
        """Wait."""
        if name == "B":
            second.set()
        await second.wait()
        await asyncio.sleep(0.01 * (name == "A"))
        return f'["{name}"]'

    return FunctionEnvironment.from_functions("room", [wait], "Wait.", reset=dict, tasks=[TASK])


async def record_polls(store):
    environment, weak = open_waiting_room(), ScriptedModel(["well"])
    first = started(environment, TASK, SpecAgent(), Prompts(), (), Labels())
    writer = store.create("polls", first, EPOCH_US)
    recorder = Recorder("polls", writer)
    driver = Driver(LiveSource(environment, {"weak": weak}, Limits()), recorder, "live")
    driver._turn = asyncio.Semaphore(2)  # a log of whoever asks an environment two things at once, as we do not
    await run_recorded(driver, polls(), recorder, writer)
    await environment.close()
    return weak.requests


def test_answers_out_of_order_keep_both_orders_and_the_prompt_is_the_same_on_replay(open_event_store):
    (sent,) = asyncio.run(record_polls(open_event_store()))
    events = list(open_event_store().read("polls"))
    asked = {event.seq: event.body.action.arguments for event in events if isinstance(event.body, ActRequested)}
    ended = [event for event in events if isinstance(event.body, ActCompleted)]
    recording = Recording(events)
    asyncio.run(Driver(RecordedSource(recording), Comparison(recording), "record").run(polls()))

    assert [json.loads(text)["name"] for text in asked.values()] == ["A", "B"]
    assert [json.loads(asked[event.body.request])["name"] for event in ended] == ["B", "A"]
    assert ended[0].at < ended[1].at
    assert [event.lane for event in ended] == ["1", "0"]
    assert [json.loads(event.body.observation.content) for event in ended] == [["B"], ["A"]]
    assert bodies(open_event_store(), "polls", GenerateRequested)[0].messages == sent.messages
    assert [message.content for message in sent.messages] == ['["A"]', '["B"]']
    assert isinstance(recording.left().body, EpisodeEnded)


def test_a_history_sent_with_its_results_in_another_order_is_kept_as_sent(event_store):
    lines = [json.loads(line) for line in case("047-parallel-results-out-of-order/history.jsonl").splitlines()]
    expected = json.loads(case("047-parallel-results-out-of-order/expected.json"))
    asked = lines[0]["tool_calls"]
    calls = tuple(ToolCall(one["id"], one["function"]["name"], one["function"]["arguments"]) for one in asked)
    results = tuple(Message("tool", one["content"], (), one["tool_call_id"]) for one in lines[1:])
    sample = sample_episode(8)
    question = next(body for body in sample if isinstance(body, GenerateRequested))
    question = replace(question, messages=(Message("assistant", "", calls), *results))
    writer = event_store.create("sent", sample[0], EPOCH_US)
    writer.append([Pending(1, "", EPOCH_US, question)], durable=True)
    writer.close()
    (kept,) = bodies(event_store, "sent", GenerateRequested)
    pairs = {
        str(json.loads(call.arguments)["member_id"]): message.content
        for call in kept.messages[0].calls
        for message in kept.messages[1:]
        if message.call_id == call.id
    }

    assert kept.messages == question.messages
    assert pairs == expected["pairs"]


def screenshot_text() -> str:
    """Return 2 MB of base64 inside a JSON text inside a text block, as case 045 makes it."""
    raw = b"".join(hashlib.sha256(number.to_bytes(4, "big")).digest() for number in range(48000))
    return json.dumps({"type": "image", "format": "png", "data": base64.b64encode(raw).decode()})


@pytest.mark.slow
def test_a_screenshot_as_text_is_stored_once_over_ten_steps_and_every_prompt_says_what_was_cut(open_event_store):
    large = screenshot_text()

    @tool(effect="read")
    def look(step: int) -> dict:
        """Look."""
        del step
        return {"content": [{"type": "text", "text": large}], "isError": False}

    room = FunctionEnvironment.from_functions("screen", [look], "Look.", reset=dict, tasks=[TASK])
    steps = [Call("look", f'{{"step": {step}}}') for step in range(10)]
    store = open_event_store()
    episode = record_steps(store, steps, environment=room).episode
    seen = [body.observation for body in bodies(open_event_store(), episode, ActCompleted)][:-1]
    prompt = [body for body in bodies(store, episode, GenerateRequested) if body.who == "weak"][-1].messages

    assert len(large) >= json.loads(case("045-image-as-text/expected.json"))["output_len_min"]
    assert {len(one.content) for one in seen} == {len(seen[0].content)}
    assert json.loads(seen[0].content)["content"][0]["text"] == large
    assert large_blobs(store) == 1
    cut = len(seen[0].content) - Prompts().observation_limit
    assert sum(f"[cut: {cut} of {len(seen[0].content)} characters" in message.content for message in prompt) == 10


def large_blobs(store) -> int:
    """Count the texts of over a megabyte that a store holds."""
    if not isinstance(store, SqlEventStore):
        return sum(len(data) > 10**6 for data in store._blobs.values())
    with store.database.reading() as connection:
        return connection.execute(sa.text("SELECT count(*) FROM blobs WHERE length > 1000000")).scalar_one()


def test_an_error_of_the_database_tells_nothing_of_what_was_to_be_written(database_url):
    private = "payload-that-is-nobodys-business\ud835"  # a blob, and too short to be compressed
    store = open_store(database_url)
    writer = store.create("ep", sample_episode(1)[0], EPOCH_US)
    with store.database.writing(durable=False) as connection:
        connection.exec_driver_sql("DROP TABLE blobs")
    said = next(body for body in sample_episode(1) if isinstance(body, ActCompleted))
    odd = replace(said, observation=Observation(private))
    with pytest.raises(StoreError) as caught:
        writer.append([Pending(1, "", EPOCH_US, odd)], durable=False)
    store.close()

    assert "payload" not in "".join(traceback.format_exception(caught.value))
