import re

import pytest

from spectrace.audit.methods import methods
from spectrace.audit.reverified import read_reverified
from spectrace.core.prompts import Prompts
from spectrace.stats.bootstrap import TaskBootstrap
from tests.rejudged import judge_again, record_alone, record_reviews


@pytest.fixture
def told(reader):
    return lambda *runs: methods(read_reverified(reader, runs, TaskBootstrap(200, 7)))


def test_it_says_what_was_asked_of_whom_in_whole_sentences(store, told):
    judge_again(store, record_reviews(store, 12), "night", unusable={0})
    said = told("night")

    assert said.startswith(
        "Run night put 36 reviews from 12 episodes of 12 tasks (changes) to scripted:second, each in the context in "
        "which it was recorded, with the recorded prompts. Its data set is 12 selected episodes with the digest sha256:"
    )
    assert "Each review was judged once; of 36 verdicts 1 was unusable." in said
    assert said.endswith("The figures were computed by spectrace 0.1.0.")
    assert all(sentence[0].isupper() for sentence in re.split(r"(?<=[a-z0-9)])\. ", said))


def test_it_names_the_intervals_and_the_test_that_were_made(store, told):
    judge_again(store, record_reviews(store, 12), "night")
    said = told("night")

    assert "Intervals are Korn-Graubard 95 % over tasks for agree on accepting all" in said
    assert "task bootstrap, expanded percentile 95 % (B=200, seed 7) for accepts all (difference, points)" in said
    assert "Tests are two-sided: paired sign flips over tasks, exact." in said
    assert "What is drawn is drawn 200 times with the seed 7." in said


def test_where_there_is_no_interval_none_is_named(store, told):
    judge_again(store, record_reviews(store, 2), "night")

    assert "Intervals are" not in told("night")


def test_other_prompts_are_named_by_their_digest(store, told):
    prompts = Prompts(tools_heading="YOUR TOOLS")
    judge_again(store, record_reviews(store, 2), "night", prompts=prompts)

    assert re.search(r"with prompts of the digest sha256:[0-9a-f]{12}\. ", told("night"))


def test_repeats_derived_segments_and_rejections_are_said(store, told):
    judge_again(store, record_alone(store, 2), "derived", repeats=2)
    judge_again(store, record_reviews(store, 2, accepting=0), "rejected", only_rejected=True)

    assert "Of these reviews 6 are derived" in told("derived")
    assert "Each review was judged twice and counts once, as the mean over its answers" in told("derived")
    assert "put 6 recorded rejections from" in told("rejected")


def test_two_runs_are_both_told(store, told):
    episodes = record_reviews(store, 2)
    judge_again(store, episodes, "night")
    judge_again(store, episodes, "day", name="third")
    said = told("night", "day")

    assert (said.count("Run night put"), said.count("Run day put")) == (1, 1)
    assert "to scripted:third" in said


def test_how_verdicts_were_read_is_said_with_the_steps_that_chance_may_have_decided(store, told):
    episodes = record_reviews(store, 12)
    judge_again(store, episodes, "night")
    judge_again(store, episodes, "day", scored_at="0.7")

    assert "The verdicts were decoded: the verifier wrote them." in told("night")
    assert "The verdicts were scored: read from the probability of yes after each step" in told("day")
    assert "a step stood from 0.7 on. Of 36 scored steps 0 (0.0 %) lie within 0.15 nat of the threshold" in told("day")


def test_the_share_near_the_threshold_is_that_of_the_figure(store, reader, told):
    judge_again(store, record_reviews(store, 4), "day", scored_at="0.5")
    found = read_reverified(reader, ["day"], TaskBootstrap(200, 7))
    (figure,) = (one for one in found.figures[0][1] if one.metric == "near_threshold")

    assert f"({100 * figure.estimate.value:.1f} %) lie within 0.15 nat" in told("day")


def test_a_run_of_both_kinds_of_verdicts_says_so(store, told):
    one, other = record_reviews(store, 2)
    judge_again(store, [one], "day", scored_at="0.5")
    judge_again(store, [other], "day")

    assert "Of the verdicts 3 were decoded, the others were scored: read from" in told("day")


def test_where_nothing_is_drawn_no_draws_are_told(store, told):
    judge_again(store, record_reviews(store, 2), "night")

    assert "drawn" not in told("night")
