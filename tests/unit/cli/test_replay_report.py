"""The report of a replay: where it left the record, both sides, the cause, the nearest events, and the totals."""

from dataclasses import replace

from spectrace.cli import replay_report
from spectrace.runs.cached_answers import Normalised
from spectrace.runs.divergence import Difference, Nearest
from spectrace.runs.reexecution import Inexact, Tally
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


TALLY = Tally()
TALLY.count.update({"exact": 4, "id-renamed": 1})
RENAMED = replace(SAME, classes=TALLY.classes, inexact=(Inexact(9, "id-renamed", ("f4af is \x1b[31m91c0",)),))
LIVE = replace(DIVERGED, live=7, normalised=(Normalised(5, "get(x)", ("outer space",)),), cost_usd="0.5")


def test_of_answers_made_anew_every_class_is_counted_and_what_is_not_exact_is_named(capsys):
    replay_report.show([RENAMED, SAME], observed=True)
    said = capsys.readouterr().out

    assert "e1:9  id-renamed  f4af is" in said
    assert "answers 4 exact, 0 json-equal, 0 cosmetic, 1 id-renamed, 0 volatile, 0 divergent" in " ".join(said.split())
    assert "\x1b[31m" not in said


def test_live_answers_taint_the_totals_which_count_actions(capsys):
    replay_report.show([LIVE, LIVE])
    said = capsys.readouterr().out

    assert "same up to 7 of 45 actions" in said
    assert said.rstrip().endswith("2 episodes: 2 diverged. 14 of 90 actions are the same. Tainted: 14 live answers.")


def test_of_very_many_episodes_those_that_are_the_same_are_counted_and_not_listed(capsys):
    replay_report.show([*[SAME] * 200, DIVERGED])
    told = capsys.readouterr()

    assert (told.out.count("e1"), "201 episodes: 200 same, 1 diverged." in told.out) == (0, True)
    assert "200 episodes that are the same are not listed" in told.err


def test_the_item_holds_classes_and_whatever_taints():
    renamed, live = replay_report.item(RENAMED), replay_report.item(LIVE)

    assert renamed["classes"]["id-renamed"] == 1
    assert [one["class"] for one in renamed["inexact"]] == ["id-renamed"]
    assert (live["live_answers"], live["tainted"], live["cost_usd"]) == (7, True, "0.5")
    assert live["normalised"] == [{"seq": 5, "asked": "get(x)", "rules": ["outer space"]}]
