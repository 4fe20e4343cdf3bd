from dataclasses import replace

import pytest

from spectrace.audit.batches import run_summaries
from spectrace.audit.queries import Filters, Reader
from spectrace.runs.live import Labels
from spectrace.store import runs
from spectrace.store.asked import Grid
from spectrace.store.sql import open_store
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
    (run,) = run_summaries(store, [replace(one, cost_usd=known, cost_usd_at_least=least) for known, least in costs])

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


@pytest.fixture
def kept(tmp_path):
    """A database, which knows its runs by themselves."""
    store = open_store(str(tmp_path / "log.db"))
    yield store
    store.close()


def asked(store, name, tasks, protocols=("specagent",), trials=1):
    runs.begin(store, name, "run", (), '{"env": "desk:env"}')
    runs.ask(store, name, Grid(tasks, trials, protocols))


def counts(store, name):
    (run,) = Reader(store).runs(name)
    return run.total, run.done, run.failed, run.left, run.episodes, run.state


def test_a_run_is_counted_by_what_it_was_asked_for(kept):
    asked(kept, "n", ("cancel-own", "cancel-foreign"), trials=2)
    recorded(kept, labels=Labels(run="n"))
    recorded(kept, weak=[FIND], labels=Labels(run="n", trial=1))  # its script runs out: model_weak_invalid

    assert counts(kept, "n") == (4, 1, 1, 2, 2, "stopped")


def test_what_failed_and_was_run_again_is_done_once(kept):
    asked(kept, "n", ("cancel-own",))
    recorded(kept, weak=[FIND], labels=Labels(run="n"))
    recorded(kept, labels=Labels(run="n"))

    assert counts(kept, "n") == (1, 1, 0, 0, 2, "ended")


def test_a_run_whose_episode_is_being_written_is_running(kept):
    asked(kept, "n", ("cancel-own",), trials=3)
    first = next(iter(kept.read(recorded(kept, labels=Labels(run="n"))))).body
    writer = kept.create("now", replace(first, trial=1), 1)

    assert counts(kept, "n") == (3, 1, 0, 1, 2, "running")
    writer.close()


def test_a_run_that_recorded_nothing_is_told_with_all_that_it_was_asked_for(kept):
    asked(kept, "n", ("cancel-own", "cancel-foreign"))
    (run,) = Reader(kept).runs()

    assert (run.selection, run.cost_usd, run.started_at > 0) == ("desk:env: 2 tasks, 1 trial", None, True)
    assert counts(kept, "n") == (2, 0, 0, 2, 0, "stopped")


def test_a_re_verification_that_stopped_says_how_many_episodes_are_left(kept):
    episodes = [recorded(kept), recorded(kept)]
    runs.begin(kept, "again", "reverify", [(episode, "00") for episode in episodes])
    reverified(kept, episodes[0], "again", [accept()] * 3)

    assert counts(kept, "again") == (2, 1, 0, 1, 1, "stopped")


def test_episodes_without_a_name_belong_to_no_run(store, reader, episode):
    assert (reader.runs(), len(reader.episodes(Filters()))) == ([], 1)


@pytest.mark.parametrize(("status", "reason", "counts"), [("interrupted", None, (0, 1)), ("failed", "model_x", (1, 0))])
def test_a_pass_that_was_cut_off_is_left_and_has_not_failed(store, reader, status, reason, counts):
    episode = recorded(store, labels=Labels(run="x"))
    reverified(store, episode, "again", [accept()] * 3)
    (child,) = reader.episodes(Filters(run=("again",)))
    (run,) = run_summaries(store, [replace(child, status=status, end_reason=reason)])

    assert (run.total, run.done, (run.failed, run.left)) == (1, 0, counts)
