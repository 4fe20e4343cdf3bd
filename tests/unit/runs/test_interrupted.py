"""What can be taken over of an interrupted episode, lane by lane, and which episodes cannot be gone on with."""

from dataclasses import replace

import pytest

from spectrace.core.events import ActRequested, EpisodeEnded, OutcomeSettled, Parent, Totals
from spectrace.core.speculative_actions import SpeculativeActions
from spectrace.core.types import Finish, Outcome
from spectrace.errors import Unsettled, Untestable, UsageError
from spectrace.runs.interrupted import left_by
from tests.desk import at, open_desk
from tests.episodes import recorded_events
from tests.forks import recorded_in

ASKED = 30
"""The accepted write of `tests.episodes` is asked in this event."""


def word(outcome, request=ASKED):
    return OutcomeSettled(authority="person:Ann", outcome=outcome, request=request, evidence="seen")


def ended(events, last, outcome, *words):
    """Return the log up to an event, with an end and people's words behind it."""
    end = EpisodeEnded(outcome=outcome.status, reason=outcome.reason, answer=None, reward=None, totals=Totals())
    behind = [replace(events[0], seq=last + 1 + n, body=body) for n, body in enumerate((end, *words))]
    return [*events[: last + 1], *behind]


def test_what_was_answered_is_taken_over_and_what_was_not_is_left_out():
    events = recorded_events()
    for last in range(1, len(events) - 1):
        if last == ASKED or isinstance(events[last].body, ActRequested):
            continue
        told = left_by(events[: last + 1]).told
        pending = events[last].type.endswith(".requested")

        assert told == tuple(events[: last + 1 - pending])


def test_an_end_from_outside_and_words_behind_it_are_no_part_of_the_record():
    events = recorded_events()
    left = left_by(ended(events, ASKED + 1, Outcome("interrupted", "recovered")))

    assert left.told == tuple(events[: ASKED + 2])
    assert left.words == {}


def test_a_write_that_was_tried_is_answered_by_the_person_and_one_that_never_ran_is_asked_again():
    events = recorded_events()
    end = Outcome("interrupted", "recovered")
    tried, never = (left_by(ended(events, ASKED, end, word(outcome))) for outcome in ("ok", "never"))

    assert (tried.told[-1].seq, dict(tried.words), dict(tried.never)) == (ASKED, {ASKED: word("ok")}, {})
    assert (never.told[-1].seq, dict(never.words), dict(never.never)) == (ASKED - 1, {}, {ASKED: word("never")})
    assert tried.done[-1][1].content == "seen"
    assert len(tried.done) == len(never.done) + 1


def test_nothing_goes_past_a_write_that_nobody_has_spoken_of():
    events = recorded_events()

    with pytest.raises(Unsettled, match=f"{events[0].episode}:{ASKED} \\(cancel_order"):
        left_by(events[: ASKED + 1])


def test_the_last_state_is_that_after_the_last_answer():
    events = recorded_events()
    left = left_by(events[: ASKED + 2])

    assert left.last_state == (ASKED + 1, events[ASKED + 1].body.fingerprint_after)
    assert left.begun
    assert not left_by(events[:2]).begun


def test_each_lane_is_taken_over_as_far_as_it_goes():
    weak, strong = [at("look"), at("look", "B")], [at("look"), Finish("x")]
    events = recorded_in(open_desk([]), SpeculativeActions(), weak=weak, strong=strong)
    begin = next(one.seq for one in events if one.lane == "0")
    end = next(one.seq for one in events if one.seq > begin and not one.lane)
    for last in range(begin, end):
        answered = {one.body.request for one in events[: last + 1] if hasattr(one.body, "source")}
        told = left_by(events[: last + 1]).told
        left_out = [one.seq for one in events[: last + 1] if one not in told]

        assert left_out == [
            one.seq for one in events[: last + 1] if one.type.endswith(".requested") and one.seq not in answered
        ]


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (Outcome("completed", "finished"), r"ended completed \(finished\) at event 21"),
        (Outcome("truncated", "max_steps"), r"ended truncated \(max_steps\)"),
        (Outcome("truncated", "max_events"), r"ended truncated \(max_events\)"),
        (Outcome("failed", "model_weak_unreachable"), r"ended failed \(model_weak_unreachable\)"),
    ],
)
def test_an_end_of_its_own_is_no_interruption(outcome, said):
    with pytest.raises(UsageError, match=said):
        left_by(ended(recorded_events(), 20, outcome))


@pytest.mark.parametrize("outcome", [Outcome("interrupted", "cancelled"), Outcome("failed", "error_UsageError")])
def test_a_ctrl_c_and_an_error_of_ours_are_interruptions(outcome):
    events = recorded_events()

    assert left_by(ended(events, 20, outcome)).told == tuple(events[:21])


def of_protocol(protocol, **more):
    events = recorded_events()
    return [replace(events[0], body=replace(events[0].body, protocol=protocol, **more)), *events[1:5]]


def test_an_import_and_a_pass_of_re_verification_are_not_gone_on_with():
    with pytest.raises(Untestable, match="was imported"):
        left_by(of_protocol("imported"))
    with pytest.raises(UsageError, match=r"`spectrace reverify` goes on with it under its name `--name second`"):
        left_by(of_protocol("reverify", run="second"))


def test_a_child_that_took_nothing_over_names_its_parent():
    events = of_protocol("specagent", parent=Parent("resume", "abc", 7))

    with pytest.raises(UsageError, match="had taken over the record of abc, and did nothing: resume abc"):
        left_by(events[:1])


def test_a_fork_that_was_cut_off_before_its_fork_point_is_forked_again_and_one_behind_it_goes_on():
    events = recorded_events()
    first = replace(events[0], body=replace(events[0].body, parent=Parent("fork", "parent", 13)))
    end = Outcome("interrupted", "recovered")
    for last in (3, 12):
        cut_off = ended([first, *events[1:]], last, end)
        with pytest.raises(UsageError, match=f"cut off at event {last}, before .*`spectrace fork parent:13`"):
            left_by(cut_off)
    assert left_by(ended([first, *events[1:]], 13, end)).told[-1].seq == 13
