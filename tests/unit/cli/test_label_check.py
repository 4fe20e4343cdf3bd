"""Labels as a run's verifier: what is refused before the run begins, and what goes on once people have filled in."""

import csv
from pathlib import Path

import pytest

from spectrace.store.sql import open_store
from tests.shop_log import recorded

FILE = "gold.csv"
JUDGE = ("reverify", "--all", "--verifier", f"labels:{FILE}", "--name", "people")


def labelled(*changes):
    """Fill in the file's rows: each change is of the row of its place."""
    with Path(FILE).open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for row, change in zip(rows, changes, strict=False):
        row.update(change)
    with Path(FILE).open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture
def template(line, episode):
    assert line("reverify", "--all", "--verifier", f"labels:{FILE}", "--template").exit_code == 0


def said(result):
    return " ".join(result.stderr.split())


@pytest.mark.usefixtures("template")
def test_a_file_that_nobody_filled_in_begins_no_run_and_filled_in_it_is_judged_by(line):
    empty = line(*JUDGE)
    begun = [one["run"] for one in line.items("runs")]
    labelled(*[{"decision": "accept", "accepted": ""}] * 3)
    filled = line(*JUDGE)

    assert (empty.exit_code, begun) == (2, ["first"])
    assert "gold.csv has no label yet: fill in decision (accept or reject) of at least one row" in said(empty)
    assert (filled.exit_code, "judged now 3, before 0, left 0." in said(filled)) == (0, True)


@pytest.mark.usefixtures("template")
@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"episode": "deadbeefdeadbeef"}, "line 2: no episode has the id or prefix 'deadbeefdeadbeef'"),
        ({"episode": "1.2E+15"}, "line 2: no episode has the id or prefix '1.2E+15'"),
        ({"verdict_seq": "9999", "segment": ""}, "line 2: the episode is there and has no such review"),
    ],
)
def test_a_label_of_what_is_not_in_the_log_is_refused_and_begins_no_run(line, change, why):
    labelled({"decision": "accept"} | change, {"decision": "accept"}, {"decision": "accept"})
    result = line(*JUDGE)

    assert (result.exit_code, [one["run"] for one in line.items("runs")]) == (2, ["first"])
    # A line of the file is where its row begins; the template's cells have several lines each.
    assert why in said(result)


@pytest.mark.usefixtures("template")
def test_labels_of_none_of_the_selected_reviews_begin_no_run(line):
    labelled({"decision": "accept"})
    store = open_store("spectrace.db")
    other = recorded(store)
    store.close()
    result = line("reverify", other, "--verifier", f"labels:{FILE}", "--name", "people")

    assert (result.exit_code, "has no label of any of the reviews that are selected" in said(result)) == (2, True)
    assert "people" not in [one["run"] for one in line.items("runs")]


@pytest.mark.usefixtures("template")
def test_a_finished_run_of_labels_that_goes_on_says_of_none_that_it_is_not_selected(line):
    labelled(*[{"decision": "accept"}] * 2)
    line(*JUDGE)
    again = line("reverify", "--verifier", f"labels:{FILE}", "--name", "people")

    assert "judged now 0, before 2, left 0, left out 1." in said(again)
    assert "not selected" not in said(again)


@pytest.mark.usefixtures("template")
def test_changed_labels_are_refused_in_the_words_of_people(line):
    labelled(*[{"decision": "accept"}] * 2)
    line(*JUDGE)
    labelled(*[{"decision": "accept"}] * 3)
    changed = line(*JUDGE)

    assert changed.exit_code == 2
    assert "it held 2 then, and holds 3 labels now" in said(changed)
    assert ("server" in said(changed), said(changed).endswith("another --name.")) == (False, True)
