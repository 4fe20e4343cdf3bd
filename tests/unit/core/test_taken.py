"""A child has reviews of its own where its parent lacks them: asked live, edited here, or not read there."""

import json
from dataclasses import replace

from spectrace.core.events import GenerateCompleted, Parent, VerdictGiven
from spectrace.core.fold import fold
from spectrace.core.rereviews import Scope, asked_of, left_to_parents, selected
from spectrace.core.reviews import reviews_of
from spectrace.core.tally import Tally
from spectrace.runs.fork import Edit
from tests.episodes import DONE, recorded_events
from tests.forks import first, fork
from tests.playbook import accept

EDIT = Edit(json.dumps({"verdict": "accept"}), "person:Ann")


def own(events):
    return [one.segment for one in reviews_of(fold(events)) if not one.taken_over]


def resumed(events, until):
    """Return the episode as a child that took everything over up to an event."""
    begun = replace(events[0], body=replace(events[0].body, parent=Parent("resume", "parent", until)))
    told = [
        replace(one, body=replace(one.body, source="record"))
        if isinstance(one.body, GenerateCompleted) and one.seq <= until
        else one
        for one in events[1:]
    ]
    return [begun, *told]


def test_a_forks_edited_verdict_is_its_own_and_what_it_took_over_before_is_not():
    events = recorded_events()
    child = fork(events, first(events, VerdictGiven, 1), weak=[DONE], strong=[accept()], edit=EDIT)

    assert [one.segment for one in reviews_of(fold(child))] == [1, 2, 3]
    assert own(child) == [2, 3]


def test_a_verdict_that_was_edited_in_a_fork_is_no_second_one_in_a_fork_of_it():
    events = recorded_events()
    child = fork(events, first(events, VerdictGiven), weak=[DONE], strong=[accept()], edit=EDIT)
    again = fork(child, first(child, VerdictGiven), weak=[DONE], strong=[accept()])

    assert (own(child), own(again)) == ([1, 2], [2])


def test_a_resumed_episode_has_the_reviews_behind_its_parents_end():
    events = recorded_events()
    given = first(events, VerdictGiven, 1)

    assert own(resumed(events, given)) == [3]
    assert own(resumed(events, given - 1)) == [2, 3]  # its parent was cut off before it had read that answer
    assert own(events) == [1, 2, 3]


def test_a_pass_selects_what_is_its_own_and_a_recorded_one_replays_all_that_it_judged():
    child = fold(resumed(recorded_events(), first(recorded_events(), VerdictGiven, 1)))

    assert [one.segment for one in selected(child, only_rejected=False)] == [3]
    assert (left_to_parents(child, only_rejected=False), left_to_parents(child, only_rejected=True)) == (2, 1)
    for scope in (Scope(), Scope(segments=(1, 2, 3))):
        assert [one.segment for one in asked_of(scope, child)] == [1, 2, 3]


def test_totals_count_a_review_in_the_episode_whose_it_is():
    events = recorded_events()
    child = resumed(events, first(events, VerdictGiven, 1))
    tally = Tally()
    for event in child:
        tally.count(event.body)

    assert (tally.totals.reviews, tally.totals.rejections) == (1, 0)
    assert fold(child).totals == tally.totals
    assert events[-1].body.totals.reviews == 3
