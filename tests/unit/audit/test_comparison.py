import pytest
import scipy

from spectrace.audit.columns import read_columns
from spectrace.audit.comparison import Comparison, methods_line
from spectrace.audit.costing import Costing
from spectrace.audit.queries import Reader
from spectrace.core.baselines import StrongOnly, WeakOnly
from spectrace.core.specagent import SpecAgent
from spectrace.errors import ModelFailed
from spectrace.runs.live import Labels
from spectrace.stats.bootstrap import TaskBootstrap
from spectrace.stats.estimates import TOO_FEW
from spectrace.stats.proportions import KORN_GRAUBARD
from spectrace.store.sql import open_store
from tests.compared_runs import record_run
from tests.episodes import CANCEL, DONE, FIND
from tests.playbook import reject
from tests.shop_log import recorded
from tests.spent import ALONE_TOLD, told

ALL = set(range(12))
EXPLAINED = reject(1, FIND).replace('"verdict": "reject", "first_wrong": 1, ', "")


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """Weak-only passes 2 of 12 tasks, strong-only all, SpecAgent 8; two trials each."""
    store = open_store(str(tmp_path_factory.mktemp("log") / "log.db"))
    record_run(store, WeakOnly(), {0, 1}, trials=2)
    record_run(store, StrongOnly(), ALL, trials=2)
    record_run(store, SpecAgent(), set(range(8)), trials=2)
    columns = read_columns(Reader(store), ["n"], Costing(), [])
    comparison = Comparison(columns=columns, baseline=columns[1], bootstrap=TaskBootstrap(500))
    found = {(one.column.label, one.metric): one.estimate for one in comparison.metrics()}
    yield comparison, found
    store.close()


def test_pass_at_1_has_its_interval_over_tasks(compared):
    _, found = compared
    one = found["weak-only", "pass1"]

    assert (one.value, one.n, one.clusters, one.method) == (4 / 24, 24, 12, KORN_GRAUBARD)
    # The variance is that of 11 independent episodes; the t quantiles of 23 and 11 correct for having guessed it.
    size = 11 * (scipy.stats.t.ppf(0.975, 23) / scipy.stats.t.ppf(0.975, 11)) ** 2
    exact = scipy.stats.beta.ppf([0.025, 0.975], [size / 6, size / 6 + 1], [size * 5 / 6 + 1, size * 5 / 6])
    assert (one.low, one.high) == pytest.approx(tuple(exact))


def test_a_difference_is_paired_over_tasks_and_tested_exactly(compared):
    _, found = compared
    one, p = found["specagent", "pass1_difference"], found["specagent", "pass1_difference_p"]

    assert one.value == pytest.approx(-4 / 12)
    assert one.low < -0.5 < -0.1 < one.high < 0.1
    assert (p.value, p.method) == (2 / 2**4, "paired sign flips over tasks, exact")
    assert ("strong-only", "pass1_difference") not in found


def test_the_gap_recovered_stands_between_the_ends_and_is_none_of_them(compared):
    _, found = compared

    assert found["specagent", "gap_recovered"].value == pytest.approx(0.6)
    assert found["specagent", "gap_recovered"].spans
    assert found["weak-only", "gap_recovered"].method == "none: it is an end of the gap"


def test_costs_are_means_over_the_scored_episodes(compared):
    _, found = compared
    names = ("strong_calls", "weak_calls", "strong_output", "strong_uncached", "cost_usd")

    assert [found["specagent", name].value for name in names] == pytest.approx([1, 1, 10, 60, 0.004])
    assert [found["weak-only", name].value for name in names] == pytest.approx([0, 1, 0, 0, 0.002])
    assert found["specagent", "cost_usd_ratio"].value == pytest.approx(2)
    assert found["weak-only", "strong_calls_ratio"].value == 0


def test_r_is_accounted_by_the_proposition_and_predicted_in_each_measure(compared):
    _, found = compared
    values = {name: found["specagent", f"r_{name}_usd"].value for name in ("accounted", "proposition", "predicted")}

    assert values == pytest.approx({"accounted": 1, "proposition": 1, "predicted": 1})
    assert found["specagent", "r_accounted_hbm_read_low"].method.startswith("none: reference: 24 of 24 strong calls")


def test_what_is_reviewed_is_told_from_what_nobody_reviews(compared):
    _, found = compared

    assert found["specagent", "unreviewed_share"].value == 0
    assert found["strong-only", "unreviewed_share"].method == "none: nothing is reviewed here"
    assert found["specagent", "unusable_reviews"].value == 0


def test_the_methods_line_says_what_a_paper_needs(compared):
    comparison, _ = compared
    said = methods_line(comparison)

    assert said.startswith("72 episodes, 12 tasks x 2 trials, 1 at once; Pass@1 (reward >= 1; truncated scores 0,")
    assert "expanded percentile 95 % (B=500, seed 2026)" in said
    assert "models weak scripted:scripted, strong scripted:scripted; spectrace " in said


@pytest.fixture
def store(tmp_path):
    opened = open_store(str(tmp_path / "log.db"))
    yield opened
    opened.close()


def estimates(store, baseline=0, **given):
    columns = read_columns(Reader(store), ["n"], Costing(), [])
    comparison = Comparison(columns=columns, baseline=columns[baseline], bootstrap=TaskBootstrap(100), **given)
    return {(one.column.label, one.metric): one.estimate for one in comparison.metrics()}


def test_infrastructure_failures_are_excluded_counted_and_bounded(store):
    recorded(store, labels=Labels(run="n"))
    recorded(store, weak=[FIND], labels=Labels(run="n", trial=1))
    recorded(store, weak=[FIND], labels=Labels(run="n", trial=2))
    found = estimates(store)
    bounds = found["specagent", "pass1_bounds"]

    assert (found["specagent", "excluded"].value, found["specagent", "pass1"].value) == (2, 1)
    assert (bounds.low, bounds.high, bounds.n) == (1 / 3, 1, 3)


def test_a_column_without_a_scored_episode_says_so_and_not_that_nothing_is_reviewed(store):
    recorded(store, weak=[FIND], labels=Labels(run="n"))

    assert estimates(store)["specagent", "unreviewed_share"].method == "none: no scored episode"


def test_under_ten_tasks_values_stand_without_intervals_and_no_gap_is_told(store):
    record_run(store, WeakOnly(), {0}, tasks=3)
    record_run(store, StrongOnly(), {0, 1, 2}, tasks=3)
    record_run(store, SpecAgent(), {0, 1}, tasks=3)
    found = estimates(store, baseline=1)

    assert (found["specagent", "pass1"].value, found["specagent", "pass1"].method) == (2 / 3, TOO_FEW)
    assert (found["specagent", "gap_recovered"].value, found["specagent", "gap_recovered"].method) == (None, TOO_FEW)


def test_a_count_that_nobody_told_makes_the_mean_unknown(store):
    recorded(store, labels=Labels(run="n"))
    found = estimates(store)["specagent", "strong_output"]

    assert (found.value, found.method) == (None, "none: unknown for 1 of 1 episode")


def test_without_both_ends_there_is_no_gap(store):
    record_run(store, SpecAgent(), {0}, tasks=1)

    assert (
        estimates(store)["specagent", "gap_recovered"].method == "none: no weak-only and strong-only column beside it"
    )


def test_a_reward_in_between_is_shown_and_passes_from_the_one_that_is_named(store):
    labels = Labels(run="n")
    recorded(store, labels=labels)
    columns = read_columns(Reader(store), ["n"], Costing(), [])

    assert ("specagent", "reward") not in estimates(store)
    assert estimates(store, passing=1.5)["specagent", "pass1"].value == 0
    assert columns[0].scored[0].score == 1


def test_where_every_budgeted_call_is_known_so_is_the_column(store):
    """The call that a budget refused was never sent: it is no call, and takes nothing from the others."""
    replies = [*ALONE_TOLD[:2], ModelFailed("budget", "max_cost_usd")]
    recorded(store, strong=replies, protocol=StrongOnly(), labels=Labels(run="n"))
    found = estimates(store)
    names = ("strong_calls", "strong_output", "strong_uncached", "cost_usd")

    assert [found["strong-only", name].value for name in names] == [2, 40, 200, 0]


def test_reviews_that_could_not_be_read_are_no_r_of_0_and_stand_apart(store):
    labels = Labels(run="n")
    recorded(store, strong=ALONE_TOLD, protocol=StrongOnly(), labels=labels)
    strong = [said for turn in ALONE_TOLD for said in (told("well", 600, 0, 40, 4.0), told("well", 9, 0, 4), turn)]
    recorded(store, weak=[CANCEL] * 4, strong=strong, labels=labels)
    found = estimates(store)

    assert found["specagent", "r_accounted_seconds"].method.startswith("none: no review could be read")
    assert found["specagent", "r_apart_seconds"].value == found["specagent", "r_per_task_seconds"].value == 3.5
    assert found["strong-only", "r_apart_seconds"].value == 0


def test_the_share_of_scored_steps_near_the_threshold_is_a_metric_and_in_the_methods_line(store):
    scores = ['{"yes": ["-0.1"], "no": ["0"]}', EXPLAINED, '{"yes": ["-0.1"], "no": ["-3.0"]}']
    protocol = SpecAgent(verdict="scored")
    recorded(store, weak=[CANCEL, DONE], strong=scores, protocol=protocol, labels=Labels(run="n"))
    columns = read_columns(Reader(store), ["n"], Costing(), [])
    found = estimates(store)["specagent", "near_threshold"]

    assert (found.value, found.method) == (0.5, "1 of 2 judged steps within 0.15 nat of the threshold")
    said = methods_line(Comparison(columns=columns, baseline=None, bootstrap=TaskBootstrap(100)))
    assert "of 2 steps judged by score 1 lie within 0.15 nat of the threshold; " in said


def test_the_methods_line_says_what_is_left_out_and_why(store):
    labels = Labels(run="n")
    recorded(store, strong=ALONE_TOLD, protocol=StrongOnly(), labels=labels)
    recorded(store, strong=[ModelFailed("timeout", "")], protocol=StrongOnly(), labels=Labels(run="n", trial=1))
    columns = read_columns(Reader(store), ["n"], Costing(), [])
    said = methods_line(Comparison(columns=columns, baseline=None, bootstrap=TaskBootstrap(100)))

    assert said.startswith("1 episode, 1 task x 2 trials, ")
    assert ", 1 more excluded (1 by failures of the infrastructure); Pass@1 " in said


def test_where_nothing_scores_a_mean_says_that_and_not_that_tasks_differ(store):
    recorded(store, strong=[ModelFailed("timeout", "")], protocol=StrongOnly(), labels=Labels(run="n"))

    assert estimates(store)["strong-only", "strong_calls"].method == "none: no scored episode"
