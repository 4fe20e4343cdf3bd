import pytest

from spectrace.audit.agreement_figures import Pair, figures
from spectrace.audit.agreement_rows import Row, notes, rows_of, sentences
from spectrace.stats.bootstrap import TaskBootstrap
from tests.judged import ACCEPT, TOO_LONG, UNUSABLE, drawn, reject, review, table


def pair(reviews, **more):
    return Pair(first=None, second="night", reviews=reviews, **more)


def rows(reviews, **more):
    return {row.title: row for row in rows_of(figures(pair(reviews, **more), TaskBootstrap(200)))}


def said(reviews, **more):
    return list(sentences(pair(reviews, **more)))


def row(title, value=None, method=None, missing=None):
    return Row(title, value, None, None, None, None, method, missing)


def test_each_statistic_has_its_value_interval_bounds_count_and_tasks():
    found = rows([*table(20, 5, 10, 15), review(ACCEPT, UNUSABLE, "0")])["agree on accepting all"]

    assert (found.value, found.bounds, found.of, found.tasks) == ("70.0 %", "[68.6, 70.6]", "50 reviews", 50)
    assert found.interval == "[55.2, 82.3]"  # as of 49: Clopper-Pearson, the variance between tasks has T-1 below it


def test_the_rows_are_those_of_both_estimands_the_paired_test_and_the_noise():
    assert list(rows(drawn(1, 12))) == [
        "agree on accepting all",
        "Cohen's kappa",
        "Gwet's AC1",
        "same first wrong step",
        "agree on single steps",
        "accepted share (difference)",
        "accepts all (recorded)",
        "accepts all (new)",
        "accepts all (difference, points)",
        "accepts all (p of no difference)",
        "half differ by review",
        "excess disagreement",
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

    assert (found["half differ by review"].value, found["half (unknown counted)"].value) == ("over 1", "1")


def test_a_small_p_is_told_as_less_than_what_is_shown():
    found = rows([review(reject(), ACCEPT, str(task)) for task in range(20)])

    assert found["accepts all (p of no difference)"].value == "<0.001"


def test_where_nobody_judged_before_nothing_is_compared():
    assert rows([review(None, ACCEPT)]) == {}


def test_rejections_alone_stand_beside_how_often_the_first_verifier_repeats_them():
    reviews = [review(reject(), reject()), review(reject(), ACCEPT, number=2)]
    alone, beside = (
        list(rows(reviews, only_rejected=True, again=again).values())
        for again in ([], [review(reject(), reject(), number=number) for number in (1, 2, 3)])
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
            ["Interval: how.", "No value of c: why."],
        ),
        ([row("a", "1", "how"), row("b", "2", "else")], ["Interval of a: how.", "Interval of b: else."]),
        ([row("a", "1", missing="few"), row("b", "2", missing="few"), row("p", "3")], ["No interval: few."]),
    ],
)
def test_methods_and_reasons_are_told_once_each(those, expected):
    assert list(notes(those)) == expected


def test_what_is_left_out_is_counted_by_its_reason():
    kinds = [UNUSABLE, TOO_LONG, UNUSABLE, ACCEPT]
    reviews = [review(ACCEPT, new, number=number) for number, new in enumerate(kinds, 1)]

    assert said(reviews)[0] == "Left out: 1 too long, 2 unusable; the bounds count them either way."


def test_derived_reviews_are_in_no_agreement():
    assert said([review(None, ACCEPT)]) == [
        "1 in no agreement: nobody judged them when they were recorded (derived segments)."
    ]


def test_categories_are_crossed():
    reviews = [review(reject(), reject(category="premature"))] * 2 + [review(reject(), reject())]

    assert said(reviews)[0] == "Rejected by both, category recorded > new: 2 unsafe > premature, 1 unsafe > unsafe."


def test_what_came_after_a_difference_is_counted():
    pairs = [(ACCEPT, ACCEPT), (reject(), ACCEPT), (ACCEPT, reject()), (ACCEPT, ACCEPT)]
    reviews = [review(*pair, number=number) for number, pair in enumerate(pairs, start=1)]

    assert said(reviews)[0].startswith("2 came after a review that came out differently")


def test_writes_have_their_fate_at_the_turning_review_only():
    pairs = [(reject(), ACCEPT), (ACCEPT, reject())]
    reviews = [review(*pair, number=number, writes=True) for number, pair in enumerate(pairs, start=1)]

    assert said(reviews)[1] == (
        "Held writes at the review where an episode turns: 1 let through that were stopped, 0 stopped that ran, "
        "0 as before, 0 unknown."
    )


def test_rejections_alone_say_nothing_of_courses_and_accepts():
    assert said([review(reject(), ACCEPT, number=2, writes=True)], only_rejected=True) == [
        "Of rejections alone nothing follows for accepts.",
        "Agreement is not accuracy: both may be wrong together.",
    ]


def test_agreement_is_never_called_accuracy():
    assert said([review(ACCEPT, ACCEPT)]) == ["Agreement is not accuracy: both may be wrong together."]
