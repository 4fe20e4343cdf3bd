"""What a verifier is shown of a recording without reviews ends where the write begins: nothing later is in its prompt.

Every text of every recorded event gets a word of its own, which says the event's number. What a re-verification then
asks must hold none whose number lies behind the moment at which the held action was sent.
"""

import asyncio
import json
import os
import re
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spectrace.core.baselines import StrongOnly, WeakOnly
from spectrace.core.events import ActRequested, GenerateRequested
from spectrace.core.fold import fold
from spectrace.core.reviews import reviews_of
from spectrace.core.types import Call, Completion, Finish, Message, ToolCall
from spectrace.environments.shop import open_shop
from spectrace.interchange import tau2
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.live import record
from spectrace.runs.reverify import reverify_episode
from spectrace.store.memory import MemoryEventStore
from tests.playbook import accept
from tests.tau2_files import RETAIL

WORD = re.compile(r"canary([0-9]+)z")
TEXTS = {"content", "text", "error", "detail", "reasoning", "answer", "objection", "evidence", "partial_text", "cause"}
READS = [
    Call("find_customer", json.dumps({"name_or_email": "Ana Silva"})),
    Call("get_order", json.dumps({"order_id": "W200"})),
    Call("get_order", json.dumps({"order_id": "nothing"})),
    Call("no_such_tool", "{}"),
]
WRITES = [
    Call("cancel_order", json.dumps({"order_id": "W200"})),
    Call("issue_voucher", json.dumps({"customer_id": "C12", "cents": 500})),
    Call("issue_voucher", json.dumps({"cents": "many"})),
]


def marked(value, seq):
    """Return an event's body, the event's word in each of its texts."""
    if isinstance(value, tuple):
        return tuple(marked(one, seq) for one in value)
    if not is_dataclass(value):
        return value
    changed = {}
    for item in fields(value):
        old = getattr(value, item.name)
        if item.name in TEXTS and isinstance(old, str):
            changed[item.name] = f"{old} canary{seq}z"
        elif item.name == "arguments" and isinstance(old, str):
            changed[item.name] = _with_member(old, seq)
        elif is_dataclass(old) or isinstance(old, tuple):
            changed[item.name] = marked(old, seq)
    return replace(value, **changed)


def _with_member(arguments, seq):
    found = json.loads(arguments)
    return json.dumps(found | {"mark": f"canary{seq}z"}) if isinstance(found, dict) else arguments


def with_words(events):
    return [events[0], *(replace(event, body=marked(event.body, event.seq)) for event in events[1:])]


def sent_at(events, review):
    """Return the event at which a review's held action was sent; one that never was, is drafted there."""
    position = next(event.body.position for event in events if event.seq == review.drafted_seq)
    sent = (event.seq for event in events if isinstance(event.body, ActRequested) and event.body.position == position)
    return next(sent, review.drafted_seq)


def assert_shown_nothing_later(events):
    """Judge every derived review again; return how many there were."""
    events = with_words(events)
    store, reviews = MemoryEventStore(), reviews_of(fold(events))
    if not reviews:
        return 0
    rows, _ = asyncio.run(reverify_episode(events, ScriptedModel(accept(), repeat=True), store, "again"))
    asked = [event.body for event in store.read(rows[0].child) if isinstance(event.body, GenerateRequested)]

    assert [body.position for body in asked] == [f"s{review.segment}" for review in reviews]
    for review, body in zip(reviews, asked, strict=True):
        prompt = "".join(one.content + "".join(call.arguments for call in one.calls) for one in body.messages)
        shown = {int(number) for number in WORD.findall(prompt)}
        until = sent_at(events, review)
        assert review.drafted_seq in shown, "the held action itself is shown"
        assert {number for number in shown if number > until} == set()
    return len(reviews)


turns = st.lists(st.lists(st.sampled_from([*READS, *READS, *WRITES]), min_size=1, max_size=3), max_size=8)


def spoken(turn):
    calls = tuple(ToolCall(f"c{number}", call.tool, call.arguments) for number, call in enumerate(turn))
    return Completion(Message("assistant", "", calls))


@settings(deadline=None, max_examples=60)
@given(turns, st.sampled_from([WeakOnly, StrongOnly]))
def test_nothing_recorded_after_a_write_is_in_the_prompt_of_its_derived_review(said, protocol):
    store, desk = MemoryEventStore(), open_shop()
    task = next(one for one in desk.tasks() if one.id == "cancel-own")
    model = ScriptedModel([*map(spoken, said), Finish("All done.")], calls="native")
    chosen = protocol(max_steps=40)
    role = chosen.MODELS[0]
    recorded = asyncio.run(record(task, desk, {role: model}, chosen, store))

    assert_shown_nothing_later(list(store.read(recorded.episode)))


def test_nothing_later_is_shown_of_an_imported_episode():
    store = MemoryEventStore()
    imported = tau2.import_file(RETAIL, store)

    assert sum(assert_shown_nothing_later(list(store.read(one.episode))) for one in imported) >= len(imported)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["airline__45651a42", "airline__b4e983fc", "retail__94ad2a06"])
def test_nothing_later_is_shown_of_the_episodes_that_others_recorded(name):
    shared = Path(os.environ.get("SPECTRACE_SHARED", "../shared")) / "corpus" / "tau2"
    found = sorted(shared.glob(f"{name}*.json"))
    if not found and os.environ.get("CI") != "true":
        pytest.skip("SPECTRACE_SHARED names no folder with corpus/tau2 in it")
    assert found, f"no {name}*.json in {shared}"
    store = MemoryEventStore()
    imported = tau2.import_file(found[0], store)[::3]

    assert sum(assert_shown_nothing_later(list(store.read(one.episode))) for one in imported) >= len(imported) / 2


def test_a_word_behind_the_write_would_be_found():
    """The check can fail: a review whose held step had its observation would show it."""
    store, desk = MemoryEventStore(), open_shop()
    task = next(one for one in desk.tasks() if one.id == "cancel-own")
    model = ScriptedModel([spoken([WRITES[0]]), Finish("All done.")], calls="native")
    recorded = asyncio.run(record(task, desk, {"weak": model}, WeakOnly(), store))
    events = with_words(list(store.read(recorded.episode)))
    (first, _) = reviews_of(fold(events))
    later = reviews_of(fold(events))[1].history.steps[0]

    assert any(int(number) > sent_at(events, first) for number in WORD.findall(later.observation.content))
