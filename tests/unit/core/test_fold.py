"""Events become segments, verdicts, repairs and totals again."""

from dataclasses import replace

import pytest

from spectrace.core.events import (
    ActCompleted,
    EffectObserved,
    EpisodeEnded,
    GenerateRequested,
    SegmentClosed,
    SegmentCommitted,
    SpeculationMatched,
    StepDrafted,
    Unknown,
)
from spectrace.core.fold import fold
from spectrace.core.types import Call, Effect, Observation
from spectrace.errors import NewerSchema, StoreError
from tests import guesses
from tests.episodes import CANCEL, DONE, FIND, READ, STRONG, WEAK, call, recorded_events
from tests.playbook import accept, reject


def test_a_rejected_write_its_reason_and_its_repair_stand_in_one_segment():
    first = fold(recorded_events()).segments[0]

    assert [(item.step.action, item.fate, item.act) for item in first.steps] == [(CANCEL, "discarded", None)]
    assert (first.reason, first.verdict.decision, first.verdict.reason) == ("held", "reject", "find the customer first")
    assert [(item.step.action, item.fate) for item in first.repair.steps] == [(FIND, "committed")]
    assert first.repair.steps[0].step.observation.content.startswith("C11 Ana Silva")


def test_the_history_is_what_was_committed_in_order():
    episode = fold(recorded_events())

    assert [step.action for step in episode.history.steps] == [FIND, READ, CANCEL, DONE]
    assert [len(segment.history.steps) for segment in episode.segments] == [0, 1, 3]


def test_the_segment_under_review_is_what_the_reviewer_saw():
    events = recorded_events()
    episode = fold(events)
    prompts = [event.body for event in events if getattr(event.body, "role", "") == "reviewer"]
    second = episode.segments[1].under_review

    assert [step.observation is None for step in second] == [False, True]
    assert "NOT EXECUTED" in prompts[2].messages[-1].content if isinstance(prompts[2], GenerateRequested) else True


def test_a_repairs_look_up_that_changed_the_state_is_a_write_in_the_history():
    events = recorded_events()
    done = next(event for event in events if isinstance(event.body, ActCompleted))
    observed = EffectObserved(
        effect="write",
        authority=done.body.authority,
        tool=done.body.tool,
        request=done.body.request,
        fingerprint_before="f0",
        fingerprint_after="f1",
    )
    episode = fold([*events[: done.seq + 1], replace(done, seq=done.seq + 1, body=observed)])

    assert done.body.authority.startswith("repair:")
    assert [(step.action, step.effect) for step in episode.history.steps] == [(FIND, Effect.WRITE)]


def test_totals_of_the_fold_are_those_the_driver_counted():
    events = recorded_events()
    episode = fold(events)
    ended = events[-1].body
    assert isinstance(ended, EpisodeEnded)

    assert episode.totals == ended.totals
    assert (ended.totals.reviews, ended.totals.rejections, ended.totals.repairs, ended.totals.writes) == (3, 1, 1, 1)


def test_an_unfinished_log_folds_to_what_is_known():
    events = recorded_events()
    for length in range(1, len(events)):
        episode = fold(events[:length])

        assert episode.ended is None
        assert episode.events == length


def test_a_corrective_turn_with_an_action_never_sent_keeps_its_order():
    bad = Call("get_order", '{"order": 1}')
    events = recorded_events(
        weak=[CANCEL, READ, CANCEL, DONE],
        strong=[reject(1, bad), FIND, accept(), accept()],
    )
    episode = fold(events)

    assert "Additional properties" in episode.segments[0].repair.fused_unusable
    assert [step.action for step in episode.history.steps] == [FIND, READ, CANCEL, DONE]


def test_a_log_must_begin_at_its_beginning():
    with pytest.raises(ValueError, match=r"first event is episode\.started"):
        fold(recorded_events()[1:])


def test_a_log_that_comes_back_to_an_earlier_segment_has_it_once():
    events = recorded_events()
    late = replace(events[-1], body=SegmentCommitted(segment=1, start=1, end=1, reviewed="yes"))

    assert [segment.index for segment in fold([*events, late]).segments] == [1, 2, 3]


def test_a_segment_that_comes_out_of_order_is_kept():
    events = recorded_events()
    odd = [replace(events[-1], body=SegmentClosed(segment=index, steps=0, reason="budget")) for index in (9, 5, 9)]

    assert [segment.index for segment in fold([*events, *odd]).segments] == [1, 2, 3, 9, 5]


@pytest.mark.parametrize("first", [True, False])
def test_a_newer_version_is_refused_and_an_unknown_type_passed_over(first):
    events = recorded_events()
    at = 0 if first else -1
    newer = [*events]
    known = events[at].version
    newer[at] = replace(events[at], body=Unknown(events[at].type, known + 1, "{}"))

    with pytest.raises(NewerSchema, match=f"version {known + 1}; this spectrace knows version {known}"):
        fold(newer)
    assert fold([*events, replace(events[-1], body=Unknown("later.kind", 1, "{}"))]).ended is not None


def test_a_step_that_was_never_sent_shows_why_as_its_observation():
    events = recorded_events(weak=[call("fly"), *WEAK], strong=STRONG)
    first = fold(events).segments[0].steps[0]

    assert first.objection.startswith("no tool is named 'fly'")
    assert first.step.observation.error


def test_an_effect_that_there_is_not_is_named_with_its_event():
    events = recorded_events()
    at = next(event.seq for event in events if isinstance(event.body, StepDrafted))
    events[at] = replace(events[at], body=replace(events[at].body, effect="both"))

    with pytest.raises(StoreError, match=rf"event {at} \(step.drafted\) of .* does not follow .*'both'"):
        fold(events)


def test_a_guess_that_the_strong_model_takes_gives_its_step_the_observation():
    episode = fold(guesses.events())
    (segment,) = episode.segments
    (step,) = segment.steps

    assert (step.step.position, step.step.observation, step.act) == ("s1.1", Observation("pending"), 2)
    assert [(one.step.position, one.fate) for one in segment.guesses] == [
        ("s1.g1", "committed"),
        ("s1.g2", "discarded"),
        ("s1.g3", "discarded"),
    ]
    assert episode.history.steps == (step.step,)


def test_a_guess_is_no_step_of_the_episode():
    totals = fold(guesses.events()).totals

    assert (totals.steps, totals.reads, totals.discarded) == (1, 2, 2)


def test_a_guess_that_changed_the_state_stands_in_the_history_as_the_write_that_it_was():
    told = guesses.bodies()[:6]
    told.append(
        EffectObserved(
            effect="write",
            authority="speculative",
            tool="find_order",
            request=2,
            fingerprint_before="a",
            fingerprint_after="b",
        )
    )
    episode = fold(guesses.events(told))

    assert [(one.position, one.effect) for one in episode.history.steps] == [("s1.g1", Effect.WRITE)]


def test_a_step_that_takes_a_guess_that_nobody_made_does_not_follow():
    told = guesses.bodies()
    told[9] = SpeculationMatched(segment=1, position="s1.1", guess=0)

    with pytest.raises(StoreError, match=r"event 9 \(speculation.matched\) of e does not follow"):
        fold(guesses.events(told))


def test_a_discarded_step_says_why():
    rejected, cut_off = fold(recorded_events(strong=STRONG[:1])).segments  # the second review is not answered

    assert [item.discarded for item in rejected.steps] == ["rejected"]
    assert {item.discarded for item in cut_off.steps} == {"failed"}


def erased(event):
    """Return an event as it reads once its body is gone."""
    header = {name: getattr(event.body, name, None) for name in ("effect", "authority", "outcome", "tool")}
    return replace(event, body=Unknown(event.type, event.version, "null", **header))


def without(type_, events):
    """Return the events with the bodies of one type erased."""
    return [erased(event) if event.type == type_ else event for event in events]


def test_an_erased_draft_keeps_its_place_among_the_steps():
    events = recorded_events()
    whole, found = fold(events), fold(without("step.drafted", events))

    assert [len(segment.steps) for segment in found.segments] == [len(segment.steps) for segment in whole.segments]
    assert [[item.fate for item in segment.steps] for segment in found.segments] == [
        [item.fate for item in segment.steps] for segment in whole.segments
    ]
    assert found.segments[0].steps[0].step.action == Call("cancel_order", "(erased)")
    assert sorted(found.erased) == [event.seq for event in events if event.type == "step.drafted"]


@pytest.mark.parametrize("type_", sorted({event.type for event in recorded_events()} - {"episode.started"}))
def test_no_single_type_of_event_is_needed_but_the_first(type_):
    events = recorded_events()
    found = fold(without(type_, events))

    assert found.events == len(events)
    assert [segment.index for segment in found.segments] == [1, 2, 3]


def test_an_erased_end_has_the_status_of_its_header():
    found = fold(without("episode.ended", recorded_events()))

    assert (found.ended.outcome, found.ended.reason, found.ended.reward) == ("completed", "(erased)", None)
