import pytest

from spectrace.audit.agreement_figures import Pair, crossed, figures, survival_curves
from spectrace.stats.bootstrap import TaskBootstrap
from spectrace.stats.noise import Repeated
from tests.judged import ACCEPT, TOO_LONG, UNUSABLE, drawn, reject, review, table

FEW = TaskBootstrap(200)


def told(reviews, first=None, **more):
    pair = Pair(first=first, second="night", reviews=reviews, **more)
    return {figure.metric: figure.estimate for figure in figures(pair, FEW)}


def test_what_was_asked_and_what_is_in_no_agreement_is_counted():
    kinds = [ACCEPT, UNUSABLE, TOO_LONG, reject()]
    reviews = [review(ACCEPT, new, number=number) for number, new in enumerate(kinds, 1)]
    found = told([*reviews, review(None, ACCEPT, number=5)])
    counts = {name: found[name].value for name in ("reviews", "derived", "compared", "counterfactual")}

    assert counts == {"reviews": 5, "derived": 1, "compared": 2, "counterfactual": 2}
    assert (found["left_out_unusable"].value, found["left_out_too_long"].value) == (1, 1)


def test_a_review_that_was_judged_twice_counts_once():
    reviews = [review(ACCEPT, new, repeat=repeat) for repeat, new in enumerate([ACCEPT, reject()], 1)]
    found = told(reviews)

    assert (found["reviews"].value, found["verdicts"].value) == (1, 2)
    assert [found[name].value for name in ("agreement", "accepts_first", "accepts_second")] == [0.5, 1, 0.5]
    assert found["accepts_second"].n == 1


def test_how_often_each_accepts_stands_beside_the_paired_test():
    found = told([review(reject(), ACCEPT, str(task)) for task in range(12)])

    assert (found["accepts_first"].value, found["accepts_second"].value) == (0, 1)
    assert (found["accepts_difference"].value, found["accepts_difference"].n) == (1, 12)
    assert found["accepts_p"].value == 2 / 2**12
    assert found["accepts_p"].method == "paired sign flips over tasks, exact"


def test_which_way_the_disagreements_go_is_counted():
    found = told(table(20, 5, 12, 13))
    ways = [found[name] for name in ("accepts_only_first", "accepts_only_second")]

    assert [(one.value, one.n, one.method) for one in ways] == [(5, 50, "count"), (12, 50, "count")]


def test_two_verifiers_alike_do_not_differ():
    assert told(drawn(3, 40))["accepts_p"].value > 0.05


def test_survival_is_told_at_every_review():
    found = told(drawn(1, 12, episodes=2, reviews=4))

    assert [name for name in found if name.startswith("survival_") and name[-1].isdecimal()][:4] == [
        "survival_1",
        "survival_2",
        "survival_3",
        "survival_4",
    ]
    assert found["survival_1"].value >= found["survival_4"].value


def test_writes_are_told_by_what_becomes_of_them_at_the_turning_review():
    found = told([review(reject(), ACCEPT, writes=True), review(ACCEPT, reject(), number=2, writes=True)])

    assert {name: found[f"writes_{name}"].value for name in ("let_through", "stopped", "same", "unknown")} == {
        "let_through": 1,
        "stopped": 0,
        "same": 0,
        "unknown": 0,
    }


def test_the_floor_is_unknown_without_repeats_of_both():
    alone = told(table(4, 2, 2, 4), repeats=[Repeated("t", ("accept",), ("accept", "reject"))])
    both = told(table(4, 2, 2, 4), repeats=[Repeated("t", ("accept", "accept"), ("accept", "reject"))])

    assert (alone["excess"].value, "floor unknown" in alone["excess"].method) == (None, True)
    assert [both[name].value for name in ("disagreement", "disagreement_first", "disagreement_second", "excess")] == [
        0.5,
        0,
        1,
        0,
    ]


def test_of_two_runs_neither_survival_nor_fates_are_told_but_how_each_agrees_with_the_record():
    agrees, differs = ([review(ACCEPT, new, str(task)) for task in range(12)] for new in (ACCEPT, reject()))
    found = told([review(ACCEPT, reject(), str(task)) for task in range(12)], first="day", beside=(agrees, differs))

    assert [name for name in found if name.startswith(("survival", "writes", "counterfactual"))] == []
    assert [found[name].value for name in ("agrees_first", "agrees_second", "agrees_difference")] == [1, 0, -1]


def test_two_runs_are_compared_on_segments_that_nobody_had_judged_before():
    found = told([review(ACCEPT, ACCEPT), review(ACCEPT, reject(), number=2)], first="day", beside=([], []))

    assert (found["agreement"].value, "agrees_first" in found) == (0.5, False)


def test_of_rejections_alone_their_repetition_is_all_that_is_told():
    found = told([review(reject(), reject()), review(reject(), ACCEPT, number=2)], only_rejected=True)

    assert found["rejected_again"].value == 0.5
    assert not {"agreement", "kappa", "accepts_first", "survival_median", "counterfactual"} & set(found)


def test_new_rejections_stand_beside_how_often_the_verifier_repeats_them():
    repeats = [Repeated(str(task), ("reject",), ("reject", "reject")) for task in range(3)]
    found = told([review(reject(), reject())], only_rejected=True, repeats=repeats)

    assert (found["rejections_repeated"].value, found["rejections_repeated"].n) == (1, 3)


def test_where_nobody_judged_before_only_counts_are_told():
    assert {one.method for one in told([review(None, ACCEPT)]).values()} == {"count"}


@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_of_the_reviews_changes_no_digit(seed):
    reviews = drawn(seed, 15)

    assert told(reviews) == told(list(reversed(reviews)))


def test_verdicts_are_crossed_derived_ones_apart():
    assert crossed([review(ACCEPT, reject()), review(None, ACCEPT)]) == {("accept", "reject"): 1, (None, "accept"): 1}


def test_the_lower_curve_counts_what_is_unknown_as_different():
    known, harsh = survival_curves(
        Pair(first=None, second="n", reviews=[review(reject(0, None), reject(0, None)), review(ACCEPT, ACCEPT, "u")])
    )

    assert [[point.same.value for point in each] for each in (known, harsh)] == [[1], [0.5]]


def test_a_pair_is_named_by_its_runs_or_by_the_record():
    pairs = [Pair(first=first, second="night", reviews=[]) for first in (None, "day")]

    assert [(pair.label, pair.names) for pair in pairs] == [
        ("night against the record", ("recorded", "new")),
        ("night against day", ("day", "night")),
    ]
