"""`spectrace audit reconcile` on a log with one cancelled order, and one of which nobody knows."""

import pytest

from spectrace.audit.reconciling import RESULTS
from spectrace.store.event_store import Pending
from spectrace.store.sql import open_store
from tests.episodes import recorded_events

ASKED = 30
EP = "0123abcd"
ROW = 'cancel_order,"{""order_id"": ""W200""}"\n'


@pytest.fixture
def records(line, tmp_path):
    def write(text: str = "tool,arguments\n" + ROW) -> str:
        (tmp_path / "shop.csv").write_text(text)
        return "shop.csv"

    return write


@pytest.fixture
def interrupted(line) -> str:
    events = recorded_events()
    store = open_store("spectrace.db")
    writer = store.create(EP, events[0].body, events[0].at)
    writer.append([Pending(one.seq, one.lane, one.at, one.body) for one in events[1 : ASKED + 1]], durable=True)
    writer.close()
    store.close()
    return EP


def test_where_both_agree_the_answer_is_yes(line, episode, records):
    (item,) = line.items("audit", "reconcile", "--with", records())

    assert (item["result"], item["episode"], item["seq"], item["line"]) == ("matched", episode, ASKED, 2)


def test_where_they_differ_the_answer_is_no_and_each_side_is_named(line, episode, records):
    file = records("tool,arg.order_id\ncancel_order,W999\n")
    result = line("audit", "reconcile", "--with", file)

    assert result.exit_code == 1
    assert f"1  log_only     {RESULTS['log_only']}" in result.stdout
    assert "line 2: cancel_order is in no write of the log" in result.stdout


def test_one_that_nobody_knew_of_is_found_and_settled_with_the_file_its_digest_and_its_line(line, interrupted, records):
    asked = ("audit", "reconcile", "--with", records())

    assert [one["result"] for one in line.items(*asked)] == ["found"]
    (item,) = line.items(*asked, "--settle", "--by", "Ann")
    (fact,) = line.items("show", EP, "--type", "outcome.settled")
    assert (fact["seq"], fact["header"]["outcome"], fact["header"]["authority"]) == (
        item["settled_seq"],
        "ok",
        "person:Ann",
    )
    assert fact["body"]["evidence"].startswith("shop.csv (sha256:")
    assert fact["body"]["evidence"].endswith("line 2")
    assert [one["result"] for one in line.items(*asked)] == ["matched"]
    assert [one["result"] for one in line.items("verify", EP)] == ["consistent"]


def test_one_of_which_there_is_no_record_is_settled_as_never(line, interrupted, records):
    file = records("tool,arguments\n")
    (item,) = line.items("audit", "reconcile", "--with", file, "--tool", "cancel_order", "--settle", "--by", "Ann")

    assert item["result"] == "not_found"
    assert [one["outcome"] for one in line.items("audit", "actions", "--tool", "cancel_order")][-1] == "never"


def test_a_file_of_another_time_settles_nothing(line, interrupted, records):
    file = records("tool,arguments,at\n" + ROW.rstrip() + ",2020-01-01\n")
    result = line("audit", "reconcile", "--with", file, "--settle", "--by", "Ann")

    assert "is not settled: it was asked outside the time that shop.csv spans" in result.stderr
    assert line.items("show", EP, "--type", "outcome.settled") == []


def test_ambiguous_ones_are_named_and_nobody_settles_them(line, episode, interrupted, records):
    result = line("audit", "reconcile", "--with", records(), "--settle", "--by", "Ann")

    assert result.exit_code == 3
    assert "1 record (line 2) for 2 writes alike" in result.stdout
    assert line.items("show", EP, "--type", "outcome.settled") == []


def test_a_key_is_compared_with_that_of_the_call(line, episode, records):
    (asked,) = line.items("show", f"{episode}:{ASKED}")
    key = asked["body"]["idempotency_key"]

    for given, expected in [(key, ["matched"]), ("other", ["log_only", "system_only"])]:
        items = line.items(
            "audit", "reconcile", "--with", records(f"tool,key\ncancel_order,{given}\n"), code=len(expected) - 1
        )
        assert sorted(one["result"] for one in items) == expected


@pytest.mark.parametrize(
    "arguments",
    [
        ["--settle"],
        ["--by", "Ann"],
        ["--settle", "--by", " Ann"],
        ["--map", "tool"],
        ["--map", "=tool"],
        ["--window", "-1"],
        ["--since", "whenever"],
    ],
)
def test_what_cannot_be_meant_is_refused(line, episode, records, arguments):
    assert line("audit", "reconcile", "--with", records(), *arguments).exit_code == 2


def test_a_file_without_records_names_its_tool(line, episode, records):
    assert line("audit", "reconcile", "--with", records("tool,key\n")).exit_code == 2


def test_hostile_cells_are_shown_as_text(line, episode, records):
    file = records("tool,arg.order_id,id\ncancel_order,W9,\x1b[2J[bold]\u202e\n")
    shown = line("audit", "reconcile", "--with", file).stdout

    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "[bold]" in shown
