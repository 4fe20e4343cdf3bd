"""What the driver writes of a question is what a follower of the record expects, for both have it from here."""

from dataclasses import replace

import pytest

from spectrace.core.commands import Act, Generate
from spectrace.core.events import ActRequested, GenerateCompleted, GenerateRequested
from spectrace.core.questions import act_question, completion_of, model_question, parameters_of, unanswered
from spectrace.core.types import Call, Effect, ModelRequest, Scoring
from tests.altered import first
from tests.episodes import recorded_events

EVENTS = recorded_events()


def test_a_model_question_says_who_is_asked_what_and_for_which_place():
    body = first(EVENTS, GenerateRequested).body
    asked = ModelRequest(body.messages, (), body.response_schema, body.parameters)

    assert model_question(Generate(body.role, body.who, body.position, asked)) == body


def test_an_action_is_recorded_with_its_tool_and_its_key():
    asked = act_question(Act(Call("cancel", "{}"), Effect.WRITE, "verdict:3", "s1.2"), "ep:s1.2")

    assert asked == ActRequested(
        effect=Effect.WRITE,
        authority="verdict:3",
        tool="cancel",
        position="s1.2",
        action=Call("cancel", "{}"),
        requestor="agent",
        idempotency_key="ep:s1.2",
    )


@pytest.mark.parametrize("effect", Effect)
def test_only_of_a_read_without_an_answer_it_is_known_that_nothing_changed(effect):
    assert unanswered(effect) == ("error" if effect is Effect.READ else "indeterminate")


def test_a_completion_is_what_is_recorded_of_it():
    body = first(EVENTS, GenerateCompleted).body
    made = completion_of(body)

    assert (made.message, made.model, made.usage, made.finish_reason) == (
        body.message,
        body.model,
        body.usage,
        body.finish_reason,
    )


def test_what_a_model_was_to_score_is_among_its_parameters():
    plain = ModelRequest((), (), None, '{"temperature": 0}')

    assert parameters_of(plain) == '{"temperature": 0}'
    assert '"scoring"' in parameters_of(replace(plain, scoring=Scoring(steps=2)))
