"""Nothing is drafted or judged by nobody, and nothing goes on from what went wrong."""

import pytest

from spectrace.audit.rules import RULES, violations
from spectrace.core.baselines import WeakOnly
from spectrace.core.events import (
    ActFailed,
    ActRequested,
    GenerateCompleted,
    GenerateRequested,
    StepDrafted,
    VerdictGiven,
)
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Observation
from tests.altered import answer_to, behind, each, first, put, renumbered
from tests.episodes import recorded_events
from tests.playbook import accept
from tests.properties.played import play
from tests.properties.rehearsed import NATIVE
from tests.properties.scripts import Judged, Script

EVENTS = recorded_events()
GIVEN = first(EVENTS, VerdictGiven, outcome="accept")


def found(events, rule):
    return [(one.seq, one.detail) for one in violations(events, [RULES[rule]])]


@pytest.mark.parametrize(
    ("review", "why"),
    [
        (None, "names no model call"),
        (9999, "was given by nobody: event 9999 is no review"),
        (0, "was given by nobody: event 0 is no review"),
    ],
)
def test_a_verdict_is_a_reviewers(review, why):
    assert found(put(EVENTS, GIVEN.seq, review=review), "said_by_nobody") == [
        (GIVEN.seq, f"the verdict on segment 2 {why}")
    ]


def test_a_verdict_whose_review_has_no_answer_was_given_by_nobody():
    silent = renumbered([e for e in EVENTS if getattr(e.body, "request", None) != GIVEN.body.review])

    assert found(silent, "said_by_nobody")[0][1].endswith("is no review")


def test_a_verdict_says_what_its_review_said():
    rejected = first(EVENTS, VerdictGiven, outcome="reject")
    changed = put(EVENTS, rejected.seq, raw=accept())

    assert "is not what event" in found(changed, "said_by_nobody")[0][1]


def test_a_step_is_drafted_by_a_model_that_answered():
    step, review = first(EVENTS, StepDrafted), GIVEN.body.review

    for request in (0, review, 9999):
        assert found(put(EVENTS, step.seq, request=request), "said_by_nobody") == [
            (step.seq, f"the step at s1.1 was drafted by no model: event {request} is no answered call")
        ]


@pytest.mark.parametrize("options", [{"acceptance": "exact"}, {"verdict": "scored"}, {"prompts": "separate"}])
def test_however_a_verdict_is_found_it_is_a_reviewers(options):
    script = Script(weak=("read", "write"), strong=("read",), verdicts=(Judged("reject", "last"), Judged("accept")))

    assert violations(play(script, SpecAgent, options).events) == []


def test_nothing_is_sent_after_a_write_of_unknown_outcome():
    lost = play(Script(weak=("write",), verdicts=(Judged("accept"),), moods=("timeout",)), SpecAgent, {}).events
    failed, act = first(lost, ActFailed), first(lost, ActRequested)
    again = behind(lost, failed.seq, act.body)

    assert violations(lost) == []
    assert found(again, "acted_on_unknown") == [
        (failed.seq + 1, f"the action at s1.1 was sent after event {act.seq}, of unknown outcome")
    ]


def test_a_look_up_that_failed_is_read_and_gone_on_from():
    events = play(Script(weak=("read", "read"), moods=("crash",)), SpecAgent, {}).events

    assert first(events, ActFailed) is not None
    assert violations(events) == []


def test_a_message_of_a_protocol_without_reviews_stops_at_its_first_error():
    events = play(Script(weak=("reads", "read"), native=NATIVE), WeakOnly, {}).events
    one, other = each(events, ActRequested)[:2]
    answer = answer_to(events, one)
    changed = put(events, answer.seq, observation=Observation("no", error=True))

    assert one.body.position.partition(".")[0] == other.body.position.partition(".")[0]
    assert found(changed, "sent_after_error") == [
        (other.seq, f"the action at s1.2 was sent, though event {answer.seq} failed before")
    ]


def test_drafts_read_the_error_of_the_one_before():
    events = play(Script(weak=("reads", "read"), native=NATIVE, moods=("error",)), SpecAgent, {}).events

    assert violations(events) == []


def test_a_user_model_may_speak_after_everything():
    events = play(Script(weak=("reply",), user=("unreachable",), has_user=True), SpecAgent, {}).events
    said = [e for e in each(events, GenerateRequested) if e.body.who == "user"]

    assert said != []
    assert each(events, GenerateCompleted) != []
    assert violations(events) == []
