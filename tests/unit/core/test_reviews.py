"""Recorded reviews, and those derived where nobody reviewed."""

from dataclasses import replace

from spectrace.core.baselines import WeakOnly
from spectrace.core.events import Unknown
from spectrace.core.fold import fold
from spectrace.core.reviews import Review, agrees, differs, reviews_of
from spectrace.core.types import Call, History, Verdict
from tests.episodes import CANCEL, DONE, FIND, READ, recorded_events
from tests.playbook import accept, reject

REJECT = Verdict(2, 1, category="other", reason="no")
REPAIRED = Verdict(2, 1, category="other", reason="no", replacement=FIND)
ACCEPT = Verdict(2, 2)
UNUSABLE = Verdict(2, 0, status="unusable")


def judged(verdict: Verdict, *, corrected: bool = False) -> Review:
    """Return a review with that verdict; `corrected`: its rejection led to a model's turn."""
    return Review(1, History(()), (), verdict, 9, derived=False, corrected=corrected)


def test_recorded_reviews_carry_their_verdicts_and_contexts():
    reviews = reviews_of(fold(recorded_events()))

    assert [(item.segment, item.recorded.decision, item.derived) for item in reviews] == [
        (1, "reject", False),
        (2, "accept", False),
        (3, "accept", False),
    ]
    assert [step.action for step in reviews[1].history.steps] == [FIND]


def test_a_recording_without_reviews_is_cut_at_its_writes_with_the_outcome_withheld():
    events = recorded_events(weak=[FIND, READ, CANCEL, DONE], protocol=WeakOnly())
    reviews = reviews_of(fold(events))

    assert [[step.action for step in item.steps] for item in reviews] == [[FIND, READ, CANCEL], [DONE]]
    assert all(item.steps[-1].observation is None and item.derived and item.recorded is None for item in reviews)
    assert [step.action for step in reviews[1].history.steps] == [FIND, READ, CANCEL]
    assert reviews[1].history.steps[-1].observation is not None


def test_k_reads_close_a_derived_segment_unreviewed():
    events = recorded_events(weak=[FIND, READ, CANCEL, DONE], protocol=WeakOnly())

    assert [len(item.steps) for item in reviews_of(fold(events), k=2)] == [1, 1]


def test_agreement_is_about_accepting_everything():
    assert agrees(REJECT, Verdict(2, 0, category="other", reason="x")) is True
    assert agrees(REJECT, ACCEPT) is False
    assert agrees(None, ACCEPT) is None
    assert agrees(UNUSABLE, ACCEPT) is None


def test_what_follows_is_counterfactual_where_length_or_action_differ_or_nobody_knows():
    assert not differs(judged(ACCEPT), Verdict(2, 2))
    assert differs(judged(REJECT), Verdict(2, 0, category="other", reason="x"))
    assert differs(judged(REJECT), Verdict(2, 1, category="other", reason="no", replacement=Call("a", "{}")))
    assert differs(judged(ACCEPT), UNUSABLE)
    assert differs(judged(REJECT), REJECT), "each would ask its own model what to do instead"
    assert not differs(judged(REPAIRED), REPAIRED)
    assert differs(judged(REPAIRED, corrected=True), REPAIRED), "its replacement was refused: a model was asked instead"


def test_a_replacement_that_was_refused_is_read_from_the_record():
    refused = Call("get_order", '{"order_id": "W999"}')
    events = recorded_events(strong=[reject(1, refused), FIND, accept(), accept()])
    first, *others = reviews_of(fold(events))

    assert (first.recorded.replacement, first.corrected) == (refused, True)
    assert not any(one.corrected for one in others)
    assert not any(one.corrected for one in reviews_of(fold(recorded_events())))


def test_the_same_action_written_otherwise_is_no_difference():
    spaced = replace(REPAIRED, replacement=Call(FIND.tool, FIND.arguments.replace(":", " : ")))

    assert not differs(judged(REPAIRED), spaced)


def test_a_review_whose_context_or_verdict_is_erased_is_marked_and_those_before_it_are_not():
    events = recorded_events()
    seq = next(event.seq for event in events if event.type == "act.completed" and event.body.tool == "get_order")
    gone = [
        replace(event, body=Unknown(event.type, event.version, "null")) if event.seq == seq else event
        for event in events
    ]
    last = max(event.seq for event in events if event.type == "verdict.given")
    lost = [
        replace(event, body=Unknown(event.type, event.version, "null")) if event.seq == last else event
        for event in events
    ]

    assert [one.redacted for one in reviews_of(fold(gone))] == [False, True, True]
    assert [(one.redacted, one.recorded is None) for one in reviews_of(fold(lost))] == [
        (False, False),
        (False, False),
        (True, True),
    ]


def test_what_no_reviewer_saw_may_be_erased():
    gone = [
        replace(event, body=Unknown(event.type, event.version, "null"))
        if event.type in {"generate.requested", "generate.completed", "evaluate.completed"}
        else event
        for event in recorded_events()
    ]

    assert [one.redacted for one in reviews_of(fold(gone))] == [False, False, False]
