import pytest

from spectrace.audit.columns import environments, named_column, read_columns, strong_alone, weak_alone
from spectrace.audit.costing import Costing
from spectrace.audit.queries import Reader
from spectrace.core.baselines import StrongOnly, WeakOnly
from spectrace.core.specagent import SpecAgent
from spectrace.errors import UsageError
from spectrace.runs.live import Labels
from spectrace.store.sql import open_store
from tests.compared_runs import record_run
from tests.episodes import DONE, FIND, READ
from tests.playbook import accept
from tests.shop_log import recorded, reverified


@pytest.fixture
def store(tmp_path):
    opened = open_store(str(tmp_path / "log.db"))
    yield opened
    opened.close()


def columns(store, *runs):
    lost = []
    found = read_columns(Reader(store), runs, Costing(), lost)
    assert lost == []
    return found


def test_a_run_has_a_column_for_each_protocol(store):
    record_run(store, WeakOnly(), {0}, tasks=2)
    record_run(store, StrongOnly(), {0, 1}, tasks=2)
    weak, strong = columns(store, "n")

    assert (weak.label, [one.score for one in weak.scored]) == ("weak-only", [1.0, 0.0])
    assert (strong.label, [one.score for one in strong.scored]) == ("strong-only", [1.0, 1.0])
    assert len(weak.cost.calls) == 2
    assert environments([weak]) == ["answers"]


def test_the_first_result_of_a_cell_stands_and_the_others_are_superseded(store):
    labels = Labels(run="n")
    recorded(store, weak=[FIND], strong=[], labels=labels)  # its script runs out: no result
    first = recorded(store, labels=labels)
    recorded(store, weak=[DONE], strong=[accept()], labels=labels)  # a second result must not be chosen
    (column,) = columns(store, "n")

    assert [one.summary.episode for one in column.scored] == [first]
    assert (column.excluded, column.superseded) == ((), 2)


def test_without_a_result_the_last_try_is_excluded(store):
    labels = Labels(run="n")
    recorded(store, weak=[FIND], labels=labels)
    last = recorded(store, weak=[READ], labels=labels)
    (column,) = columns(store, "n")

    assert ([one.summary.episode for one in column.excluded], column.scored, column.cost) == ([last], (), None)


def test_drafted_steps_are_counted_with_and_without_a_verdict(store):
    recorded(store, labels=Labels(run="n"))
    recorded(store, weak=[FIND, READ, DONE], strong=[accept()], protocol=SpecAgent(k=1), labels=Labels(run="k"))
    first, second = columns(store, "n", "k")

    assert [(one.unreviewed, one.drafted) for one in (*first.scored, *second.scored)] == [(0, 3), (2, 3)]


def test_a_second_verdict_is_no_episode_of_its_own(store):
    episode = recorded(store, labels=Labels(run="n"))
    reverified(store, episode, "again", [accept()] * 3)

    assert len(columns(store, "n")) == 1
    with pytest.raises(UsageError, match="no run of episodes is named 'again'"):
        columns(store, "again")


def test_labels_say_no_more_than_tells_columns_apart(store):
    record_run(store, WeakOnly(), {0}, tasks=1)
    record_run(store, StrongOnly(), {0}, tasks=1)
    record_run(store, StrongOnly(), {0}, tasks=1, run="m")
    record_run(store, StrongOnly(max_steps=9), {0}, tasks=1, run="m")

    assert [one.label for one in columns(store, "n", "m")] == [
        "weak-only",
        "n/strong-only",
        "m/strong-only max_steps=60",
        "m/strong-only max_steps=9",
    ]


def test_an_end_of_the_gap_is_of_the_same_run_or_the_only_one(store):
    record_run(store, WeakOnly(), {0}, tasks=1)
    for run in ("n", "m"):
        record_run(store, StrongOnly(), {0}, tasks=1, run=run)
    record_run(store, SpecAgent(), {0}, tasks=1, run="m")
    weak, first, second, spec = found = columns(store, "n", "m")

    assert weak_alone(found, spec) is weak
    assert (strong_alone(found, spec), strong_alone(found, weak)) == (second, first)
    assert strong_alone([weak, first], spec) is first
    assert strong_alone([first, second, weak], spec) is second


def test_a_column_is_named_by_its_label_or_its_protocol(store):
    record_run(store, WeakOnly(), {0}, tasks=1)
    for run in ("n", "m"):
        record_run(store, StrongOnly(), {0}, tasks=1, run=run)
    found = columns(store, "n", "m")

    assert named_column(found, "m/strong-only") is found[2]
    assert named_column(found, "weak-only") is found[0]
    with pytest.raises(UsageError, match="2 columns are of 'strong-only'"):
        named_column(found, "strong-only")
    with pytest.raises(UsageError, match="no column is named 'x'; there are weak-only, n/strong-only, m/strong-only"):
        named_column(found, "x")
