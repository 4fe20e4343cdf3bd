"""What a child episode of a re-verification says of itself, also one of another version or another hand."""

import json
from dataclasses import replace

import pytest

from spectrace.core.events import Event, GenerateFailed, GenerateRequested, Unknown, VerdictGiven
from spectrace.core.fold import fold
from spectrace.core.rereviews import Said, Scope, answers_of, asked_of, scope_of, selected
from spectrace.core.types import Usage, Verdict
from tests.episodes import recorded_events


def options(text):
    return replace(recorded_events()[0].body, options=text)


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ('{"only_rejected": true}', Scope(only_rejected=True)),
        ('{"only_rejected": false, "repeat": 3, "segments": [4, 2]}', Scope(repeat=3, segments=(4, 2))),
        ('{"only_rejected": 1, "repeat": true, "segments": [1, "2", null]}', Scope(segments=(1,))),
        ('{"repeat": 0, "segments": "12"}', Scope()),
        ("[]", Scope()),
        ('{"verdict": "scored", "threshold": "0.7"}', Scope(verdict="scored", threshold="0.7")),
        ('{"verdict": ["scored"], "threshold": 0.7}', Scope()),
        ('{"verdict": "scored", "threshold": "nan"}', Scope(verdict="scored")),
    ],
)
def test_a_scope_is_what_the_options_say_and_what_held_before_they_said_it(text, scope):
    assert scope_of(options(text)) == scope


def test_a_child_goes_through_its_own_segments_in_its_own_order():
    parent = fold(recorded_events())

    assert [one.segment for one in asked_of(Scope(segments=(3, 9, 1)), parent)] == [3, 1]
    assert [one.segment for one in asked_of(Scope(), parent)] == [1, 2, 3]
    assert [one.segment for one in selected(parent, only_rejected=True)] == [1]


def asked(seq, position):
    body = GenerateRequested(
        role="reviewer",
        who="strong",
        position=position,
        messages=(),
        tools_digest=None,
        response_schema=None,
        parameters="{}",
    )
    return Event("c", seq, "", 0, body)


def failed(seq, request, kind):
    body = GenerateFailed(
        request=request,
        role="reviewer",
        kind=kind,
        error="no",
        partial_text="",
        usage=Usage(),
        latency_us=None,
        attempts=(),
        source="live",
    )
    return Event("c", seq, "", 0, body)


def given(seq, segment, accepted):
    body = VerdictGiven(
        outcome="accept",
        segment=segment,
        drafted=2,
        accepted=accepted,
        category=None,
        reason=None,
        replacement=None,
        status="ok",
        cause=None,
        raw="",
        review=seq - 1,
    )
    return Event("c", seq, "", 0, body)


def test_verdicts_and_prompts_that_do_not_fit_are_answers_and_other_failures_are_none():
    child = [asked(1, "s1"), given(2, 1, 2), asked(3, "s2"), failed(4, 3, "context"), asked(5, "s3")]
    child += [failed(6, 5, "server"), given(7, 1, 0), asked(8, "odd"), failed(9, 8, "context")]

    assert list(answers_of(child)) == [Said(1, 2, Verdict(2, 2), 1), Said(2, 4, None, 3)]


def test_the_reason_of_a_scored_rejection_that_does_not_fit_is_a_prompt_too_long():
    child = [asked(1, "s1"), asked(2, "s1.x"), failed(3, 2, "context")]

    assert list(answers_of(child)) == [Said(1, 3, None, 2)]


def test_the_threshold_is_of_scored_verdicts_alone():
    assert [Scope(verdict=one, threshold="0.7").scored_at for one in ("decoded", "scored")] == [None, "0.7"]


def test_options_that_are_no_json_are_no_episode_of_ours():
    with pytest.raises(json.JSONDecodeError):
        scope_of(options("{"))


def test_what_stood_in_an_erased_context_is_not_selected():
    gone = [
        replace(event, body=Unknown(event.type, event.version, "null")) if event.type == "act.completed" else event
        for event in recorded_events()
    ]

    assert [one.segment for one in selected(fold(gone), only_rejected=False)] == [1]
