"""A Setup follows from episode.started; its schemas cannot be contradicted."""

import json
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator

from spectrace.core.events import EpisodeStarted
from spectrace.core.setup import setup_of
from spectrace.core.types import Call, Effect, Finish, Reply, ToolSpec
from spectrace.errors import Untestable
from tests.episodes import recorded_events
from tests.playbook import accept, change, look, reject, setup, written


def test_the_setup_of_a_record_is_the_one_it_ran_with():
    started = recorded_events()[0].body
    assert isinstance(started, EpisodeStarted)
    made = setup_of(started)

    assert (made.task, made.tools, made.models) == (started.task, started.tools, started.models)
    assert made.prompts.to_json() == started.prompts


def test_a_schema_is_sent_as_the_same_text_every_time():
    made, other = setup(), setup(replies=True)

    assert made.action_schema_text() == json.dumps(made.action_schema())
    assert [made.verdict_schema_text(n) for n in (1, 2)] == [json.dumps(made.verdict_schema(n)) for n in (1, 2)]
    assert other.action_schema_text() == json.dumps(other.action_schema()) != made.action_schema_text()


@pytest.mark.parametrize("text", [accept(), reject(1), reject(3, change()), reject(2, Finish("no"))])
def test_the_verdict_schema_takes_every_verdict(text):
    Draft202012Validator(setup().verdict_schema(3)).validate(json.loads(text))


@pytest.mark.parametrize(
    "text",
    [
        '{"verdict": "accept", "reason": "fine"}',
        '{"verdict": "accept", "first_wrong": 1}',
        '{"verdict": "reject", "reason": "bad"}',
        reject(4),
        reject(0),
        reject(1, Call("fly", "{}")),
        reject(1, Reply("which?")),
        reject(1, category="because"),
    ],
)
def test_the_verdict_schema_refuses_contradictions(text):
    assert not Draft202012Validator(setup().verdict_schema(3)).is_valid(json.loads(text))


def test_replies_and_final_answers_are_actions_only_where_the_environment_has_them():
    def valid(made, action):
        return Draft202012Validator(made.action_schema()).is_valid(json.loads(written(action)))

    assert [valid(setup(), action) for action in (look(), Finish("x"), Reply("x"))] == [True, True, False]
    assert [valid(setup(replies=True, finish=False), action) for action in (Finish("x"), Reply("x"))] == [False, True]


def test_an_undeclared_tool_is_a_write():
    assert setup().effect(Call("unknown", "{}")) is Effect.WRITE


def test_a_missing_model_is_named():
    with pytest.raises(Untestable, match="asks the user model"):
        setup().model("user")


def test_a_tools_own_definitions_stay_within_reach_when_its_schema_becomes_a_part():
    leg = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
    parameters = {
        "type": "object",
        "properties": {"legs": {"type": "array", "items": {"$ref": "#/$defs/Leg"}}},
        "required": ["legs"],
        "$defs": {"Leg": leg},
    }
    book = ToolSpec("book", "Book.", json.dumps(parameters), Effect.WRITE)
    made = replace(setup(), tools=(book,))
    good, bad = Call("book", '{"legs": [{"to": "Hull"}]}'), Call("book", '{"legs": [{"from": "Hull"}]}')

    for schema, wrap in ((made.action_schema(), written), (made.verdict_schema(1), lambda action: reject(1, action))):
        validator = Draft202012Validator(schema)
        assert validator.is_valid(json.loads(wrap(good)))
        assert not validator.is_valid(json.loads(wrap(bad)))
