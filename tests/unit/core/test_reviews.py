"""Recorded reviews, and those derived where nobody reviewed."""

from dataclasses import replace

from spectrace.core.baselines import WeakOnly
from spectrace.core.fold import fold
from spectrace.core.reviews import agrees, differs, reviews_of
from spectrace.core.types import Call, Verdict
from tests.episodes import CANCEL, DONE, FIND, READ, recorded_events

REJECT = Verdict(2, 1, category="other", reason="no")
REPAIRED = Verdict(2, 1, category="other", reason="no", replacement=FIND)
ACCEPT = Verdict(2, 2)
UNUSABLE = Verdict(2, 0, status="unusable")


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
    assert not differs(ACCEPT, Verdict(2, 2))
    assert differs(REJECT, Verdict(2, 0, category="other", reason="x"))
    assert differs(REJECT, Verdict(2, 1, category="other", reason="no", replacement=Call("a", "{}")))
    assert differs(ACCEPT, UNUSABLE)
    assert differs(REJECT, REJECT), "each would ask its own model what to do instead"
    assert not differs(REPAIRED, REPAIRED)


def test_the_same_action_written_otherwise_is_no_difference():
    spaced = replace(REPAIRED, replacement=Call(FIND.tool, FIND.arguments.replace(":", " : ")))

    assert not differs(REPAIRED, spaced)
