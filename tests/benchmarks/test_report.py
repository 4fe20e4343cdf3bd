"""What the benchmark says of its own figures: goals, and what the peers' scripts print."""

import gc

import pytest

from tests.benchmarks.peers import figures
from tests.benchmarks.report import Row, Section, markdown, missed, renewed
from tests.benchmarks.rounds import Measured, interleaved

PRINTED = """\
[a line of its own]
## inspect_ai recorders syn
jsonl orjson no sync /event                                84,785/s  [84,785..84,785]  x1.000  p50=2.9 p99=61.1
inspect buffer DB, 1 event per txn (its own way)            6,643/s  [6,643..6,643]  x0.078  p50=103.4 bytes_ep=393612.8
"""


def test_what_a_script_prints_is_read_by_section_and_case():
    assert figures(PRINTED) == {
        "inspect_ai recorders syn: jsonl orjson no sync /event": {"rate": 84785.0, "p50": 2.9, "p99": 61.1},
        "inspect_ai recorders syn: inspect buffer DB, 1 event per txn (its own way)": {
            "rate": 6643.0,
            "p50": 103.4,
            "bytes_ep": 393612.8,
        },
    }


@pytest.mark.parametrize(
    ("row", "goal", "verdict"),
    [
        (Row("speed", 0.25, at_least=0.2), ">= 0.20x", "yes"),
        (Row("speed", 0.1, at_least=0.2), ">= 0.20x", "no: 0.50 of it"),
        (Row("size", 0.09, at_most=0.06), "<= 0.060x", "no: 1.50 of it"),
        (Row("flushes", 2, "flushes", at_least=2, at_most=2), "2 flushes", "yes"),
        (Row("flushes", 3, "flushes", at_least=2, at_most=2), "2 flushes", "no: 1.50 of it"),
        (Row("flushes", 1, "flushes", at_least=0, at_most=0), "0 flushes", "no"),
        (Row("for comparison", 3), "", ""),
    ],
)
def test_a_row_says_its_goal_and_whether_it_holds(row, goal, verdict):
    assert (row.goal, row.verdict) == (goal, verdict)


def test_only_goals_can_be_missed():
    rows = [Row("a", 1), Row("b", 1, at_least=2), Row("c", 1, at_least=1)]

    assert missed([Section("t", rows)]) == ["t: b: no: 0.50 of it (>= 2x)"]


def test_the_report_is_markdown_with_every_row():
    text = markdown([("date", "today")], [Section("Speed", [Row("a", 1234.5, "events/s")], "Said.")], 5)

    assert "- date: today\n\n## Speed\n\nSaid.\n\n| figure |" in text
    assert "| a | 1,234 events/s |  |  |  |\n" in text


def test_every_case_runs_once_a_round_and_another_begins_each(monkeypatch):
    monkeypatch.setattr(gc, "collect", lambda: 0)  # of all that the tests before left: a quarter of a second each
    order = []

    def case(name):
        return lambda: order.append(name) or {"n": 2, "t": 1}

    found = interleaved({name: case(name) for name in "abc"}, 3)

    assert "".join(order) == "abc" + "bca" + "cab"
    assert [one.rate for one in found.values()] == [2, 2, 2]


def test_a_case_is_told_by_the_medians_of_its_rounds():
    rounds = [{"n": 10, "t": t, "lat": [t, t, 9 * t], "bytes": t} for t in (1, 5, 2)]

    one = Measured(rounds)

    assert (one.rate, one.p50, one.p99, one["bytes"]) == (5, 2, 18, 2)


def test_a_table_that_was_measured_apart_takes_the_place_of_the_old_one_and_says_so():
    old = [Section("One", [Row("a", 1)], "First."), Section("Two", [Row("b", 2)])]
    text = markdown([("date", "then")], old, 5)
    new = renewed(
        text, [("date", "now"), ("commit", "x")], [Section("One", [Row("a", 7)], "First."), Section("Three", [])]
    )

    assert new.startswith(text[: text.index("## One")] + "## One\n\nFirst. Measured apart: date now; commit x.\n\n")
    assert [line for line in new.splitlines() if line.startswith("## ")] == ["## One", "## Two", "## Three"]
    assert "| a | 7x |" in new
    assert "| b | 2x |" in new
    assert renewed(text, [], []) == text
