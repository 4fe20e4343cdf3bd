"""A replay runs the protocol again and names the first event that differs."""

import asyncio
from dataclasses import replace

import pytest

from spectrace.core.baselines import StrongOnly, WeakOnly
from spectrace.core.events import ActCompleted, EpisodeStarted, GenerateCompleted, VerdictGiven
from spectrace.core.prompts import Prompts
from spectrace.core.types import Message, Observation
from spectrace.environments.functions import FunctionEnvironment, tool
from spectrace.environments.shop import open_shop
from spectrace.runs.replay import replay_episode
from tests.episodes import CANCEL, DONE, FIND, READ, recorded_events
from tests.playbook import accept, reject


def replay(events, **how):
    return asyncio.run(replay_episode(events, **how))


def changed(events, seq, **fields):
    return [replace(event, body=replace(event.body, **fields)) if event.seq == seq else event for event in events]


def find(events, kind, number=0):
    return [event for event in events if isinstance(event.body, kind)][number]


@pytest.mark.parametrize("protocol", [None, WeakOnly(), StrongOnly()])
def test_a_recorded_episode_replays_the_same(protocol):
    events = recorded_events(protocol=protocol, strong=None if protocol is None else [FIND, READ, CANCEL, DONE])
    result = replay(events)

    assert (result.result, result.compared, result.first_difference) == ("same", len(events) - 1, None)


def test_one_word_of_the_review_prompt_diverges_at_the_first_review():
    events = recorded_events()
    prompts = replace(Prompts(), review=Prompts().review.replace("agent", "helper"))
    first_review = next(event.seq for event in events if getattr(event.body, "role", None) == "reviewer")
    result = replay(events, prompts=prompts)

    assert (result.result, result.first_difference.seq) == ("diverged", first_review)
    assert result.first_difference.field.startswith("/messages/")
    assert "prompts" in result.detail


def test_an_altered_verdict_diverges_at_the_first_fact_that_follows_from_it():
    events = recorded_events()
    given = find(events, VerdictGiven)
    altered = changed(events, given.seq, reason="another reason")
    result = replay(altered)

    assert (result.result, result.first_difference.seq, result.first_difference.field) == (
        "diverged",
        given.seq,
        "/reason",
    )


def test_an_altered_draft_diverges_where_it_is_read():
    events = recorded_events()
    reply = find(events, GenerateCompleted)
    result = replay(changed(events, reply.seq, message=Message("assistant", '{"finish": "hello"}')))

    assert result.result == "diverged"
    assert result.first_difference.seq == reply.seq + 1


def test_live_tools_execute_everything_again_and_give_the_same():
    events = recorded_events()
    result = replay(events, environment=open_shop())

    assert (result.result, result.observations) == ("same", 4)


def test_one_altered_byte_of_an_output_diverges_at_that_event_with_live_tools():
    events = recorded_events()
    answer = find(events, ActCompleted, 1)
    content = answer.body.observation.content
    altered = changed(events, answer.seq, observation=Observation(content[:-1] + chr(ord(content[-1]) ^ 1)))
    result = replay(altered, environment=open_shop())

    assert (result.result, result.first_difference.seq, result.first_difference.field) == (
        "diverged",
        answer.seq,
        "/observation/content",
    )


def test_an_environment_that_cannot_be_restored_is_never_run_again():
    calls = []

    @tool(effect="write")
    def pay(amount: int) -> str:
        """Pay."""
        calls.append(amount)
        return "paid"

    environment = FunctionEnvironment.from_functions("shop", [pay], "Pay.", reset=lambda: None)
    result = replay(recorded_events(), environment=environment)

    assert result.result == "untestable"
    assert "restore=none" in result.detail
    assert calls == []


def test_another_description_of_a_tool_is_told_and_executes_all_the_same():
    shop = open_shop()
    tools = (replace(shop.tools()[0], description="Another."), *shop.tools()[1:])
    shop.tools = lambda: tools
    result = replay(recorded_events(), environment=shop)

    assert (result.result, result.observations) == ("same", 4)
    assert "of the tools differs, without effect on it: /tools/find_customer/description" in result.detail


def test_another_environment_than_the_recorded_one_is_refused():
    environment = FunctionEnvironment.from_functions("desk", [], "Nothing.", reset=lambda: None, restore="reset")

    assert "recorded on shop" in replay(recorded_events(), environment=environment).detail


def test_another_revision_cannot_be_tested_and_names_the_version():
    events = recorded_events()
    started = events[0].body
    assert isinstance(started, EpisodeStarted)
    other = changed(events, 0, protocol_revision=99)
    result = replay(other)

    assert result.result == "untestable"
    assert f"spectrace {started.versions.spectrace}" in result.detail


def test_an_unknown_protocol_cannot_be_tested():
    assert "no generator here" in replay(changed(recorded_events(), 0, protocol="mystery")).detail


def test_a_record_that_stops_in_the_middle_is_the_same_as_far_as_it_goes():
    events = recorded_events()
    for length in range(2, len(events)):
        result = replay(events[:length])

        assert (result.result, result.compared) == ("same", length - 1), result.detail


def test_a_corrective_turn_and_an_unusable_verdict_replay_too():
    events = recorded_events(weak=[CANCEL, READ, CANCEL, DONE], strong=["?", "?", FIND, reject(2), CANCEL, accept()])

    assert replay(events).result == "same"


def test_an_end_from_outside_the_protocol_ends_the_comparison_wherever_it_came():
    events = recorded_events()
    for length in range(2, len(events)):
        ended = replace(
            events[-1], seq=length, body=replace(events[-1].body, outcome="interrupted", reason="cancelled")
        )
        result = replay([*events[:length], ended])

        assert (result.result, result.compared) == ("same", length - 1), result.detail


def test_a_log_with_a_hole_cannot_be_tested_and_names_the_missing_event():
    events = recorded_events()
    for hole in (4, 20, len(events) - 2):
        result = replay([*events[:hole], *events[hole + 1 :]])

        assert (result.result, f"event {hole} is missing" in result.detail) == ("untestable", True)
