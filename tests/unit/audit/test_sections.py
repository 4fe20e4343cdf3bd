import pytest

from spectrace.audit.reverified import read_reverified
from spectrace.audit.sections import sections
from spectrace.stats.bootstrap import TaskBootstrap
from tests.rejudged import judge_again, record_alone, record_reviews


@pytest.fixture
def told(reader):
    return lambda *runs: sections(read_reverified(reader, runs, TaskBootstrap(200)))


def test_a_pair_has_its_verdicts_crossed_and_its_statistics(store, told):
    judge_again(store, record_reviews(store, 4), "night", unusable={0})
    crossed, statistics = told("night")

    assert (crossed.kind, crossed.title, crossed.header) == (
        "crossed",
        "night against the record",
        ("recorded \\ new", "accept", "reject", "unusable"),
    )
    assert sum(cell for row in crossed.rows for cell in row[1:]) == 12
    assert (statistics.header, statistics.rows[0][0]) == (
        ("", "value", "95 %", "bounds", "of", "tasks"),
        "agree on accepting all",
    )
    assert (crossed.notes, "No interval: fewer than 10 tasks." in statistics.notes) == ((), True)


def test_derived_reviews_have_no_statistics_but_a_table_of_their_own(store, told):
    judge_again(store, record_alone(store, 4), "night")
    crossed, derived = told("night")

    assert (crossed.rows[0][0], derived.kind) == ("not judged", "derived")
    assert crossed.notes == ("12 in no agreement: nobody judged them when they were recorded (derived segments).",)
    assert derived.rows[0][:4] == ("finish", "passed", 2, derived.rows[0][3])


def test_of_two_runs_each_pair_has_its_own(store, told):
    episodes = record_reviews(store, 2)
    judge_again(store, episodes, "night")
    judge_again(store, episodes, "day")

    assert [one.title for one in told("night", "day") if one.kind == "statistics"] == [
        "night against the record",
        "day against the record",
        "day against night",
    ]
