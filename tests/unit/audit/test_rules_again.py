"""What cannot have happened is found by following the whole record: another review, a grade that nobody gave."""

from dataclasses import replace

import pytest

from spectrace.audit.rules import RULES, Tally, violations
from spectrace.core.events import (
    EpisodeEnded,
    EvaluateCompleted,
    EvaluateRequested,
    GenerateCompleted,
    GenerateRequested,
    ResetCompleted,
    ResetRequested,
    SegmentClosed,
    StepsDiscarded,
    Unknown,
    VerdictGiven,
)
from spectrace.core.types import ModelFacts
from tests.altered import answer_to, approved, each, first, looks, put, renumbered
from tests.episodes import recorded_events

EVENTS = recorded_events()
AGAIN = "not_by_the_protocol"
REVIEW = first(EVENTS, GenerateRequested, role="reviewer")
ACT = approved(EVENTS)[0]
LOOK = answer_to(EVENTS, looks(EVENTS, "read")[-1])
END = first(EVENTS, EpisodeEnded)


def without(*types):
    return renumbered([event for event in EVENTS if not isinstance(event.body, types)])


def without_look():
    act = looks(EVENTS, "read")[-1]
    return renumbered([event for event in EVENTS if event.seq not in {act.seq, answer_to(EVENTS, act).seq}])


def shown(seq, old, new):
    event = EVENTS[seq]
    assert any(old in one.content for one in event.body.messages)
    return put(
        EVENTS, seq, messages=tuple(replace(one, content=one.content.replace(old, new)) for one in event.body.messages)
    )


REJECTED = first(EVENTS, VerdictGiven, outcome="reject")
IMPOSSIBLE = {
    "the weak model reviews itself": put(EVENTS, REVIEW.seq, who="weak"),
    "another order was reviewed": shown(each(EVENTS, GenerateRequested, role="reviewer")[-1].seq, "W200", "W100"),
    "the reviewer was asked nothing": put(EVENTS, REVIEW.seq, messages=()),
    "a prompt shows what nobody observed": put(
        EVENTS, LOOK.seq, observation=replace(LOOK.body.observation, content="W200 of C99, shipped.")
    ),
    "nobody gave the grade": without(EvaluateRequested, EvaluateCompleted),
    "nobody began it": without(ResetRequested, ResetCompleted),
    "another answer than the last one": put(EVENTS, END.seq, answer="something else"),
    "a reason that the reviewer did not give": put(EVENTS, REJECTED.seq, reason="other reason"),
    "a category that the reviewer did not give": put(EVENTS, REJECTED.seq, category="unsafe"),
    "a write that went well is called an error": put(EVENTS, answer_to(EVENTS, ACT).seq, outcome="error"),
    "a look-up got no answer": renumbered([event for event in EVENTS if event.seq != LOOK.seq]),
    "a look-up was never sent": without_look(),
    "the user asked for it": put(EVENTS, ACT.seq, requestor="user"),
    "more steps than there were": put(EVENTS, first(EVENTS, SegmentClosed).seq, steps=7),
    "more discarded than there were": put(EVENTS, first(EVENTS, StepsDiscarded).seq, end=5),
}


def found(events, rule):
    return [(one.seq, one.detail, one.severity) for one in violations(events, [RULES[rule]])]


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_what_the_protocol_does_not_come_to_is_found(what):
    assert found(EVENTS, AGAIN) == []
    assert [severity for _, _, severity in found(IMPOSSIBLE[what], AGAIN)] == ["violation"]


def test_the_first_difference_is_named_with_both_sides():
    ((seq, detail, _),) = found(IMPOSSIBLE["the weak model reviews itself"], AGAIN)

    assert seq == REVIEW.seq
    assert detail == (
        "generate.requested(reviewer) has in /who 'weak'; the protocol, run again from the record, has 'strong'"
    )


@pytest.mark.parametrize("end", range(1, len(EVENTS)))
def test_a_record_that_stops_anywhere_is_the_protocols(end):
    assert found(EVENTS[:end], AGAIN) == []


def unjudged(events):
    tally = Tally()
    assert violations(events, [RULES[AGAIN]], tally=tally) == []
    return tally.unjudged[AGAIN], tally.subjects[AGAIN]


def test_what_cannot_be_followed_is_counted_and_no_violation():
    erased = Unknown(VerdictGiven.TYPE, 1, "null", None, None, "accept", None)
    assert erased.erased
    one_gone = [replace(e, body=erased) if isinstance(e.body, VerdictGiven) else e for e in EVENTS]

    for events in (
        one_gone,
        put(EVENTS, 0, protocol_revision=99),
        put(EVENTS, 0, options="no object"),
        put(EVENTS, 0, models=()),
        put(EVENTS, 0, protocol="imported"),
    ):
        acts, of = unjudged(events)
        assert acts == of > 0
    assert unjudged(EVENTS)[0] == 0


def named(url=None):
    models = tuple(
        ModelFacts(role, "openai", name, url) for role, name, url in (("weak", "s", None), ("strong", "l", url))
    )
    events = put(EVENTS, 0, models=models)
    for said in each(events, GenerateCompleted):
        events = put(events, said.seq, model={"weak": "s", "strong": "l"}[events[said.body.request].body.who])
    return events


@pytest.mark.parametrize(("url", "severity"), [(None, "violation"), ("http://other/v1", "warning")])
def test_a_review_that_the_weak_model_answered_is_found(url, severity):
    events, answer = named(url), first(EVENTS, GenerateCompleted, request=REVIEW.seq)
    rule = "answered_by_another"

    assert found(events, rule) == []
    assert found(put(events, answer.seq, model="a-name-of-the-servers-own"), rule) == []
    assert found(put(events, answer.seq, model="s", source="record"), rule) == []  # by another pair of models, perhaps
    assert found(put(events, answer.seq, model="s"), rule) == [
        (answer.seq, "the strong model (l) was asked as reviewer, and s answered", severity)
    ]


def test_an_outcome_is_what_the_observation_says():
    answer = answer_to(EVENTS, ACT)
    seen = answer.body.observation

    assert [seq for seq, _, _ in found(put(EVENTS, answer.seq, outcome="error"), "outcome_misstated")] == [answer.seq]
    assert found(put(EVENTS, answer.seq, observation=replace(seen, error=True)), "outcome_misstated") == [
        (answer.seq, f"the outcome is ok, and the observation of event {ACT.seq} is error", "violation")
    ]


def test_totals_add_up():
    totals = replace(END.body.totals, steps=99)

    ((seq, detail, _),) = found(put(EVENTS, END.seq, totals=totals), "totals_misstated")
    assert (seq, detail) == (END.seq, f"the end counts 99 steps, and there are {END.body.totals.steps}")


def test_a_write_before_its_verdict_by_the_clock_is_worth_a_look():
    early = [replace(e, at=e.at - 10**9) if e.seq == ACT.seq else e for e in EVENTS]
    ((seq, detail, severity),) = found(early, "write_before_verdict")

    assert (seq, severity) == (ACT.seq, "warning")
    assert detail.endswith(f"before event {ACT.body.authority[8:]}, that it names, by the clock")
