import pytest

from spectrace.audit.derived import DerivedReview
from spectrace.audit.derived_rows import derived_figures, derived_notes, derived_rows
from spectrace.stats.bootstrap import TaskBootstrap
from tests.judged import ACCEPT, UNUSABLE, reject

FEW = TaskBootstrap(200)


def one(judged, held="gold", grade="passed", task="t", number=1):
    return DerivedReview(task, task, number, held, grade, judged)


def many(tasks=12):
    """Gold writes that are accepted, others of the same tasks that are not."""
    return [
        review
        for task in map(str, range(tasks))
        for review in (one(ACCEPT, task=task), one(reject(category="wrong_tool"), "other", task=task, number=2))
    ]


def test_a_row_has_what_was_held_the_grade_the_share_and_why_it_was_rejected():
    rows = derived_rows([one(ACCEPT), one(reject(category="wrong_tool"), number=2), one(UNUSABLE, number=3)])

    assert [(row.held, row.grade, row.n, row.accepted, row.interval, row.tasks) for row in rows] == [
        ("gold write", "passed", 3, "50.0 %", None, 1)
    ]
    assert (rows[0].rejected, rows[0].left_out) == ("1 wrong tool", "1 unusable")


def test_a_cell_without_anything_judged_has_no_share():
    assert derived_rows([one(UNUSABLE)])[0].accepted is None


@pytest.mark.parametrize(
    ("held", "expected"), [(["unknown"], {"write"}), (["unknown", "gold"], {"write (gold unknown)"})]
)
def test_a_write_is_called_unknown_only_beside_known_ones(held, expected):
    rows = derived_rows([one(ACCEPT, each, number=number) for number, each in enumerate(held)])

    assert {row.held for row in rows if row.held.startswith("write")} == expected


def test_the_notes_say_how_the_intervals_are_made_and_how_gold_stands_to_others():
    assert list(derived_notes(many(), FEW)) == [
        "Interval of accepted: Korn-Graubard 95 % over tasks.",
        (
            "Gold writes less other writes, over the 12 tasks that have both: 100.0 [100.0, 100.0] points "
            "(task bootstrap, expanded percentile 95 % (B=200, seed 2026); the same in every draw, so no guess at "
            "other tasks)."
        ),
        "A gold write is one that the task's author lists; another one may be right as well.",
    ]


def test_few_tasks_have_no_interval_and_the_notes_say_so():
    notes = list(derived_notes(many(3), FEW))

    assert notes[:2] == [
        "No interval: fewer than 10 tasks.",
        "Gold writes less other writes, over the 3 tasks that have both: 100.0 points (fewer than 10 tasks).",
    ]


def test_where_no_gold_is_known_the_notes_say_so():
    assert list(derived_notes([one(ACCEPT, "unknown")], FEW))[-1].startswith("These tasks record no gold actions")


def test_every_cell_is_among_the_figures_with_its_categories_and_what_it_leaves_out():
    reviews = [one(ACCEPT), one(reject(category="wrong_tool"), number=2), one(UNUSABLE, number=3)]
    found = {figure.metric: figure.estimate for figure in derived_figures(reviews, FEW)}

    assert {name: (estimate.value, estimate.n) for name, estimate in found.items()} == {
        "derived_gold_passed_n": (3, 3),
        "derived_gold_passed": (0.5, 2),
        "derived_gold_passed_rejected_wrong_tool": (1, 3),
        "derived_gold_passed_left_out_unusable": (1, 3),
    }


def test_the_difference_is_among_the_figures_where_there_are_both():
    assert [figure.metric for figure in derived_figures(many(), FEW)][-1] == "derived_gold_less_other"
    assert list(derived_figures([], FEW)) == []
