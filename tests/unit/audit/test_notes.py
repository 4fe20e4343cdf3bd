from dataclasses import replace

import pytest

from spectrace.audit import notes
from spectrace.core.events import ProgressJudged, ReplyUnusable, VerdictGiven
from spectrace.core.fold import Episode, Note, fold
from tests import collaborations, guesses


@pytest.fixture
def episode() -> Episode:
    return fold(guesses.events(collaborations.bodies()))


def test_a_plan_and_control_stand_in_front_of_the_segment_that_follows_and_a_judgement_behind_its_own(episode):
    assert [[note.seq for note in place] for place in notes.between(episode)] == [[1, 2], [8, 9], []]


def test_a_reply_belongs_to_the_segment_that_was_made_of_it(episode):
    assert {index: [note.seq for note in within] for index, within in notes.inside(episode).items()} == {2: [12]}


def test_a_reply_of_which_no_segment_was_made_stands_where_it_was_told(episode):
    gave_up = ReplyUnusable(role="actor", request=99, cause="nonsense", next="gave_up")
    episode.notes.append(Note(100, gave_up))

    assert [note.seq for note in notes.between(episode)[-1]] == [100]


def test_notes_of_an_episode_without_segments_are_kept():
    episode = fold(guesses.events(collaborations.bodies()[:3]))

    assert [[note.seq for note in place] for place in notes.between(episode)] == [[1, 2]]


def test_the_driver_is_the_one_that_control_was_last_passed_to(episode):
    assert [notes.driver(episode, index) for index in (1, 2, 3)] == ["weak", "strong", "strong"]


def test_nobody_drives_where_control_is_not_passed():
    assert notes.driver(fold(guesses.events()), 1) is None


@pytest.mark.parametrize(
    ("outcome", "failures", "said"),
    [
        ("progress", 0, "progress"),
        ("stagnation", 2, "stagnation, 2 times in a row"),
        ("unusable", 1, "a judgement that cannot be read"),
    ],
)
def test_a_judgement_says_whose_it_is_and_how_often_it_failed(outcome, failures, said):
    judged = ProgressJudged(outcome=outcome, segment=3, who="weak", request=0, reason=None, failures=failures)

    assert notes.headline(Note(1, judged)) == f"The weak model judges itself after segment 3: {said}"


def test_each_step_has_the_probability_of_its_scored_verdict():
    assert notes.scores(fold(guesses.events(collaborations.scored()))) == {2: "0.990000", 3: "0.120000"}


@pytest.mark.parametrize("told", ["", "{}", "7", "[0.5, null]", '["0.5"', "[" * 100_000])
def test_probabilities_that_are_none_are_not_shown(told):
    bodies = [
        replace(body, probabilities=told) if isinstance(body, VerdictGiven) else body
        for body in collaborations.scored()
    ]

    assert notes.scores(fold(guesses.events(bodies))) == {}


def test_what_a_step_took_names_its_guess():
    assert notes.taken_guesses(fold(guesses.events())) == {2: "s1.g1"}
