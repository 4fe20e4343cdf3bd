"""Roles: what each model is shown, and what is asked again."""

import json
from dataclasses import replace

import pytest

from spectrace.core.reviewing import review_messages
from spectrace.core.roles import Budget, Desk, Ended, Meter
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Effect, History, Message, Observation, Step, Usage
from tests.playbook import Playbook, accept, change, look, setup


def test_json_models_are_shown_the_tools_as_text_and_native_ones_beside_the_messages():
    as_json = Playbook(SpecAgent().run(setup())).begins().command.request
    native = Playbook(SpecAgent().run(setup(calls="native"))).begins().command.request

    assert "look(id: string): Look a thing up." in as_json.messages[0].content
    assert (as_json.tools, json.loads(as_json.schema)["anyOf"] != []) == ((), True)
    assert "look(" not in native.messages[0].content
    assert ([tool.name for tool in native.tools], native.schema) == (["look", "search", "change"], None)


def test_a_verdict_is_constrained_by_a_schema_and_never_by_a_tool():
    played = Playbook(SpecAgent().run(setup(calls="native"))).begins().says("weak", change(), look())

    request = played.command.request
    assert [branch["properties"]["verdict"]["const"] for branch in json.loads(request.schema)["anyOf"]] == [
        "accept",
        "reject",
    ]
    assert [tool.name for tool in request.tools] == ["look", "search", "change"]


def test_review_and_repair_share_everything_before_the_accepted_prefix_ends():
    played = Playbook(SpecAgent(fused=False).run(setup())).begins().says("weak", look()).observes("red")
    played.says("weak", change())
    reviewed = played.command.request.messages
    played.says(
        "strong", '{"verdict": "reject", "first_wrong": 2, "category": "other", "reason": "no", "replacement": null}'
    )
    repaired = played.command.request.messages

    shared = len(repaired) - 1
    assert reviewed[:shared] == repaired[:shared]
    assert shared == 4


def test_held_and_failed_results_are_marked_for_json_models():
    history = History((Message("user", "go"),))
    steps = (
        Step("s1.1", look(), Effect.READ, Observation("gone", error=True)),
        Step("s1.2", change(), Effect.WRITE, None),
    )
    texts = [message.content for message in review_messages(Desk(setup(), Budget()), history, steps)]

    assert texts[3] == "[s1.1] ERROR: gone"
    assert texts[5] == "[s1.2] NOT EXECUTED: held for review"
    assert "2. " in texts[6]
    assert "(NOT EXECUTED: held for review)" in texts[6]


def test_a_call_whose_tokens_are_not_all_known_is_counted_as_uncounted():
    meter = Meter()
    meter.count("weak", Usage())
    meter.count("strong", Usage(input=10, output=5))
    meter.count("strong", Usage(input=10))

    assert (meter.calls, meter.tokens, meter.uncounted) == ({"weak": 1, "strong": 2}, 25, 2)


@pytest.mark.parametrize(
    ("budget", "meter", "limit"),
    [
        (Budget(max_steps=2), Meter(steps=2), "max_steps"),
        (Budget(max_strong_calls=1), Meter(calls={"strong": 1}), "max_strong_calls"),
        (Budget(max_tokens=10), Meter(tokens=10), "max_tokens"),
        (Budget(max_tokens=10), Meter(tokens=10, uncounted=1), "max_tokens"),
        (Budget(max_tokens=10), Meter(uncounted=1), "tokens_unknown"),
    ],
)
def test_a_reached_limit_ends_the_episode_truncated(budget, meter, limit):
    with pytest.raises(Ended) as ended:
        Desk(setup(), budget, meter).check_budget()

    assert (ended.value.outcome.status, ended.value.outcome.reason) == ("truncated", limit)


@pytest.mark.parametrize(("budget", "revision"), [(Budget(), 2), (Budget(max_tokens=10), 1)])
def test_uncounted_tokens_end_nothing_without_a_limit_of_tokens_or_by_the_first_rules(budget, revision):
    Desk(replace(setup(), revision=revision), budget, Meter(uncounted=1)).check_budget()


def test_a_draft_asked_again_sees_what_was_wrong_with_it():
    played = Playbook(SpecAgent().run(setup())).begins().says("weak", "let me look")
    messages = played.command.request.messages

    assert messages[-2] == Message("assistant", "let me look")
    assert "expected one JSON object" in messages[-1].content
    played.says("weak", look()).observes()
    assert len(played.command.request.messages) == 4  # the failed attempt is not part of the history


def test_an_accept_needs_no_further_word():
    played = Playbook(SpecAgent().run(setup())).begins().says("weak", change()).says("strong", accept())

    assert played.command.authority == f"verdict:{played.seq - 1}"


def test_a_decision_is_done_on_its_own_event_unless_a_person_edited_the_review():
    desk = Desk(setup(), Budget())
    desk.edited[7] = "person:Ann"

    assert [desk.authority(review, "verdict:9") for review in (7, 5, None)] == ["person:Ann", "verdict:9", "verdict:9"]
