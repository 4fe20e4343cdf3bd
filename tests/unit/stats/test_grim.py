import pytest

from spectrace.errors import UsageError
from spectrace.stats.grim import counts

# Pass@1 of the seeds, and the episodes that they are of.
SEEDS = {
    "Airline": (150, "80.0 86.0 86.0 85.3 72.0"),
    "Retail": (342, "80.4 88.6 87.7 85.7 48.5 82.5"),
    "AutomationBench": (600, "6.8 15.2 10.5"),
    "VitaBench": (200, "34.0 48.0 44.5 50.0"),
    "MCP-Atlas": (101, "44.6 72.3 76.2 84.2 59.4 67.3 74.3"),
}


@pytest.mark.parametrize("name", SEEDS)
def test_every_score_of_the_seeds_is_a_share_of_its_episodes(name):
    n, scores = SEEDS[name]

    assert [score for score in scores.split() if not counts(score, n)] == []


def test_one_trial_a_task_cannot_have_given_the_scores_of_airline():
    assert [score for score in SEEDS["Airline"][1].split() if not counts(score, 50)] == ["85.3"]


def test_the_counts_are_those_that_round_to_the_score():
    assert (list(counts("44.6", 101)), list(counts("50", 3)), list(counts("33.3", 3))) == ([45], [], [1])


def test_a_score_with_few_digits_may_be_several_counts():
    assert list(counts("7", 200)) == [13, 14, 15]


@pytest.mark.parametrize(("percent", "n"), [("101", 10), ("-1", 10), ("50", 0), ("NaN", 10)])
def test_what_is_no_percentage_is_refused(percent, n):
    with pytest.raises(UsageError, match="expected a percentage"):
        counts(percent, n)
