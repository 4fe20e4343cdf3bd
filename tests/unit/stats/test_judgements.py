import pytest

from spectrace.stats.judgements import Judgement, compared, course, fate
from tests.judged import ACCEPT, TOO_LONG, UNUSABLE, reject, review


@pytest.mark.parametrize(
    ("recorded", "new", "expected"),
    [
        (ACCEPT, ACCEPT, "same"),
        (ACCEPT, reject(2), "differs"),
        (reject(1), reject(1), "same"),
        (reject(1), reject(2), "differs"),
        (reject(1, "ask"), reject(1, "look up"), "differs"),
        (reject(1, None), reject(1, "ask"), "differs"),
        (reject(1, None), reject(1, None), "unknown"),  # each would ask its own model for the action
        (ACCEPT, UNUSABLE, "differs"),  # an unusable verdict accepts nothing
        (reject(0), UNUSABLE, "differs"),
        (reject(0, None), UNUSABLE, "unknown"),
        (UNUSABLE, UNUSABLE, "unknown"),
        (ACCEPT, TOO_LONG, "unknown"),
        (Judgement("context_redacted"), ACCEPT, "unknown"),
        (None, ACCEPT, "unknown"),
    ],
)
def test_a_course_is_the_same_only_where_length_and_action_are(recorded, new, expected):
    assert course(recorded, new) == expected


@pytest.mark.parametrize(
    ("recorded", "new", "expected"),
    [
        (ACCEPT, ACCEPT, "same"),
        (reject(2), ACCEPT, "let_through"),
        (ACCEPT, reject(2), "stopped"),
        (ACCEPT, UNUSABLE, "stopped"),
        (reject(0), UNUSABLE, "same"),
        (ACCEPT, TOO_LONG, "unknown"),
        (None, ACCEPT, "unknown"),
    ],
)
def test_a_held_write_runs_where_everything_is_accepted(recorded, new, expected):
    assert fate(review(recorded, new, writes=True)) == expected


def test_a_segment_without_a_held_write_has_no_fate():
    assert fate(review(ACCEPT, reject())) is None


def test_only_what_both_judged_is_compared():
    both = review(ACCEPT, reject())
    others = [review(None, ACCEPT), review(UNUSABLE, ACCEPT), review(ACCEPT, TOO_LONG)]

    assert compared([*others, both]) == [(both, ACCEPT, reject())]
