import pytest

from spectrace.stats.bootstrap import TaskBootstrap
from spectrace.stats.estimates import TOO_FEW, clustered
from spectrace.stats.gaps import NO_GAP, gap_recovered, recovered

# Pass@1 of the seeds: weak, strong, SpecAgent, and the share of the gap that they report.
SEEDS = {
    "Retail": (80.4, 88.6, 87.7, 89),
    "AutomationBench": (6.8, 15.2, 10.5, 44),
    "VitaBench": (34.0, 48.0, 44.5, 75),
    "MCP-Atlas, Qwen3.5-397B": (44.6, 72.3, 59.4, 53),
    "MCP-Atlas, GLM-5": (44.6, 76.2, 67.3, 72),
    "MCP-Atlas, DeepSeek-V4-Flash": (44.6, 84.2, 74.3, 75),
}


@pytest.mark.parametrize("name", SEEDS)
def test_the_seeds_shares_follow_from_their_scores(name):
    weak, strong, found, share = SEEDS[name]

    assert round(100 * recovered(weak, strong, found)) == share


def test_no_gap_has_no_share():
    assert recovered(0.5, 0.5, 0.7) is None


def passing(*tasks, of=40):
    """One trial of each task; those named pass."""
    return clustered((f"{task:02}", int(task in tasks)) for task in range(of))


def test_the_share_has_an_interval_over_the_tasks_of_all_three():
    found = gap_recovered(passing(*range(10)), passing(*range(30)), passing(*range(25)), TaskBootstrap(2000))

    assert (found.value, found.n, found.clusters) == (0.75, 120, 40)
    assert 0.4 < found.low < 0.6
    assert 0.9 < found.high < 1


def test_a_gap_that_may_be_none_has_no_share():
    found = gap_recovered(passing(*range(10)), passing(*range(1, 12)), passing(*range(11)), TaskBootstrap(500))

    assert (found.value, found.method) == (None, NO_GAP)


def test_under_ten_tasks_no_share_is_told():
    found = gap_recovered(passing(of=9), passing(*range(9), of=9), passing(*range(5), of=9), TaskBootstrap())

    assert (found.value, found.clusters, found.method) == (None, 9, TOO_FEW)
