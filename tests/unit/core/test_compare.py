"""Differences name the field and show both sides."""

from dataclasses import replace

from spectrace.core.compare import differences
from spectrace.core.events import GenerateRequested
from spectrace.core.types import Effect, Message
from tests.episodes import recorded_events


def question() -> GenerateRequested:
    return next(event.body for event in recorded_events() if isinstance(event.body, GenerateRequested))


def test_equal_values_have_none():
    assert differences(question(), question()) == []


def test_one_changed_character_is_shown_with_its_path_and_surroundings():
    body = question()
    message = body.messages[0]
    changed = replace(
        body, messages=(Message("system", message.content.replace("Policy", "Polity")), *body.messages[1:])
    )

    assert [(path, "Policy" in was, "Polity" in now) for path, was, now in differences(body, changed)] == [
        ("/messages/0/content", True, True)
    ]


def test_a_missing_message_is_counted():
    body = question()

    assert differences(body, replace(body, messages=body.messages[:1])) == [("/messages", "2 items", "1 items")]


def test_a_text_and_an_enum_of_that_text_are_the_same():
    assert differences("read", Effect.READ) == []


def test_latency_and_skipped_fields_are_left_out():
    completed = next(event.body for event in recorded_events() if event.type == "act.completed")

    assert differences(completed, replace(completed, latency_us=1, source="record")) == []
    changed = replace(completed, fingerprint_after="sha256:0")
    assert differences(completed, changed, skip=frozenset({"fingerprint_after"})) == []
    assert [path for path, _, _ in differences(completed, changed)] == ["/fingerprint_after"]


def test_another_type_is_one_difference():
    assert differences((1,), "x", "a.b") == [("a.b", "(1,)", "'x'")]


def test_a_difference_inside_json_is_named_to_the_member():
    was, now = '{"a": {"b/c": [1, "x"]}, "d": true}', '{"a": {"b/c": [1, "y"]}, "e": 1}'

    assert differences(was, now, "/arguments") == [
        ("/arguments/a/b~1c/1", "'x'", "'y'"),
        ("/arguments/d", "True", "(nothing)"),
        ("/arguments/e", "(nothing)", "1"),
    ]
    assert differences('{"n": true}', '{"n": 1}', "/x") == [("/x/n", "True", "1")]
    assert differences("[1]", "[1, 2]", "/x") == [("/x", "1 items", "2 items")]


def test_equal_values_in_another_text_differ_as_texts_but_for_parameters():
    was, now = '{"temperature": 0, "seed": 1}', '{"seed": 1, "temperature": 0.0}'

    assert [path for path, _, _ in differences(was, now, "/arguments")] == ["/arguments"]
    assert differences(was, now, "/parameters") == []
    assert [path for path, _, _ in differences(was, now, "/tools/look/parameters")] == ["/tools/look/parameters"]


def test_what_is_no_json_or_too_deep_is_compared_as_text():
    for was, now in (("{not", "{json"), ("[" * 5000 + "]" * 5000, "[" * 5000 + "1" + "]" * 5000)):
        assert [path for path, _, _ in differences(was, now, "/x")] == ["/x"]
