import pytest

from spectrace.audit.comparison import BEST_CASE
from spectrace.cli.compare_rows import drawn_row, reasons, rows_of
from spectrace.cost.phases import MEASURES
from spectrace.stats.estimates import Estimate

R = ("accounted", "proposition", "predicted", "apart", "per_task")


def one(value, method="m"):
    return Estimate(value=value, n=4, clusters=4, method=method)


def found(**changed):
    """R of 2 in every measure and of every kind; `changed` by metric."""
    known = {("a", f"r_{kind}_{measure}"): one(2.0) for kind in R for measure in MEASURES}
    return known | {("a", name): estimate for name, estimate in changed.items()}


def titles(estimates, begins="R accounted"):
    return [row.title for row in rows_of(["a"], estimates, None) if row.title.startswith(begins)]


def test_r_has_a_row_in_each_measure_and_what_reads_the_same_has_one():
    apart = found(r_accounted_hbm_read_high=one(3.0))

    assert titles(found()) == [f"R accounted ({words})" for words in ("FLOPs", "HBM-read", "time", "money")]
    assert titles(apart)[1:3] == ["R accounted (HBM-read at least)", "R accounted (HBM-read at most)"]


def test_a_row_that_is_the_best_case_is_marked():
    assert titles(found(r_accounted_flops=one(2.0, f"m{BEST_CASE}")))[0] == "R accounted (FLOPs) *"


@pytest.mark.parametrize("kind", R[1:])
def test_where_r_is_missing_its_reason_stands_for_all_that_is_made_of_it(kind):
    missing = {name: one(None, "none: no count") for name in ("r_accounted_seconds", f"r_{kind}_seconds")}
    estimates = found(**missing)

    assert list(reasons(rows_of(["a"], estimates, None), ["a"], estimates)) == ["No R (time): no count."]


def test_what_is_made_of_r_and_missing_in_every_measure_is_told_once():
    estimates = found(**{f"r_predicted_{measure}": one(None, "none: nothing was reviewed") for measure in MEASURES})

    assert list(reasons(rows_of(["a"], estimates, None), ["a"], estimates)) == ["No R predicted: nothing was reviewed."]


def test_a_reason_is_the_same_with_and_without_the_best_case():
    estimates = found(
        r_accounted_flops=one(2.0, f"none: fewer than 10 tasks{BEST_CASE}"),
        r_accounted_usd=one(2.0, "none: fewer than 10 tasks"),
    )

    assert list(reasons(rows_of(["a"], estimates, None), ["a"], estimates)) == ["No interval: fewer than 10 tasks."]


def test_the_baseline_is_named_in_its_row():
    (row,) = (row for row in rows_of(["a"], found(), "strong-only") if row.metric == "pass1_difference")

    assert row.title == "less strong-only, points"


def test_a_row_of_which_nothing_is_known_is_not_drawn():
    estimates = found(r_accounted_usd=one(None, "none: no price"))
    (row,) = (row for row in rows_of(["a"], estimates, None) if row.metric == "r_accounted_usd")

    assert drawn_row(row, ["a"], estimates) is None
