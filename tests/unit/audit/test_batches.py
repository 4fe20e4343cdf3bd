from dataclasses import replace

import pytest

from spectrace.audit.batches import run_summaries
from spectrace.audit.queries import Filters
from spectrace.runs.live import Labels
from tests.episodes import FIND
from tests.playbook import accept
from tests.shop_log import recorded, reverified


def test_a_run_is_told_from_its_episodes(store, reader):
    for trial in (0, 1):
        recorded(store, labels=Labels(run="nightly", trial=trial))
    recorded(store, weak=[FIND], labels=Labels(run="nightly", trial=2))
    (run,) = reader.runs()

    assert (run.run, run.kind, run.selection) == ("nightly", "run", "shop: 1 task, 3 trials")
    assert (run.total, run.done, run.failed, run.reviews, run.rejections) == (3, 2, 1, 6, 2)
    assert (run.state, run.cost_usd) == ("ended", "0")  # scripts are free


@pytest.mark.parametrize(
    ("costs", "total", "at_least"),
    [
        ([("0.1", None), ("0.25", None)], "0.35", None),
        ([("0.1", None), (None, "0.2")], None, "0.3"),
        ([("0.1", None), (None, None)], None, "0.1"),
        ([(None, None)], None, None),
        ([("150", None), ("50", None)], "200", None),
    ],
)
def test_a_runs_cost_is_known_where_that_of_each_episode_is(store, reader, costs, total, at_least):
    recorded(store, labels=Labels(run="x"))
    (one,) = reader.episodes(Filters())
    (run,) = run_summaries([replace(one, cost_usd=known, cost_usd_at_least=least) for known, least in costs])

    assert (run.cost_usd, run.cost_usd_at_least) == (total, at_least)


def test_a_re_verification_of_the_same_name_is_a_run_of_its_own(store, reader):
    episode = recorded(store, labels=Labels(run="x"))
    reverified(store, episode, "x", [accept()] * 3)

    assert [(one.kind, one.selection) for one in reader.runs("x")] == [
        ("reverify", "reviews of 1 episode on shop"),
        ("run", "shop: 1 task, 1 trial"),
    ]


def test_two_runs_over_the_same_tasks_have_the_same_selection(store, reader):
    for name in ("one", "two"):
        recorded(store, labels=Labels(run=name))
    recorded(store, labels=Labels(run="three", trial=1))
    digests = {one.run: one.selection_digest for one in reader.runs()}

    assert (digests["one"] == digests["two"], digests["one"] == digests["three"]) == (True, False)


def test_episodes_without_a_name_belong_to_no_run(store, reader, episode):
    assert (reader.runs(), len(reader.episodes(Filters()))) == ([], 1)
