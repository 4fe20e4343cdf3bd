import asyncio
import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spectrace.core.events import Unknown
from spectrace.errors import UsageError
from spectrace.interchange import openai_chat_export as export
from spectrace.interchange.openai_chat_export import export_openai
from spectrace.store.memory import MemoryEventStore
from tests.chat_files import ANSWER, ASK, DONE, SAID, SYSTEM, call, calls, imported, result, round_trip, written
from tests.episodes import record_shop

TALK = (SYSTEM, ASK, calls(call("a"), call("b")), result("b", "B"), result("a", "A"), SAID, ANSWER, ANSWER, DONE)


@pytest.fixture
def shop():
    store = MemoryEventStore()
    return store, asyncio.run(record_shop(store)).episode


def exported(store, episodes, path):
    done = export_openai(store, episodes, path)
    return [json.loads(line) for line in path.read_text().splitlines()], done


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(map(json.dumps, TALK)) + "\n",
        json.dumps(list(TALK)) + "\n",
        json.dumps({"messages": list(TALK), "model": "m", "temperature": 0.10}) + "\n",
    ],
    ids=["lines", "array", "object"],
)
def test_a_file_comes_back_in_its_own_layout(tmp_path, text):
    path = tmp_path / "talk.json"
    path.write_text(text)

    assert [json.loads(line) for line in round_trip(path).splitlines()] == [
        json.loads(line) for line in text.splitlines()
    ]


def test_several_dialogues_are_one_object_a_line(tmp_path):
    path = written(tmp_path / "many.jsonl", {"messages": [ASK, DONE], "n": 1}, {"messages": list(TALK)})
    given = [json.loads(line) for line in round_trip(path).splitlines()]

    assert sorted(given, key=str) == sorted(map(json.loads, path.read_text().splitlines()), key=str)


def test_a_message_whose_event_cannot_be_read_is_left_out_and_said(tmp_path):
    store, (episode,) = imported(written(tmp_path / "talk.jsonl", ASK, SAID, ANSWER, DONE))
    events = list(store.read(episode))
    gone = next(event for event in events if event.type == "generate.completed")
    lost = [replace(one, body=Unknown(one.type, 1, "null")) if one is gone else one for one in events]
    written_ = export._episode(lost)

    assert [json.loads(text) for text in written_.messages] == [ASK, ANSWER, DONE]
    assert written_.losses == ["Message 2 is left out: the event that holds it cannot be read."]


def test_of_another_episode_the_history_that_stood_is_told(tmp_path, shop):
    store, episode = shop
    (given,), (done,) = exported(store, [episode], tmp_path / "out.json")
    said = given["messages"]
    tools = [one["tool_calls"][0]["function"]["name"] for one in said if one.get("tool_calls")]

    assert [one["role"] for one in said[:2]] == ["system", "user"]
    assert tools == ["find_customer", "get_order", "cancel_order"]
    assert {one["tool_call_id"] for one in said if one["role"] == "tool"} == {
        one["tool_calls"][0]["id"] for one in said if one.get("tool_calls")
    }
    assert "cancel_order" in {tool["function"]["name"] for tool in given["tools"]}
    assert done.losses == (*export.UNSAID, export.UNSAID_REVIEWS)


def test_what_was_told_of_another_episode_can_be_imported(tmp_path, shop):
    store, episode = shop
    exported(store, [episode], tmp_path / "out.json")

    assert json.loads(round_trip(tmp_path / "out.json")) == json.loads((tmp_path / "out.json").read_text())


def test_nothing_to_export_is_refused(tmp_path, shop):
    with pytest.raises(UsageError, match="at least one episode"):
        export_openai(shop[0], [], tmp_path / "out.json")


def test_an_unfinished_episode_says_so(tmp_path, shop):
    store, episode = shop
    first = next(store.read(episode)).body
    writer = store.create("running", first, 1)
    _, (done,) = exported(store, ["running"], tmp_path / "out.json")
    writer.close()

    assert done.losses[0].startswith("It is still being written: the 1 event")


TEXTS = st.one_of(st.none(), st.text(max_size=4), st.sampled_from(["", "\ud800", "nul \0", "Error: no", "x" * 300]))
IDS = st.sampled_from([None, "", "a", "b", "synthetic-1.1", 7])
CONTENT = st.one_of(TEXTS, st.just([{"type": "text", "text": "é"}]), st.just(1.50), st.just({"a": [1]}))
FUNCTION = st.fixed_dictionaries({}, optional={"name": TEXTS, "arguments": st.one_of(TEXTS, st.just({"n": 1.0}))})
CALL = st.one_of(
    st.fixed_dictionaries(
        {}, optional={"id": IDS, "type": st.just("function"), "function": FUNCTION, "index": st.just(0)}
    ),
    st.just(3),
)
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant", "assistant", "tool", "critic"])},
    optional={
        "content": CONTENT,
        "reasoning": TEXTS,
        "reasoning_content": TEXTS,
        "tool_calls": st.one_of(st.none(), st.lists(CALL, max_size=3)),
        "tool_call_id": IDS,
        "name": TEXTS,
        "function_call": st.just({"name": "f"}),
    },
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(messages=st.lists(MESSAGE, min_size=1, max_size=6))
def test_whatever_the_messages_are_they_come_back_and_give_the_same_events_again(tmp_path, messages):
    path = written(tmp_path / "talk.jsonl", *messages)
    (tmp_path / "again-talk.jsonl").unlink(missing_ok=True)
    (tmp_path / "again-again-talk.jsonl").unlink(missing_ok=True)
    again = round_trip(path)

    assert [json.loads(line) for line in again.splitlines()] == json.loads(json.dumps(messages))
    assert round_trip(tmp_path / "again-talk.jsonl") == again
