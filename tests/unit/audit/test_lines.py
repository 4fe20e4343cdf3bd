import json
from dataclasses import replace

import pytest

from spectrace.audit.lines import action_text, counted, plain, summary, tool_name
from spectrace.core.events import (
    ActCompleted,
    ControlPassed,
    Event,
    GenerateCompleted,
    PlanMade,
    ProgressJudged,
    ReplyUnusable,
    SpeculationMatched,
    StepsDiscarded,
    StepSpeculated,
    Unknown,
)
from spectrace.core.types import Call, Effect, Finish, Message, Observation, Reply
from spectrace.store.samples import sample_episode


def test_every_line_of_an_episode_says_what_happened(reader, episode):
    said = {one.type: one.summary for one in reversed(reader.timeline(episode))}

    assert {name: said[name] for name in ("step.drafted", "action.held", "verdict.given", "repair.made")} == {
        "step.drafted": 's1.1: cancel_order {"order_id": "W200"}',
        "action.held": 's1.1: cancel_order {"order_id": "W200"} waits for a verdict',
        "verdict.given": "step 1 of 1 rejected, premature: find the customer first",
        "repair.made": 'fused: find_customer {"name_or_email": "Ana Silva"}',
    }


def test_a_line_carries_the_header(reader, episode):
    (write,) = (one for one in reader.timeline(episode) if one.type == "act.completed" and one.effect == "write")

    assert (write.tool, write.outcome, write.lane) == ("cancel_order", "ok", "")
    assert write.authority.startswith("verdict:")


def test_no_event_of_the_vocabulary_is_left_without_words():
    events = [Event("e", seq, "", 0, body) for seq, body in enumerate(sample_episode(1))]

    assert [event.type for event in events if not summary(event)] == []


CALL = Call("find_order", '{"id": "W2"}')
RIVALS = [
    (
        StepsDiscarded(segment=1, start=1, end=2, reason="speculation_lost"),
        "segment 1: guesses 1 to 2 discarded, speculation_lost",
    ),
    (
        StepSpeculated(
            effect="read",
            tool="find_order",
            segment=1,
            index=1,
            position="s1.g1",
            action=CALL,
            request=4,
            launched=True,
        ),
        's1.g1: find_order {"id": "W2"} guessed, started',
    ),
    (
        StepSpeculated(
            effect="write", tool="x", segment=1, index=1, position="s1.g1", action=CALL, request=4, launched=False
        ),
        's1.g1: find_order {"id": "W2"} guessed, not started',
    ),
    (
        SpeculationMatched(segment=1, position="s1.1", guess=6),
        "s1.1 is the guess of event 6: its observation is taken",
    ),
    (PlanMade(segment=1, request=4, plan="find it, then cancel"), "plan: find it, then cancel"),
    (
        ProgressJudged(outcome="stagnation", segment=2, who="weak", request=4, reason="no new facts", failures=2),
        "segment 2: the weak model sees stagnation, 2 times in a row: no new facts",
    ),
    (
        ProgressJudged(outcome="progress", segment=2, who="strong", request=4, reason=None, failures=0),
        "segment 2: the strong model sees progress",
    ),
    (
        ControlPassed(segment=2, to="strong", reason="stagnation", steps=4),
        "the strong model goes on for 4 steps: stagnation",
    ),
    (ControlPassed(segment=3, to="weak", reason="planned", steps=None), "the weak model goes on: planned"),
    (
        ReplyUnusable(role="drafter", request=4, cause="a call written as text", next="tolerated"),
        "drafter: a call written as text; tolerated",
    ),
]


@pytest.mark.parametrize(("body", "said"), RIVALS)
def test_what_rivals_decide_is_told_in_one_line(body, said):
    assert summary(Event("e", 7, "", 0, body)) == said


def test_an_unknown_event_is_named_and_not_interpreted():
    event = Event("e", 3, "", 0, Unknown("later.kind", 7, '{"x": 1}'))

    assert (summary(event), plain(event.body)) == (
        'later.kind version 7 is not known to this spectrace: {"x": 1}',
        {"x": 1},
    )


def test_an_erased_event_says_so():
    assert summary(Event("e", 3, "", 0, Unknown("step.drafted", 1, "null"))) == "erased"


def test_actions_read_as_people_write_them():
    actions = (Call("t", '{"a": 1}'), Reply("hello"), Finish("bye"))

    assert [action_text(one) for one in actions] == ['t {"a": 1}', "reply: hello", "finish: bye"]
    assert [tool_name(one) for one in actions] == ["t", "reply", "finish"]


def test_plain_data_says_the_kind_of_an_action_and_is_json():
    value = plain((Reply("x"), Effect.READ, None, 3))

    assert json.loads(json.dumps(value)) == [{"kind": "reply", "text": "x"}, "read", None, 3]


@pytest.mark.parametrize(("number", "words"), [(0, "0 steps"), (1, "1 step"), (2, "2 steps")])
def test_counts_agree_in_number(number, words):
    assert counted(number, "step") == words


@pytest.mark.parametrize(
    ("source", "authority", "said"),
    [
        ("live", "verdict:3", "W200 is cancelled"),
        ("record", "verdict:3", "(taken over) W200 is cancelled"),
        ("edited", "person:Ann Lee", "(by the word of Ann Lee) W200 is cancelled"),
    ],
)
def test_an_answer_that_the_environment_did_not_give_here_says_whose_it_is(source, authority, said):
    body = ActCompleted(
        effect="write",
        authority=authority,
        outcome="ok",
        tool="cancel_order",
        request=4,
        position="s1.1",
        observation=Observation("W200 is cancelled"),
        fingerprint_before=None,
        fingerprint_after=None,
        latency_us=None,
        source=source,
    )

    assert summary(Event("e", 5, "", 0, body)) == said


@pytest.mark.parametrize(
    ("source", "model", "said"),
    [
        ("live", "qwen", "reviewer: yes"),
        ("record", "qwen", "reviewer: (taken over) yes"),
        ("edited", "person:Ann Lee", "reviewer: (by the word of Ann Lee) yes"),
    ],
)
def test_an_answer_that_no_model_gave_here_says_whose_it_is(source, model, said):
    (body,) = [one for one in sample_episode(1) if isinstance(one, GenerateCompleted)][:1]
    body = replace(body, role="reviewer", message=Message("assistant", "yes"), source=source, model=model)

    assert summary(Event("e", 5, "", 0, body)) == said
