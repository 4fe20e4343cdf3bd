"""What a replay says where it leaves the record: both sides, the likely cause, the nearest recorded events."""

import asyncio
import json
from dataclasses import replace

import pytest

from spectrace.core import roles
from spectrace.core.events import ActCompleted, GenerateCompleted, GenerateRequested, SegmentClosed
from spectrace.core.prompts import Prompts
from spectrace.core.types import ToolSpec
from spectrace.environments.shop import open_shop
from spectrace.runs.divergence import Nearest, likely_cause, named, nearest
from spectrace.runs.replay import replay_episode
from tests.episodes import CANCEL, DONE, FIND, READ, recorded_events
from tests.playbook import accept


def replay(events, **how):
    return asyncio.run(replay_episode(events, **how))


def started_with(events, **fields):
    return [replace(events[0], body=replace(events[0].body, **fields)), *events[1:]]


def first(events, kind):
    return next(event for event in events if isinstance(event.body, kind))


def asked(events, role):
    return next(event.seq for event in events if getattr(event.body, "role", None) == role)


def with_tool(events, change):
    """The same episode, with one character of one tool changed in what the questions are rendered from."""
    tools = tuple(change(tool) if tool.name == "get_order" else tool for tool in events[0].body.tools)
    return started_with(events, tools=tools)


def test_one_character_of_a_prompt_is_found_at_the_first_question_that_holds_it_and_names_the_template():
    events = recorded_events()
    result = replay(events, prompts=replace(Prompts(), review=Prompts().review.replace("REVIEW", "REVIEV")))
    found = result.first_difference

    assert (result.result, found.seq, result.compared) == ("diverged", asked(events, "reviewer"), found.seq - 1)
    assert found.field.startswith("/messages/")
    assert ("REVIEW" in found.recorded, "REVIEV" in found.found) == (True, True)
    assert found.cause.startswith("Changed here: /prompts/review (recorded ")


def reworded(tool: ToolSpec) -> ToolSpec:
    return replace(tool, description=f"{tool.description}!")


def retyped(tool: ToolSpec) -> ToolSpec:
    return replace(tool, parameters=tool.parameters.replace('"order_id"', '"order_ie"'))


def bounded(tool: ToolSpec) -> ToolSpec:
    schema = json.loads(tool.parameters)
    schema["properties"]["order_id"]["maxLength"] = 9
    return replace(tool, parameters=json.dumps(schema))


@pytest.mark.parametrize("change", [reworded, retyped, bounded])
def test_one_character_of_a_tool_is_found_at_the_first_question_and_names_the_tool(change):
    events = recorded_events()
    result = replay(with_tool(events, change))

    assert (result.result, result.first_difference.seq) == ("diverged", asked(events, "drafter"))
    assert result.first_difference.cause == "Tool get_order changed: its name, description or schema."


def long_reading():
    return recorded_events(weak=[FIND, READ, FIND, CANCEL, DONE], strong=[accept(), accept()])


def test_another_k_is_found_where_the_segment_closes_and_is_named():
    events = long_reading()
    result = replay(events, options={"k": 2})
    drafted = [event.seq for event in events if getattr(event.body, "role", None) == "drafter"]
    found = result.first_difference

    assert (found.recorded, found.found) == ("generate.requested(drafter)", "segment.closed(k_reads)")
    assert found.seq in drafted
    assert "/options/k (recorded 6, now 2)" in result.detail


def test_another_recorded_k_is_named_by_what_closed_the_segment():
    events = long_reading()
    options = json.loads(events[0].body.options)
    result = replay(started_with(events, options=json.dumps({**options, "k": 2})))

    assert result.first_difference.cause.endswith("(k_reads), the other goes on: look at option k.")


def test_a_parser_that_reads_otherwise_is_found_behind_the_reply_and_named(monkeypatch):
    events = recorded_events()
    reply = first(events, GenerateCompleted)

    def deaf(setup, completion, **how):
        return roles.Unusable("nothing is read any more")

    monkeypatch.setattr(roles, "read_actions", deaf)
    result = replay(events)

    assert (result.result, result.first_difference.seq) == ("diverged", reply.seq + 1)
    assert f"The reply of event {reply.seq} is read otherwise: the parser changed" in result.detail


def test_an_environment_that_answers_otherwise_is_named():
    events = recorded_events()
    answer = first(events, ActCompleted)
    other = replace(answer.body.observation, content=answer.body.observation.content.replace("Ana", "Eva"))
    altered = [replace(e, body=replace(e.body, observation=other)) if e is answer else e for e in events]
    result = replay(altered, environment=open_shop())

    assert result.first_difference.cause.startswith("The environment answered differently")


def test_a_call_with_other_parameters_is_named():
    events = recorded_events()
    question = first(events, GenerateRequested)
    other = replace(question.body, parameters='{"temperature": 0.7}')

    assert likely_cause(question, other, "/parameters/temperature", None, ()) == "The model's parameters changed."


def test_the_nearest_recorded_events_come_first_and_an_equal_one_differs_in_nothing():
    events = recorded_events()
    questions = [event for event in events if isinstance(event.body, GenerateRequested)]
    found = nearest(events, questions[0].seq, questions[2].body)

    assert found[0] == Nearest(questions[2].seq, named(questions[2].body), ())
    assert {one.name for one in found} == {named(questions[2].body)}
    assert [questions[0].seq in {one.seq for one in found}, len(found)] == [False, 3]


def test_an_event_is_named_with_its_role_its_tool_or_its_reason():
    events = recorded_events()

    assert [named(first(events, kind).body) for kind in (GenerateRequested, SegmentClosed, ActCompleted)] == [
        "generate.requested(drafter)",
        "segment.closed(held)",
        "act.completed",
    ]


@pytest.mark.parametrize(
    "schema", ["no JSON", "[" * 100_000, '{"anyOf": 3}', "[]", '{"anyOf": [1, {"properties": 2}]}']
)
def test_a_recorded_schema_that_is_none_is_only_a_difference(schema):
    events = recorded_events()
    asked_first = first(events, GenerateRequested)
    altered = [replace(e, body=replace(e.body, response_schema=schema)) if e is asked_first else e for e in events]
    found = replay(altered).first_difference

    assert (found.seq, found.field.split("/")[1]) == (asked_first.seq, "response_schema")
