"""A child that ran live is told alike, whatever it came from."""

from spectrace.cli import child
from spectrace.cli.console import Column
from spectrace.core.events import Totals
from spectrace.core.types import Outcome
from spectrace.runs.live import Recorded

CHILD = Recorded("c1", "t1", 0, Outcome("completed", "finished", reward="1.0"), Totals(steps=5, writes=2), "specagent")
FOUND = {"episode": "c1", "parent": "p1", "seq": 14} | child.outcome_of(CHILD)


def test_an_item_says_how_the_child_came_out():
    assert child.outcome_of(CHILD) == {
        "task": "t1",
        "protocol": "specagent",
        "status": "completed",
        "end_reason": "finished",
        "reward": "1.0",
        "steps": 5,
        "writes": 2,
        "rejections": 0,
    }


def test_a_row_names_the_child_the_event_that_it_comes_from_and_what_is_its_own(capsys):
    child.show(FOUND, "parent", Column("edited by", rank=3), "ann\x1b[2J")
    head, _, row = capsys.readouterr().out.splitlines()

    assert head.split("  ")[0] == "episode"
    assert [words for words in ("parent", "edited by", "status", "reward", "writes") if words not in head] == []
    assert [words for words in ("c1", "p1:14", "ann", "completed", "1.0") if words not in row] == []
    assert "\x1b[2J" not in row
