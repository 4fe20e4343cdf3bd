"""What people are given to fill in: literal, blind, and read back as labels."""

import csv
from pathlib import Path

import pytest

from spectrace.audit.queries import open_reader
from spectrace.cli.label_template import selected_requests, write_template
from spectrace.core.review_request import ReviewRequest
from spectrace.core.types import Action, Call, Effect, Message, Observation, Step, Task
from spectrace.errors import UsageError
from spectrace.models.labels import LabelJudge
from tests.shop_log import REASON


@pytest.fixture
def requests(episode):
    with open_reader("spectrace.db") as reader:
        return list(selected_requests(reader, [episode], only_rejected=False))


def rows(path):
    with Path(path).open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def request(observation="ok", task="t", action: Action = Call("look", "{}"), instructions="Be careful."):  # noqa: B008
    return ReviewRequest(
        episode="e1",
        environment="desk",
        task=Task(task, "Change A."),
        instructions=instructions,
        segment=1,
        verdict_seq=5,
        derived=False,
        history=(Message("user", "Change A."),),
        steps=(Step("s1.1", action, Effect.READ, Observation(observation)), Step("s1.2", action, Effect.WRITE)),
        tools=(),
        position="s1",
    )


def test_each_selected_review_has_a_row_that_names_it(requests, episode):
    assert write_template("gold.csv", requests) == 3
    named = [(row["episode"], row["verdict_seq"], row["segment"], row["decision"]) for row in rows("gold.csv")]
    assert named == [(episode, str(one.verdict_seq), str(one.segment), "") for one in requests]


def test_only_rejections_may_be_selected(episode):
    with open_reader("spectrace.db") as reader:
        assert [one.segment for one in selected_requests(reader, [episode], only_rejected=True)] == [1]


def test_who_fills_it_in_is_blind(requests):
    write_template("gold.csv", requests[:1])
    (row,) = rows("gold.csv")

    assert REASON not in str(row)
    assert "NOT EXECUTED" in row["steps"]
    assert row["context"].startswith("POLICY\n")


def test_what_was_filled_in_is_read_back_as_labels(requests):
    write_template("blank.csv", requests)
    filled = rows("blank.csv")
    filled[1] |= {"decision": "reject", "accepted": "1", "by": "ann"}
    with Path("gold.csv").open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.DictWriter(stream, filled[0].keys())
        writer.writeheader()
        writer.writerows(filled)
    judge = LabelJudge("gold.csv")

    assert [judge.covers(one) for one in requests] == [False, True, False]
    assert judge.unused() == ()


def test_a_file_that_is_there_is_never_written_over(requests, tmp_path):
    (tmp_path / "gold.csv").write_text("labels of a week")

    with pytest.raises(UsageError, match=r"gold\.csv is there already, and may hold labels"):
        write_template("gold.csv", requests)
    assert (tmp_path / "gold.csv").read_text() == "labels of a week"


def test_a_place_that_cannot_be_written_is_said(requests):
    with pytest.raises(UsageError, match=r"none/gold\.csv cannot be written: No such file"):
        write_template("none/gold.csv", requests)


@pytest.mark.usefixtures("line")
def test_recorded_text_is_literal_and_no_cell_is_a_formula():
    write_template("gold.csv", [request("\x1b[31mred\u202e", task="=HYPERLINK(1)", instructions="\udc80")])
    (row,) = rows("gold.csv")

    assert row["task"] == "'=HYPERLINK(1)"
    assert "-> \\x1b[31mred\\u202e" in row["steps"]
    assert "\\udc80" in row["context"]


@pytest.mark.usefixtures("line")
def test_a_text_longer_than_a_cell_is_cut_and_says_so():
    write_template("gold.csv", [request("x" * 200_000 + "END")])
    (row,) = rows("gold.csv")

    assert len(row["steps"]) < 32_767
    assert "characters not shown]" in row["steps"]
    assert "NOT EXECUTED" in row["steps"]
    assert LabelJudge("gold.csv").unused() == ()
