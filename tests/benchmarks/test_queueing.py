import pytest

from tests.benchmarks import queueing


@pytest.mark.slow
def test_it_measures_a_run_of_which_every_review_is_judged_once():
    found = queueing.section(episodes=70, latency_s=0.01, concurrency=4)
    rows = {row.what: row for row in found.rows}

    assert rows["verdicts"].value == 70 * 3
    # Two shards: each fetched, looked at and ended; each worker prunes, registers, and asks once in vain.
    assert rows["statements of the queue"].value <= 2 * 3 + 2 * 3
    assert [row.at_most for row in found.rows if row.unit == "%"] == [1.0, 1.0]
