import json

import pytest

from spectrace.audit.recovery import OpenAction, Recovered
from spectrace.cli.recover import show
from spectrace.core.digest import header_bytes, next_link
from spectrace.store import tables
from spectrace.store.event_store import Pending
from spectrace.store.sql import open_store
from spectrace.store.statements import key
from tests.episodes import recorded_events

ASKED = 30
"""The accepted write of `tests.episodes` is asked in this event."""


@pytest.fixture
def interrupted(line) -> str:
    """An episode whose writer went away while a write was asked and not answered."""
    events = recorded_events()
    store = open_store("spectrace.db")
    writer = store.create("0123abcd", events[0].body, events[0].at)
    pending = [Pending(event.seq, event.lane, event.at, event.body) for event in events[1 : ASKED + 1]]
    writer.append(pending, durable=True)
    writer.close()
    store.close()
    return "0123abcd"


def test_an_item_names_the_last_event_and_the_write_that_may_have_happened(line, interrupted):
    [item] = line.items("recover", "0123")
    [action] = item.pop("indeterminate")

    assert item == {
        "episode": interrupted,
        "parent": None,
        "state": "interrupted",
        "events": ASKED + 2,
        "last_seq": ASKED,
        "last_type": "act.requested",
        "never_started": [],
        "result": "consistent",
        "detail": f"whole, from its start to its end; never answered: event {ASKED} (act.requested)",
        "settled": [],
    }
    assert action.pop("idempotency_key").endswith(":s2.2")
    assert action == {
        "seq": ASKED,
        "position": "s2.2",
        "kind": "call",
        "tool": "cancel_order",
        "arguments": '{"order_id": "W200"}',
    }


def test_recovering_twice_tells_the_same_and_keeps_the_id(line, interrupted):
    first, second = line.items("recover", "--all"), line.items("recover", "--all")

    assert first == second
    assert [one["episode"] for one in line.items("ls", "--status", "interrupted")] == [interrupted]


def test_the_ledger_calls_the_write_indeterminate_before_and_after(line, interrupted):
    before = line.items("audit", "actions", "--outcome", "indeterminate")
    line("recover", "--all")

    assert line.items("audit", "actions", "--outcome", "indeterminate") == before
    assert [one["seq"] for one in before] == [ASKED]


def test_a_recovered_episode_replays_the_same_up_to_where_it_stopped(line, interrupted):
    line("recover", interrupted)

    [item] = line.items("replay", interrupted)

    assert (item["result"], item["compared"]) == ("same", ASKED)


def test_people_see_each_open_write_and_that_nothing_runs_it_again(line, interrupted):
    result = line("recover", interrupted)

    assert result.exit_code == 0
    assert (
        f'{interrupted}:{ASKED} indeterminate (asked, no outcome: it may have happened): cancel_order {{"order_id"'
        in (" ".join(result.stdout.split()))
    )
    assert "Nothing runs an indeterminate write again" in result.stderr


def test_a_running_episode_is_refused_and_the_others_are_recovered(line, interrupted):
    events = recorded_events()
    store = open_store("spectrace.db")
    writer = store.create("99running", events[0].body, events[0].at)
    result = line("recover", "99", "01", "--json")
    writer.close()
    store.close()

    assert result.exit_code == 1
    assert "Not recovered: 99running is being written by process" in result.stderr
    assert '"0123abcd"' in result.stdout


def test_an_episode_of_a_newer_spectrace_is_left_alone_and_the_others_are_recovered(line, interrupted):
    """A call of version 9, chained as it should be: intact, and not to be gone on with here."""
    store = open_store("spectrace.db")
    store.create("77newer", recorded_events()[0].body, 1).close()
    row, salt, body = store.log.episode("77newer"), b"s" * 16, b'{"asked":"otherwise"}'
    header = header_bytes("77newer", 1, "", "generate.requested", 9, 7, None, None, None, None)
    link = next_link(row.head, header, salt, body)
    values = {"key": key(row.number, 1), "type": 6, "lane": "", "version": 9, "at": 7, "codec": 0, "salt": salt}
    with store.database.writing(durable=True) as connection:
        connection.execute(tables.events.insert().values(**values, payload=body, link=link))
        grown = tables.episodes.update().where(tables.episodes.c.number == row.number)
        connection.execute(grown.values(events=2, head=link))
    store.close()

    result = line("recover", "--all", "--json")

    assert result.exit_code == 1
    assert "Not recovered: " in result.stderr
    assert [one["episode"] for one in json.loads(result.stdout)["items"]] == [interrupted]
    assert line.items("verify", "77newer")[0]["events"] == 2


def test_nothing_interrupted_is_no_failure(line, episode):
    result = line("recover", "--all")

    assert (result.exit_code, result.stdout.strip()) == (0, "No episode is interrupted.")


@pytest.mark.parametrize("arguments", [(), ("--all", "01")])
def test_either_episodes_or_all_must_be_named(line, interrupted, arguments):
    assert line("recover", *arguments).exit_code == 2


def test_a_missing_database_is_refused_and_not_made(line, tmp_path):
    result = line("recover", "--all", "--db", "nowhere.db")

    assert result.exit_code == 2
    assert not (tmp_path / "nowhere.db").exists()


@pytest.mark.parametrize(
    ("result", "words"), [("consistent", "it did not happen"), ("invalid", "by a record that is not whole")]
)
def test_that_a_write_did_not_happen_is_said_only_of_a_whole_record(capsys, result, words):
    held = OpenAction(7, "s1.2", "call", "cancel_order", "{}", None)
    show([Recovered("ep1", None, "interrupted", 9, 8, "action.held", (held,), (), result, "")])

    assert words in " ".join(capsys.readouterr().out.split())
