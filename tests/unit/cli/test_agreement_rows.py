import pytest

from spectrace.cli.agreement_rows import Row, notes, rows_of
from spectrace.stats.bootstrap import TaskBootstrap
from tests.judged import ACCEPT, UNUSABLE, drawn, reject, review, table

FEW = TaskBootstrap(200)


def rows(reviews, *, only_rejected=False):
    return {row.title: row for row in rows_of(reviews, FEW, only_rejected=only_rejected)}


def row(title, value=None, method=None, missing=None):
    return Row(title, value, None, None, None, None, method, missing)


def test_each_statistic_has_its_value_interval_bounds_count_and_tasks():
    found = rows([*table(20, 5, 10, 15), review(ACCEPT, UNUSABLE, "0")])["agree on accepting all"]

    assert (found.value, found.bounds, found.of, found.tasks) == ("70.0 %", "[68.6, 70.6]", "50 reviews", 50)
    assert found.interval == "[55.2, 82.3]"  # as of 49: Clopper-Pearson, the variance between tasks has T-1 below it


def test_the_rows_are_those_of_both_estimands():
    assert list(rows(drawn(1, 12))) == [
        "agree on accepting all",
        "Cohen's kappa",
        "Gwet's AC1",
        "same first wrong step",
        "agree on single steps",
        "accepted share, difference",
        "half differ by review",
    ]


def test_where_nothing_is_left_out_there_are_no_bounds():
    assert {one.bounds for one in rows(table(6, 2, 2, 3)).values()} == {None}


def test_steps_and_episodes_are_counted_as_such():
    found = rows(drawn(1, 12, episodes=2, reviews=4))

    assert found["agree on single steps"].of.endswith(" steps")
    assert found["half differ by review"].of == "24 episodes"


def test_a_median_that_is_not_reached_lies_over_the_last_review():
    found = rows([review(ACCEPT, ACCEPT, str(task), number=number) for task in range(12) for number in (1, 2)])

    assert (found["half differ by review"].value, found["half differ by review"].interval) == (
        "over 2",
        "[over 2, over 2]",
    )


def test_a_median_is_told_twice_where_what_is_unknown_makes_it_another():
    unknown = [review(reject(0, None), reject(0, None), str(task)) for task in range(12)]
    found = rows([*unknown, *(review(ACCEPT, ACCEPT, str(task)) for task in range(12, 15))])

    assert (found["half differ by review"].value, found["half, unknown ones counted"].value) == ("over 1", "1")


def test_where_nobody_judged_before_nothing_is_compared():
    assert rows([review(None, ACCEPT)]) == {}


def test_rejections_alone_stand_beside_how_often_the_first_verifier_repeats_them():
    reviews = [review(reject(), reject()), review(reject(), ACCEPT)]
    alone, beside = (
        rows_of(reviews, FEW, only_rejected=True, again=again) for again in ([], [review(reject(), reject())] * 3)
    )

    assert [(one.title, one.value, one.missing) for one in alone] == [
        ("rejected again", "50.0 %", "fewer than 10 tasks"),
        ("by the first verifier", None, "floor unknown, it has not been asked again"),
    ]
    assert (beside[1].value, beside[1].of) == ("100.0 %", "3 reviews")


@pytest.mark.parametrize(
    ("those", "expected"),
    [
        (
            [row("a", "1", "how"), row("b", "2", "how"), row("c", missing="why")],
            ["Interval of a, b: how.", "No value of c: why."],
        ),
        ([row("a", "1", missing="few"), row("b", "2", missing="few")], ["No interval: few."]),
    ],
)
def test_methods_and_reasons_are_told_once_each(those, expected):
    assert list(notes(those)) == expected
