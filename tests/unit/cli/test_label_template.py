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
from spectrace.store.sql import open_store
from tests.shop_log import REASON, recorded


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
    with pytest.raises(UsageError, match=r"labels gold\.csv has no label yet"):
        LabelJudge("gold.csv")


def test_the_command_writes_what_it_then_judges_by(line, episode):
    written = line("reverify", episode, "--verifier", "labels:gold.csv", "--template")
    text = Path("gold.csv").read_text(encoding="utf-8-sig")
    Path("gold.csv").write_text(text.replace('is to be decided",,,', 'is to be decided",accept,,', 1), encoding="utf-8")
    (item,) = line.items("reverify", episode, "--verifier", "labels:gold.csv", "--name", "people")

    assert (written.exit_code, written.stdout) == (0, "")
    assert "3 reviews in gold.csv: fill in decision" in written.stderr
    assert (item["segment"], item["recorded"]["decision"], item["new"]["decision"]) == (1, "reject", "accept")


def test_reviews_without_a_label_are_counted_and_said_and_labels_without_a_review_too(line, episode):
    store = open_store("spectrace.db")
    other = recorded(store)
    store.close()
    Path("gold.csv").write_text(f"episode,segment,decision,by\n{episode[:6]},2,accept,ann\n{other},1,accept,ann\n")
    result = line("reverify", episode, "--verifier", "labels:gold.csv", "--name", "people")

    assert result.exit_code == 0
    assert "left out: labels:gold.csv says nothing of them." in result.stderr
    assert f"gold.csv has labels of episodes that are not selected: {other} (line 3)." in result.stderr


@pytest.mark.parametrize("verifier", ["weak", "labels:", "checks:judge"])
def test_only_labels_have_a_template(line, episode, verifier):
    result = line("reverify", episode, "--verifier", verifier, "--template")

    assert (result.exit_code, "--template writes the file of --verifier labels:FILE" in result.stderr) == (2, True)


def test_a_wrong_label_is_refused_before_a_run_begins(line, episode):
    Path("gold.csv").write_text(f"episode,segment,accepted\n{episode},1,1\n{episode},2,9\n")
    result = line("reverify", episode, "--verifier", "labels:gold.csv", "--name", "people")

    assert (result.exit_code, "gold.csv, line 3: segment 2 of" in result.stderr) == (2, True)
    assert [run["run"] for run in line.items("runs")] == ["first"]


def test_a_run_does_not_go_on_with_labels_that_were_changed_since(line, episode):
    judge = ["reverify", episode, "--verifier", "labels:gold.csv", "--name", "people"]
    Path("gold.csv").write_text(f"episode,segment,accepted\n{episode},1,1\n")
    before = line.items(*judge)
    same = line.items(*judge)
    Path("gold.csv").write_text(f"episode,segment,accepted\n{episode},1,0\n")
    changed = line(*judge)

    assert same == before
    assert changed.exit_code == 2
    assert "labels:gold.csv is not as it was when run 'people' was begun: it holds 1 label, as then" in changed.stderr
