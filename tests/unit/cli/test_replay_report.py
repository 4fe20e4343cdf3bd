"""The report of a replay: where it left the record, both sides, the cause, the nearest events, and the totals."""

from spectrace.cli import replay_report
from spectrace.runs.divergence import Difference, Nearest
from spectrace.runs.replay import ReplayResult

FIRST = Difference(
    8,
    "/messages/0/content",
    "'a'",
    "'\x1b[31mb'",
    "The prompts changed.",
    (Nearest(4, "generate.requested(drafter)", ()),),
)
SAME = ReplayResult("e1", "same", 3, 3, 1, None, "all")
DIVERGED = ReplayResult("e2", "diverged", 7, 45, 2, FIRST, "event 8 differs")
UNTESTABLE = ReplayResult("e3", "untestable", 0, 9, 0, None, "no")


def test_a_divergence_is_told_with_both_sides_its_cause_and_the_nearest(capsys):
    replay_report.show([DIVERGED])
    said = capsys.readouterr().out

    assert "e2:8  /messages/0/content  same up to 7 of 45 events" in said
    assert [
        one for one in ("recorded  'a'", "cause     The prompts changed.", "nearest   e2:4") if one not in said
    ] == []
    assert "is equal" in said
    assert "\x1b[31m" not in said


def test_several_replays_have_their_totals():
    assert replay_report.summary([SAME, DIVERGED, UNTESTABLE]) == (
        "3 episodes: 1 same, 1 diverged, 1 untestable. 10 of 57 events are the same, 3 observations."
    )


def test_the_item_holds_the_difference_as_an_object():
    assert replay_report.item(SAME)["first_difference"] is None
    assert replay_report.item(DIVERGED)["first_difference"] == {
        "seq": 8,
        "field": "/messages/0/content",
        "recorded": "'a'",
        "found": "'\x1b[31mb'",
        "cause": "The prompts changed.",
        "nearest": [{"seq": 4, "name": "generate.requested(drafter)", "differs": []}],
    }
