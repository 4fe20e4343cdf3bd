import pytest

from spectrace.audit.columns import read_columns
from spectrace.audit.comparison import Comparison
from spectrace.audit.costing import Costing
from spectrace.audit.protocol_panels import protocol_captions, protocol_panels
from spectrace.core.baselines import StrongOnly, WeakOnly
from spectrace.stats.bootstrap import TaskBootstrap
from tests.compared_runs import record_run


@pytest.fixture
def compared(store, reader):
    record_run(store, WeakOnly(), {0, 1})
    record_run(store, StrongOnly(), set(range(12)))
    columns = read_columns(reader, ["n"], Costing(), [])
    return Comparison(columns=columns, baseline=columns[1], bootstrap=TaskBootstrap(200))


def test_pass_at_1_stands_by_protocol_and_costs_by_what_they_count(compared):
    passes, costs = protocol_panels(compared, compared.metrics())

    assert (passes.rows, passes.series) == (("weak-only", "strong-only"), ("Pass@1",))
    assert [round(one.value, 3) for one in passes.marks] == [0.167, 1]
    assert (costs.series, costs.reference) == (("weak-only",), 1.0)
    assert costs.rows[:2] == ("strong calls", "strong tokens out")
    assert "over that of strong-only" in costs.axis


def test_without_a_baseline_there_are_no_ratios(compared):
    alone = Comparison(columns=compared.columns, baseline=None, bootstrap=compared.bootstrap)

    assert [one.title for one in protocol_panels(alone, alone.metrics())] == ["Pass@1"]


def test_the_captions_say_what_it_is_and_of_what(compared):
    assert protocol_captions(compared) == (
        "Protocols: n",
        "24 scored episodes of 12 tasks, 0 excluded; task bootstrap, expanded percentile 95 % (B=200, seed 2026)",
    )
