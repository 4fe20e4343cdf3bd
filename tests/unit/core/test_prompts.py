"""Prompts are data: rendered literally, prefix-stable, recorded whole."""

import json

import pytest

from spectrace.core.prompts import Prompts, fill, history_messages, shown, system_message, written
from spectrace.core.reviewing import review_messages
from spectrace.core.roles import Budget, Desk
from spectrace.core.types import Call, Effect, History, Message, Observation, Step, ToolSpec
from spectrace.errors import UsageError
from tests.playbook import change, look, setup


def step(position: str, action: Call, observed: str | None) -> Step:
    return Step(position, action, Effect.READ, None if observed is None else Observation(observed))


def test_the_value_survives_its_json():
    prompts = Prompts(review="$count $steps $categories", observation_limit=10)

    assert Prompts.from_json(prompts.to_json()) == prompts


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"reviw": "x"}', "no template is named 'reviw'"),
        ('{"review": 3}', "review must be str"),
        ('{"observation_limit": "3"}', "observation_limit must be int"),
        ('{"observation_limit": 0}', "observation_limit must be at least 1, found 0"),
        ('{"reason_limit": -3}', "reason_limit must be at least 1, found -3"),
        ('{"review": "costs $ 5"}', "stray"),
        ("[]", "expected a JSON object"),
        ("not json", "not JSON"),
    ],
)
def test_a_bad_prompts_file_is_refused_by_name(text, message):
    with pytest.raises(UsageError, match=message):
        Prompts.from_json(text)


def test_values_are_filled_in_once_and_literally():
    assert fill("[$position] $observation", position="$observation", observation="$$ ${position}") == (
        "[$observation] $$ ${position}"
    )


def test_an_unknown_placeholder_is_named():
    with pytest.raises(UsageError, match=r"\$nobody is not known"):
        fill("$nobody", position="s1.1")


def test_any_prefix_of_steps_is_a_prefix_of_the_messages():
    steps = (step("s1.1", look("A"), "red"), step("s1.2", look("B"), "blue"), step("s1.3", change(), None))
    history = History((Message("user", "go"),))
    for native in (False, True):
        whole = history_messages(Prompts(), history, steps, native=native)

        for n in range(3):
            part = history_messages(Prompts(), history, steps[:n], native=native)
            assert whole[: len(part)] == part


def test_what_is_kept_from_question_to_question_is_what_would_be_rendered_anew():
    steps = (step("s1.1", look("A"), "red"), step("s1.1", look("A"), "blue"), step("s1.3", change(), None))
    kept = {}
    for native in (False, True, False):
        for n in range(4):
            history, segment = History((Message("user", "go"),), steps[:1]), steps[1:n]
            again = history_messages(Prompts(), history, segment, native=native, rendered=kept)

            assert again == history_messages(Prompts(), history, segment, native=native)
    assert len(kept) == 6


def test_a_long_observation_is_shown_cut_and_says_so():
    cut = shown(Prompts(observation_limit=30), "a" * 50 + "b" * 50)

    assert cut.startswith("a" * 20 + "\n[cut: 70 of 100 characters not shown]\n")
    assert cut.endswith("b" * 10)


@pytest.mark.parametrize(
    ("limit", "whole"), [(1, "[cut: 5 of 6 characters not shown]\nf"), (0, "6 of 6"), (-3, "6 of 6")]
)
def test_no_limit_however_small_shows_more_than_it_allows(limit, whole):
    cut = shown(Prompts(observation_limit=limit), "abcdef")

    assert whole in cut
    assert "e" not in cut.split("\n")[2]


def test_strong_roles_share_everything_up_to_the_question():
    desk, history = setup(), History((Message("user", "go"),), (step("s1.1", look(), "red"),))
    messages = review_messages(Desk(desk, Budget()), history, (step("s2.1", change(), None),))

    assert [message.role for message in messages] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
        "user",
    ]
    assert "1. " + written(change()) in messages[-1].content


def test_a_tool_line_shows_the_shape_of_what_is_inside():
    parameters = {
        "type": "object",
        "properties": {
            "legs": {"type": "array", "items": {"$ref": "#/$defs/Leg"}},
            "cabin": {"enum": ["a", "b"]},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "tree": {"$ref": "#/$defs/Tree"},
        },
        "$defs": {
            "Leg": {"type": "object", "properties": {"to": {"type": "string"}, "day": {"type": "integer"}}},
            "Tree": {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}}},
        },
    }
    book = ToolSpec("book", "Book.", json.dumps(parameters))
    message = system_message("$tools", Prompts(), "", (book,), native=False, replies=True, finish=False)

    assert message.content.splitlines()[2] == (
        'book(legs: [{to: string, day: integer}], cabin: "a"|"b", note: string|null, '
        'tree: {kids: [{"$ref": "#/$defs/Tree"}]}): Book.'
    )
