import pytest

from spectrace.audit.panels import Curves, Matrix, captions, panels
from spectrace.audit.reverified import read_reverified
from spectrace.stats.bootstrap import TaskBootstrap
from tests.rejudged import judge_again, record_alone, record_reviews


@pytest.fixture
def told(reader):
    return lambda *runs: panels(read_reverified(reader, runs, TaskBootstrap(200)))


@pytest.fixture
def episodes(store):
    return record_reviews(store, 12)


def test_a_run_has_forests_a_curve_and_its_verdicts_crossed(store, episodes, told):
    judge_again(store, episodes, "night", unusable={0})
    agreement, differences, curves, matrix = told("night")

    assert agreement.rows[:3] == ("agree on accepting all", "Cohen's κ", "Gwet's AC1")
    assert (differences.rows, differences.reference) == (("share accepted whole", "accepted share of steps"), 0.0)
    assert [curve.series for curve in curves.curves] == ["night against the record"]
    assert (matrix.rows, matrix.columns) == (("accept", "reject"), ("accept", "reject", "unusable"))
    assert sum(map(sum, matrix.counts)) == 36


def test_an_interval_is_named_only_where_there_is_one(store, told):
    few, many = record_reviews(store, 4), record_reviews(store, 12)
    judge_again(store, few, "few", unusable={0})
    judge_again(store, many, "many")
    without, with_intervals = told("few")[0], told("many")[0]

    assert (without.label, with_intervals.label) == ("share or coefficient", "share or coefficient, 95 % interval")
    assert "95 %" not in without.key
    assert "bounds, no interval" in without.key
    assert with_intervals.key.startswith("A line is a 95 % interval")


def test_marks_are_the_figures_with_their_intervals_and_bounds(store, episodes, told, reader):
    judge_again(store, episodes, "night", unusable={0})
    first = told("night")[0].marks[0]
    ((_, figures),) = read_reverified(reader, ["night"], TaskBootstrap(200)).figures
    figure = next(one for one in figures if one.metric == "agreement")

    assert (first.value, first.low, first.high) == (figure.estimate.value, figure.estimate.low, figure.estimate.high)
    assert first.bounds == (figure.bounds.low, figure.bounds.high)
    assert first.text == f"{first.value:.3f} [{first.low:.3f}, {first.high:.3f}]"


def test_without_an_interval_a_mark_stands_alone(store, told):
    judge_again(store, record_reviews(store, 3), "night")
    first = told("night")[0].marks[0]

    assert (first.low, first.high, first.bounds, "[" in first.text) == (None, None, None, False)


def test_two_runs_are_three_series_and_their_survival_two_curves(store, episodes, told):
    for run in ("night", "day"):
        judge_again(store, episodes, run)
    found = told("night", "day")

    assert found[0].series == ("night against the record", "day against the record", "day against night")
    assert [len(one.curves) for one in found if isinstance(one, Curves)] == [2]
    assert [one.name for one in found if isinstance(one, Matrix)] == list(found[0].series)


def test_derived_segments_are_a_forest_by_reward_and_verdicts_by_what_was_held(store, told):
    judge_again(store, record_alone(store, 12), "night")
    forest, matrix = told("night")

    assert (forest.rows, forest.series) == (("finish", "write", "all"), ("passed episodes", "failed episodes"))
    assert matrix.rows == ("finish, passed", "finish, failed", "write, passed", "write, failed")
    assert sum(map(sum, matrix.counts)) == 36


def test_of_rejections_alone_there_is_no_survival(store, episodes, told):
    judge_again(store, episodes, "night", only_rejected=True)

    forest, matrix = told("night")
    assert (forest.rows, matrix.rows) == (("rejected again",), ("reject",))


def test_the_captions_say_what_it_is_and_of_what(store, episodes, reader):
    judge_again(store, episodes, "night", repeats=2)
    title, below = captions(read_reverified(reader, ["night"], TaskBootstrap(200)))

    assert title == "Re-verification: night"
    assert below.startswith("night: 36 reviews of 12 tasks by scripted:second, data set sha256:")
