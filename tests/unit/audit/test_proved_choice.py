from dataclasses import replace

import pytest

from spectrace.audit.answers import Filters
from spectrace.audit.leaves import Leaf
from spectrace.audit.proved_choice import may_pass, told_by_leaves, unlisted
from spectrace.audit.standing_leaves import Stored, by_episode

LEAF = Leaf("ep", "desk", 10, 20, "completed", 7, 1, "07" * 32)
OPEN = replace(LEAF, ended_at=None, status="open")
STORED = Stored(LEAF, 7, {7: LEAF.head})


@pytest.mark.parametrize(
    ("filters", "leaf", "may"),
    [
        (Filters(), LEAF, True),
        (Filters(since=10, until=11), LEAF, True),
        (Filters(since=11), LEAF, False),
        (Filters(until=10), LEAF, False),
        (Filters(project=("desk", "x")), LEAF, True),
        (Filters(project=("x",)), LEAF, False),
        (Filters(status=("completed",)), LEAF, True),
        (Filters(status=("failed",)), LEAF, False),
        (Filters(status=("failed",)), OPEN, True),  # it may have ended since
        (Filters(status=("unknown",)), LEAF, True),  # its end may be what nobody can read now
        (Filters(env=("shop",)), LEAF, True),
        (Filters(), replace(LEAF, status="administrative"), False),
    ],
)
def test_a_leaf_tells_whether_its_episode_may_pass(filters, leaf, may):
    assert may_pass(leaf, filters) is may


def test_leaves_tell_of_times_projects_and_ends_and_of_nothing_else():
    assert told_by_leaves(Filters(since=1, until=2, project=("a",), status=("failed",)))
    assert not told_by_leaves(Filters(since=1, env=("shop",)))


def found(filters: Filters, stored: Stored | None, chosen: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    there = {} if stored is None else {"ep": stored}
    results = unlisted(by_episode([LEAF]), there, set(there), chosen, filters)
    return [(one.result, one.detail.partition(":")[0].partition(";")[0]) for one in results]


def test_a_removed_episode_that_may_pass_is_named():
    assert found(Filters(since=5), None) == [("invalid", "removed")]
    assert found(Filters(since=15), None) == []


def test_of_a_filter_that_leaves_do_not_tell_it_is_said_that_it_may_not_have_passed():
    (one,) = unlisted(by_episode([LEAF]), {}, (), (), Filters(env=("shop",)))

    assert one.detail.endswith("whether it passes every filter is not known")


def test_an_episode_whose_row_was_altered_out_of_the_filters_is_named():
    moved = replace(STORED, leaf=replace(LEAF, started_at=1))

    assert found(Filters(since=5), moved) == [("invalid", "its row says started_at 1, signed was 10")]
    assert found(Filters(since=5), STORED) == []


def test_what_was_chosen_is_not_said_twice():
    assert found(Filters(since=5), replace(STORED, leaf=replace(LEAF, project="x")), ("ep",)) == []
