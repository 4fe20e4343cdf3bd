from itertools import combinations

import pytest

from spectrace.audit.reverified import read_reverified
from spectrace.errors import UsageError
from spectrace.stats.bootstrap import TaskBootstrap
from tests.rejudged import judge_again, record_alone, record_reviews

FEW = TaskBootstrap(200)


@pytest.fixture
def episodes(store):
    return record_reviews(store, 4)


def values(found, place=0):
    return {figure.metric: figure.estimate.value for figure in found.figures[place][1]}


def test_one_run_stands_against_the_record(store, reader, episodes):
    judge_again(store, episodes, "night")
    found = read_reverified(reader, ["night"], FEW)

    assert [pair.label for pair in found.pairs] == ["night against the record"]
    assert values(found)["reviews"] == 12


def test_two_runs_stand_against_the_record_and_each_other(store, reader, episodes):
    judge_again(store, episodes, "night", 0.5, 2)
    judge_again(store, episodes[1:], "day", 0.9, 3)
    found = read_reverified(reader, ["night", "day"], FEW)

    assert [pair.label for pair in found.pairs] == [
        "night against the record",
        "day against the record",
        "day against night",
    ]
    assert [values(found, place)["reviews"] for place in range(3)] == [12, 9, 9]


def test_a_run_against_itself_agrees_and_has_no_excess(store, reader, episodes):
    for run in ("night", "day"):
        judge_again(store, episodes, run, 0.5, 2, repeats=2)
    found = values(read_reverified(reader, ["night", "day"], FEW), 2)

    assert (found["agrees_difference"], found["accepts_difference"], found["accepts_p"]) == (0, 0, 1)
    assert found["excess"] <= 0


def test_what_only_one_of_three_could_not_judge_is_in_no_paired_test(store, reader, episodes):
    judge_again(store, episodes, "night", unusable={0, 1})
    judge_again(store, episodes, "day", seed=3)
    (*_, pair) = read_reverified(reader, ["night", "day"], FEW).pairs

    assert [len(each) for each in pair.beside] == [10, 10]


def test_derived_reviews_of_two_runs_are_compared_although_nobody_had_judged_them(store, reader):
    alone = record_alone(store, 4)
    judge_again(store, alone, "night")
    judge_again(store, alone, "day", seed=3)
    found = read_reverified(reader, ["night", "day"], FEW)

    assert [values(found, place).get("agreement") is not None for place in range(3)] == [False, False, True]
    assert [len(one.derived) for one in found.runs] == [12, 12]


def test_with_repeats_of_both_the_floor_is_known(store, reader, episodes):
    judge_again(store, episodes, "night", repeats=2)
    unknown = values(read_reverified(reader, ["night"], FEW))["excess"]
    judge_again(store, episodes, "self", 0.7, 5, name="first")
    known = values(read_reverified(reader, ["night"], FEW))["excess"]

    assert (unknown, known is None) == (None, False)


def test_a_run_of_the_recorded_verifier_is_not_its_own_floor(store, reader, episodes):
    judge_again(store, episodes, "self", name="first", repeats=2)

    assert values(read_reverified(reader, ["self"], FEW))["excess"] is None


def test_of_rejections_alone_the_recorded_verifier_s_own_repeats_stand_beside(store, reader, episodes):
    judge_again(store, episodes, "night", only_rejected=True)
    unknown = values(read_reverified(reader, ["night"], FEW))["rejected_again_by_first"]
    judge_again(store, episodes, "self", name="first")

    assert unknown is None
    assert values(read_reverified(reader, ["night"], FEW))["rejected_again_by_first"] is not None


@pytest.mark.parametrize("runs", [[], ["a", "b", "c"]])
def test_one_run_or_two_can_be_set_side_by_side(reader, runs):
    with pytest.raises(UsageError, match=f"{len(runs)} were named"):
        read_reverified(reader, runs)


def test_a_name_of_no_re_verification_is_refused(store, reader, episodes):
    with pytest.raises(UsageError, match="no re-verification is named 'night'"):
        read_reverified(reader, ["night"])


def test_the_same_log_gives_the_same_figures(store, reader, episodes):
    judge_again(store, episodes, "night")

    assert read_reverified(reader, ["night"], FEW).figures == read_reverified(reader, ["night"], FEW).figures


def test_the_noise_of_one_verifier_is_known_where_the_other_was_asked_once(store, reader, episodes):
    judge_again(store, episodes, "night", 0.5, 2, repeats=3)
    found = read_reverified(reader, ["night"], FEW)
    (own,) = (one for one in found.figures[0][1] if one.metric == "disagreement_second")
    kinds = found.runs[0].answers.values()
    differing = [sum(a != b for a, b in combinations(said, 2)) / 3 for said in kinds]

    assert (values(found)["excess"], values(found)["disagreement_first"]) == (None, None)
    assert own.title == "differs from itself (new)"
    assert own.estimate.value == pytest.approx(sum(differing) / 12)
    assert 0 < own.estimate.value < 1


@pytest.mark.parametrize("only_rejected", [True, False])
def test_it_is_known_of_rejections_and_of_derived_segments_alone(store, reader, only_rejected):
    asked = record_reviews(store, 2, accepting=0) if only_rejected else record_alone(store, 2)
    judge_again(store, asked, "night", 0.5, 2, repeats=2, only_rejected=only_rejected)
    found = read_reverified(reader, ["night"], FEW)
    (own,) = (one for one in found.figures[0][1] if one.metric == "disagreement_second")

    assert (own.title, own.estimate.n) == ("differs from itself (new)", 6)


def test_scored_steps_near_the_threshold_are_a_figure_of_each_run_that_has_them(store, reader, episodes):
    judge_again(store, episodes, "night", scored_at="0.5", repeats=2)
    judge_again(store, episodes, "day", seed=3)
    judge_again(store, episodes, "dusk", seed=4, scored_at="0.88")
    told = {
        runs: {one.metric: one for one in read_reverified(reader, runs, FEW).figures[-1][1] if "near" in one.metric}
        for runs in (("night",), ("day",), ("day", "night"), ("night", "dusk"))
    }

    alone = told["night",]["near_threshold"]
    assert (alone.title, alone.estimate.n, alone.noun) == ("scored within 0.15 nat (new)", 24, "scored step")
    assert 0 < alone.estimate.value < 1
    assert told["day",] == {}
    assert told["day", "night"].keys() == {"near_threshold"}
    assert [one.title for one in told["night", "dusk"].values()] == [
        "scored within 0.15 nat (night)",
        "scored within 0.15 nat (dusk)",
    ]
