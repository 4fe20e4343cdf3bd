import re

import pytest

from spectrace.audit.agreement_figures import Pair
from spectrace.audit.disagreements import Disagreement
from spectrace.audit.queries import Reader
from spectrace.audit.reverified import Reverified, read_reverified
from spectrace.cli import agreement
from spectrace.core.types import Verdict
from spectrace.stats.bootstrap import TaskBootstrap
from spectrace.store.memory import MemoryEventStore
from tests.judged import reject, review
from tests.rejudged import judge_again, record_alone, record_reviews


@pytest.fixture
def store():
    return MemoryEventStore()


@pytest.fixture
def reader(store):
    return Reader(store)


@pytest.fixture
def shown(line, store, reader, capsys):
    """A report as people get it."""

    def said(*runs):
        agreement.show(read_reverified(reader, runs))
        return capsys.readouterr().out

    return said


@pytest.fixture
def judged(store):
    """Four tasks, judged again by two runs."""
    episodes = record_reviews(store, 4)
    judge_again(store, episodes, "night", 0.6, 2, unusable={0})
    judge_again(store, episodes, "day", 0.9, 3)


def test_one_run_is_told_against_the_record(shown, judged):
    said = shown("night")

    assert said.startswith("night against the record\nrecorded \\ new ")
    assert re.search(r"\nagree on accepting all +\d+\.\d % +\[\d+\.\d, \d+\.\d\] +11 reviews +4\n", said)
    assert "Left out: 1 unusable; the bounds count them either way." in said
    assert "No interval: fewer than 10 tasks." in said
    assert "Run night put 12 reviews from 4 episodes of 4 tasks (changes) to scripted:second" in said


def test_two_runs_are_told_against_the_record_and_each_other(shown, judged):
    said = shown("night", "day")

    assert [title for title in said.splitlines() if " against " in title and len(title) < 40] == [
        "night against the record",
        "day against the record",
        "day against night",
    ]
    assert "agrees with the record (day)" in said


def test_a_disagreement_shows_both_verdicts_and_where_they_are(capsys, line):
    one = Disagreement("e", 1, 10, Verdict(2, 0, category="unsafe", reason="why"), Verdict(2, 2), "c", 4)
    pair = Pair(first=None, second="night", reviews=[review(reject(), reject())])
    agreement._disagreements(pair, [one])

    assert capsys.readouterr().out == (
        "\ne:10  segment 1, 2 steps\n  recorded reject step 1 (unsafe): why\n  new      accept\n"
    )


def test_more_disagreements_than_are_shown_are_counted(capsys, line):
    one = Disagreement("e", 1, 10, Verdict(2, 0, category="unsafe", reason="why"), Verdict(2, 2), "c", 4)
    agreement._disagreements(Pair(first=None, second="night", reviews=[]), [one] * (agreement.SHOWN + 3))

    assert capsys.readouterr().out.endswith(
        "\n3 more disagreements: `spectrace view` lists all, `reverify --json` has them.\n"
    )


def test_derived_reviews_have_a_table_of_their_own(shown, store):
    judge_again(store, record_alone(store, 4), "derived")
    said = shown("derived")

    assert "not judged" in said
    assert "derived, derived segments accepted whole, by held action and reward" in said
    assert re.search(r"\nwrite +passed +4 ", said)
    assert "Agreement is not accuracy" not in said


def test_nothing_to_judge_is_said(reader, capsys, line):
    agreement.show(Reverified(runs=(), pairs=(), bootstrap=TaskBootstrap(), passing=1.0))

    assert capsys.readouterr().out == "No review was there to judge again.\n"
