"""`spectrace audit reconcile` on a log with one cancelled order, and one of which nobody knows."""

import json
from datetime import UTC, datetime
from functools import cache

import pytest

from spectrace.audit.reconciling import RESULTS
from spectrace.core.events import Event
from spectrace.store.event_store import Pending
from spectrace.store.sql import open_store
from tests.damage import damage
from tests.episodes import recorded_events

ASKED = 30
EP = "0123abcd"
SETTLE = ("--settle", "--by", "Ann")
ROW = 'cancel_order,"{""order_id"": ""W200""}"\n'


@cache
def cancelling_events() -> list[Event]:
    """Return the same events each time: their times are those of the recording."""
    return recorded_events()


def moment(seconds: float) -> str:
    """Return a time so long after the call."""
    at = cancelling_events()[ASKED].at + round(seconds * 1_000_000)
    return datetime.fromtimestamp(at / 1e6, UTC).isoformat()


@pytest.fixture
def records(line, tmp_path):
    def write(text: str = "tool,arguments\n" + ROW) -> str:
        (tmp_path / "shop.csv").write_text(text)
        return "shop.csv"

    return write


@pytest.fixture
def interrupted(line) -> str:
    events = cancelling_events()
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
    period = ("--since", moment(-61), "--until", moment(61))
    (item,) = line.items("audit", "reconcile", "--with", file, "--tool", "cancel_order", *period, *SETTLE)
    (fact,) = line.items("show", EP, "--type", "outcome.settled")

    assert item["result"] == "not_found"
    assert [one["outcome"] for one in line.items("audit", "actions", "--tool", "cancel_order")][-1] == "never"
    span = f"{moment(-61)[:19]}Z to {moment(61)[:19]}Z"
    assert fact["body"]["evidence"].endswith(f", {span}): the system has no record of it")


@pytest.mark.parametrize("period", [(), ("--since", -60), ("--until", 60), ("--since", -59, "--until", 60)])
def test_of_a_time_that_nobody_says_the_file_spans_nothing_is_settled_as_never(line, interrupted, records, period):
    given = [moment(one) if isinstance(one, int) else one for one in period]
    file = records("tool,arg.order_id\ncancel_order,W9\n")
    result = line("audit", "reconcile", "--with", file, *given, *SETTLE)

    assert f"{EP}:{ASKED} is not settled: it was asked outside the time that shop.csv spans" in result.stderr
    assert line.items("show", EP, "--type", "outcome.settled") == []


def test_one_that_the_system_tried_and_failed_is_settled_as_error_with_its_line(line, interrupted, records):
    file = records("tool,arg.order_id,outcome,id\ncancel_order,W200,error,r1\n")
    (item,) = line.items("audit", "reconcile", "--with", file, *SETTLE)
    (fact,) = line.items("show", EP, "--type", "outcome.settled")

    assert (item["result"], fact["header"]["outcome"]) == ("failed", "error")
    assert fact["body"]["evidence"].endswith("): line 2 (id r1): tried and failed")


@pytest.mark.parametrize("after", [0.3, -0.3])
def test_a_record_beyond_the_period_is_still_that_of_a_call_in_it(line, interrupted, records, after):
    file = records(f"tool,arg.order_id,at\ncancel_order,W200,{moment(after)}\n")
    asked = ("audit", "reconcile", "--with", file)
    before_it, behind_it = ("--until", moment(min(0, after) + 0.1)), ("--since", moment(min(0, after) + 0.1))
    with_call, with_record = (before_it, behind_it) if after > 0 else (behind_it, before_it)

    assert [one["result"] for one in line.items(*asked, *with_call)] == ["found"]
    assert line.items(*asked, *with_record) == []


def test_of_an_episode_that_is_being_written_nothing_is_settled_and_the_others_are(line, interrupted, records):
    events = cancelling_events()
    store = open_store("spectrace.db")
    writer = store.create("busy", events[0].body, events[0].at)
    writer.append([Pending(one.seq, one.lane, one.at, one.body) for one in events[1 : ASKED + 1]], durable=True)
    result = line("audit", "reconcile", "--with", records("tool,arguments\n" + ROW + ROW), *SETTLE)
    writer.close()
    store.close()

    assert f"busy:{ASKED} is not settled: its episode is still being written" in result.stderr
    assert f"{EP}:{ASKED} is settled (event {ASKED + 2})." in result.stdout + result.stderr
    assert line.items("show", "busy", "--type", "outcome.settled") == []


def test_what_a_row_calls_running_is_not_settled_and_the_document_is_written(line, interrupted, records):
    damage("spectrace.db", "UPDATE episodes SET lease_until = 1 << 52, writer_host = 'elsewhere'")
    result = line("audit", "reconcile", "--with", records(), *SETTLE, "--json")

    assert result.exit_code == 0
    assert [one["settled_seq"] for one in json.loads(result.stdout)["items"]] == [None]
    assert "is not settled" in result.stderr


def test_what_cannot_be_settled_is_said_and_the_document_is_written_with_the_others(line, interrupted, records):
    events = cancelling_events()
    store = open_store("spectrace.db")
    writer = store.create("torn", events[0].body, events[0].at)
    writer.append([Pending(one.seq, one.lane, one.at, one.body) for one in events[1 : ASKED + 1]], durable=True)
    writer.close()
    with store.database.writing(durable=True) as connection:
        connection.exec_driver_sql("UPDATE episodes SET head = zeroblob(32) WHERE episode = 'torn'")
    store.close()
    result = line("audit", "reconcile", "--with", records("tool,arguments\n" + ROW + ROW), *SETTLE, "--json")
    settled = {one["episode"]: one["settled_seq"] for one in json.loads(result.stdout)["items"]}

    assert (result.exit_code, settled) == (3, {EP: ASKED + 2, "torn": None})
    assert f"torn:{ASKED} is not settled: torn is invalid, so nothing is added to it" in result.stderr


def test_more_records_than_the_log_can_have_is_a_difference_whichever_is_whose(line, episode, records):
    (item,) = line.items("audit", "reconcile", "--with", records("tool,arguments\n" + ROW * 9), code=1)

    assert (item["result"], item["differs"]) == ("ambiguous", 8)


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
