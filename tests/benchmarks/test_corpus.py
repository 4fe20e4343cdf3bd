"""The benchmark's episodes are ones that spectrace could have recorded: they fold, verify and repeat their messages."""

import asyncio
from dataclasses import asdict

import pytest

from spectrace.audit.integrity import verify_episode
from spectrace.core.deeds import deeds
from spectrace.core.events import ActRequested, GenerateCompleted, GenerateRequested, VerdictGiven
from spectrace.core.fold import fold
from spectrace.core.types import Call, Outcome, Reply
from spectrace.runs.recorder import Recorder
from spectrace.store.sql import open_store
from tests.benchmarks import sources
from tests.benchmarks.corpus import EPOCH_US, episode_of, mapped

SYSTEM = {"role": "system", "content": "Be kind. " * 60}
HELLO = {"role": "user", "content": "Cancel O1"}
LOOK = {
    "role": "assistant",
    "content": "I look.",
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": '{"id": "O1"}'}},
        {"id": "c2", "type": "function", "function": {"name": "get_user", "arguments": '{"id": "U1"}'}},
    ],
}
SEEN = {"role": "tool", "tool_call_id": "c1", "name": "get_order", "content": "order O1 " * 80}
USER = {"role": "tool", "tool_call_id": "c2", "name": "get_user", "content": "user U1"}
CANCEL = {
    "role": "assistant",
    "content": "I cancel.",
    "tool_calls": [{"id": "c3", "type": "function", "function": {"name": "cancel", "arguments": "{}"}}],
}
DONE = {"role": "tool", "tool_call_id": "c3", "name": "cancel", "content": "cancelled"}
BYE = {"role": "assistant", "content": "It is cancelled."}


def model_call(number, messages, response):
    usage = {"prompt_tokens": 900, "completion_tokens": 40, "cached_tokens": 800}
    told = {"messages": messages, "response": response, "finish_reason": "stop", "usage": usage, "latency_ms": 200.125}
    return "model_call", {
        "call_id": f"id{number}",
        "model": "m",
        "endpoint": "e",
        "params": {"temperature": 0.0},
    } | told


def drafted(number, *, mutating=False):
    return "drafted_step", {"step": number, "draft_id": f"d{number}", "mutating": mutating, "reasoning": "why " * 90}


def verdict(number, decision="accept"):
    told = {"verifier": "v", "decision": decision, "score": 0.25, "rule_ids": ["R01"], "rationale": "it is right"}
    return "verdict", {"step": number, "latency_ms": 90.5} | told


def observed(number, message, *, mutating=False):
    told = {"tool": message["name"], "call_id": message["tool_call_id"], "result": message["content"]}
    return "tool_observation", {"step": number, "mutating": mutating, "error": None, "latency_ms": 1.5} | told


STARTED = {"task_id": "retail-1", "trial": 2, "agent": "weak", "verifier": "strong", "seed": 7, "config": {"k": 1}}
SOURCE = [
    ("episode_started", STARTED),
    model_call(0, [SYSTEM, HELLO], LOOK),
    drafted(0),
    verdict(0, "revise"),
    observed(0, SEEN),
    observed(0, USER),
    model_call(1, [SYSTEM, HELLO, LOOK, SEEN, USER], CANCEL),
    drafted(1, mutating=True),
    verdict(1),
    observed(1, DONE, mutating=True),
    model_call(2, [SYSTEM, HELLO, LOOK, SEEN, USER, CANCEL, DONE], BYE),
    drafted(2),
    verdict(2),
    ("episode_finished", {"status": "success", "reward": 1.0, "steps": 3}),
]


def record(store, episode):
    """Record as a live run does: written one by one, settled after each step."""
    recorder = Recorder(episode.id, store.create(episode.id, episode.started, EPOCH_US))

    async def steps():
        for step in episode.steps:
            for body in step:
                recorder.write("", body)
            await recorder.settle(durable=False)

    asyncio.run(steps())
    recorder.end(Outcome(episode.ended.outcome, episode.ended.reason, reward=episode.ended.reward))


@pytest.fixture
def store(tmp_path):
    opened = open_store(str(tmp_path / "log.db"))
    yield opened
    opened.close()


def test_a_mapped_episode_records_folds_and_verifies(store):
    episode = episode_of(SOURCE, "e1")

    record(store, episode)

    told = fold(store.read("e1"))
    verified = verify_episode(store, "e1")
    assert (verified.result, verified.events) == ("consistent", episode.events)
    assert [event.body for event in store.read("e1")][1:-1] == [body for step in episode.steps for body in step]
    assert (told.totals.steps, told.totals.reviews, told.totals.rejections) == (3, 3, 1)
    assert (told.totals.reads, told.totals.writes) == (2, 1)


def test_a_step_is_what_lies_between_two_model_calls():
    episode = episode_of(SOURCE, "e1")

    assert [len(step) for step in episode.steps] == [8, 6, 4]
    assert [type(step[0]) for step in episode.steps] == [GenerateRequested] * 3
    assert (episode.events, episode.source_events) == (20, 14)
    assert [len(step) for step in episode.pending()] == [8, 6, 4, 1]


def test_calls_repeat_the_same_message_objects():
    first, second, third = (step[0].messages for step in episode_of(SOURCE, "e1").steps)

    assert all(one is other for one, other in zip(first, second, strict=False))
    assert all(one is other for one, other in zip(second, third, strict=False))
    assert len(third) == 7


def test_each_of_several_calls_in_one_message_is_an_act_of_its_own():
    acts = [body for step in episode_of(SOURCE, "e1").steps for body in step if isinstance(body, ActRequested)]

    assert [(act.position, act.action, act.effect, act.authority) for act in acts] == [
        ("s1.1", Call("get_order", '{"id": "O1"}'), "read", "read"),
        ("s1.2", Call("get_user", '{"id": "U1"}'), "read", "read"),
        ("s2.1", Call("cancel", "{}"), "write", "verdict:12"),
    ]


def test_the_ledger_of_a_mapped_episode_names_the_verdict_that_allowed_the_write(store):
    record(store, episode_of(SOURCE, "e1"))

    (write,) = (deed for deed in deeds(store.read("e1")) if deed.effect_declared == "write")
    assert (write.tool, write.authority, write.verdict_seq, write.outcome) == ("cancel", "verdict:12", 12, "ok")


def test_what_has_no_field_of_its_own_is_kept():
    first, _, last = episode_of(SOURCE, "e1").steps

    assert first[1].server == '{"endpoint":"e","draft_id":"d0"}'
    assert first[1].reasoning == "why " * 90
    assert isinstance(first[3], VerdictGiven)
    assert first[3].raw == ('{"latency_ms":90.5,"verifier":"v","decision":"revise","score":0.25,"rule_ids":["R01"]}')
    assert last[2].action == Reply("It is cancelled.")


@pytest.fixture
def generated(monkeypatch, tmp_path):
    """The two corpora, made anew from ../shared."""
    pytest.importorskip("tau2")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    try:
        return {kind: sources.load(kind) for kind in sources.KINDS}
    except sources.Missing as missing:
        pytest.skip(str(missing))


@pytest.mark.slow
def test_the_generated_corpora_record_and_verify(generated, store):
    for number, kind in enumerate(sources.KINDS):
        for episode in mapped(generated[kind][100:103], prefix=str(number)):
            record(store, episode)

            assert verify_episode(store, episode.id).result == "consistent"
            calls = [event.body for event in store.read(episode.id) if isinstance(event.body, GenerateCompleted)]
            assert [asdict(call) for call in calls] == [
                asdict(body) for step in episode.steps for body in step if isinstance(body, GenerateCompleted)
            ]
