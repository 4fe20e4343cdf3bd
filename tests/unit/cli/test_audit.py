import csv
import io
import json
import subprocess
import sys
from datetime import datetime, timedelta, timezone

import pytest

from spectrace.cli.audit import AUTHORITIES, ITEM
from spectrace.core.types import Finish
from spectrace.runs.live import Labels
from spectrace.store.sql import open_store
from tests.damage import damage
from tests.playbook import accept
from tests.shop_log import recorded

CONTRACT = (
    "episode seq tool arguments effect_declared effect_by drafted_at held_seq verdict_seq authority reviewer_model "
    "requested_at completed_at outcome state_changed result_digest started_by erased"
)


def test_an_item_has_the_fields_that_others_rely_on(line, episode):
    items = line.items("audit", "actions")

    assert set(CONTRACT.split()) <= set(items[0])
    assert [(item["tool"], item["outcome"], item["authority"]) for item in items] == [
        ("cancel_order", "never", None),
        ("cancel_order", "ok", "verdict:28"),
        (None, "ok", "verdict:39"),
    ]
    assert items[0]["arguments"] == '{"order_id": "W200"}'


@pytest.mark.parametrize(
    ("options", "seqs"),
    [
        (["--tool", "cancel_order"], [5, 30]),
        (["--effect", "write", "--outcome", "ok"], [30]),
        (["--effect", "read"], [14, 19]),
        (["--authority", "verdict"], [30, 41]),
        (["--authority", "verdict:39"], [41]),
        (["--authority", "repair", "--effect", "read"], [14]),
        (["--outcome", "never"], [5]),
        (["--outcome", "indeterminate"], []),
        (["--env", "tau2:airline"], []),
        (["--run", "first", "--effect", "finish"], [41]),
        (["--since", "1h", "--effect", "finish"], [41]),
        (["--until", "2000-01-01"], []),
    ],
)
def test_options_choose(line, episode, options, seqs):
    assert [item["seq"] for item in line.items("audit", "actions", *options)] == seqs


def test_an_episode_may_be_named(line, episode):
    assert len(line.items("audit", "actions", episode[:8])) == 3
    assert line("audit", "actions", "zz").exit_code == 2


def test_people_see_the_action_with_its_authority(line, episode):
    (row,) = (row for row in line("audit", "actions").stdout.splitlines() if "verdict:28" in row)

    assert f"{episode}:30" in row
    assert 'cancel_order {"order_id": "W200"}' in row


def test_the_document_names_the_whole_command(line, episode):
    assert json.loads(line("audit", "actions", "--json").stdout)["schema"] == "spectrace.audit-actions.v1"


def test_ids_are_read_from_stdin(line, episode):
    assert len(json.loads(line("audit", "actions", "-", "--json", input=f"{episode[:8]}\n").stdout)["items"]) == 3
    assert line("audit", "actions", "-", input="").exit_code == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--run", "frist"], "no run is named 'frist' (did you mean first?)"),
        (["--authority", "nope"], "no authority is called 'nope'"),
        (["--authority", "verdit:28"], "did you mean verdict?"),
    ],
)
def test_a_misspelt_name_is_refused_instead_of_answered_with_nothing(line, episode, options, words):
    result = line("audit", "actions", *options)

    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--tool", "cancel_ordr"], "No event names the tool 'cancel_ordr' (did you mean cancel_order?)."),
        (["--env", "shp"], "No event names the environment 'shp' (did you mean shop?)."),
    ],
)
def test_a_name_that_the_log_never_heard_of_is_said_beside_the_empty_answer(line, episode, options, said):
    result = line("audit", "actions", *options)

    assert "No action on the ledger is what was asked for." in result.stdout
    assert said in result.stderr


def test_a_time_that_holds_no_moment_is_refused(line, episode):
    result = line("audit", "actions", "--since", "2026-12-02", "--until", "2026-12-01")

    assert (result.exit_code, result.stdout) == (2, "")


def test_every_authority_may_be_asked_for(line, episode):
    for kind in AUTHORITIES:
        assert line("audit", "actions", "--authority", kind).exit_code == 0


@pytest.fixture
def damaged(line, episode):
    """A damaged episode beside a sound one."""
    store = open_store("spectrace.db")
    sound = recorded(store)
    store.close()
    damage("spectrace.db", "UPDATE events SET payload = x'0011' WHERE key & 1048575 = 10 AND key < (2 << 20)")
    return episode, sound


def test_a_damaged_episode_is_named_and_the_ledger_goes_on(line, damaged):
    broken, sound = damaged
    result = line("audit", "actions", "--events", "--json")

    assert result.exit_code == 3
    assert {item["episode"] for item in json.loads(result.stdout)["items"]} == {sound}
    assert result.stderr.startswith(f"Incomplete: event 10 of {broken} cannot be read: ")
    assert f"`spectrace verify {broken}`" in result.stderr


def test_a_ledger_that_lacks_a_draft_is_not_called_empty(line, episode):
    damage("spectrace.db", "DELETE FROM events WHERE (key & 1048575) = 5")
    result = line("audit", "actions", "--events")

    assert (result.exit_code, "No action is on the ledger" in result.stdout) == (3, False)
    assert f"event 5 of {episode} is missing" in result.stderr


SWAPPED = (
    "UPDATE events SET key = key + (1 << 19) WHERE key = (1 << 20) + 5",
    "UPDATE events SET key = key - 1 WHERE key = (1 << 20) + 6",
    "UPDATE events SET key = key + 1 - (1 << 19) WHERE key = (1 << 20) + (1 << 19) + 5",
)


def test_events_in_an_order_that_cannot_have_been_are_named_and_the_ledger_goes_on(line, episode):
    store = open_store("spectrace.db")
    sound = recorded(store)
    store.close()
    for statement in SWAPPED:
        damage("spectrace.db", statement)
    result = line("audit", "actions", "--events", "--json")

    assert result.exit_code == 3
    assert {item["episode"] for item in json.loads(result.stdout)["items"]} == {sound}
    assert f"event 5 (action.held) of {episode} does not follow from the events before it" in result.stderr


def test_the_ledger_is_the_same_from_projections_and_from_events(line, episode):
    assert line.items("audit", "actions", "--events") == line.items("audit", "actions")
    assert line.items("audit", "actions", "--events", "--effect", "read") == line.items(
        "audit", "actions", "--effect", "read"
    )


def asked_at(line) -> str:
    (item,) = line.items("audit", "actions", "--tool", "cancel_order", "--outcome", "ok")
    return item["requested_at"]


def after(time: str, microseconds: int) -> str:
    return (datetime.fromisoformat(time) + timedelta(microseconds=microseconds)).isoformat()


@pytest.mark.parametrize("more", [[], ["--tool", "cancel_order"], ["--events"]], ids=["all", "tool", "events"])
def test_a_window_is_half_open_to_the_microsecond(line, episode, more):
    at = asked_at(line)
    (offset,) = {datetime.fromisoformat(at).utcoffset()}

    def seqs(*window):
        found = line.items("audit", "actions", "--effect", "write", "--outcome", "ok", *window, *more)
        return [one["seq"] for one in found]

    assert offset == timedelta(0)
    assert (seqs("--since", at), seqs("--since", after(at, 1))) == ([30], [])
    assert (seqs("--until", at), seqs("--until", after(at, 1))) == ([], [30])
    assert seqs("--since", at, "--until", at) == []


def test_a_window_may_be_given_in_any_time_zone_and_is_utc_where_it_names_none(line, episode):
    at = datetime.fromisoformat(asked_at(line))
    there = at.astimezone(timezone(timedelta(hours=5, minutes=30)))

    for since, until in [(there, there + timedelta(microseconds=1)), (at.replace(tzinfo=None), there + timedelta(1))]:
        found = line.items("audit", "actions", "--since", since.isoformat(), "--until", until.isoformat())
        assert found[0]["seq"] == 30


def test_as_csv_no_cell_is_a_formula_and_the_columns_are_the_items(line, episode):
    result = line("audit", "actions", "--csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))

    assert (result.exit_code, [row["seq"] for row in rows]) == (0, ["5", "30", "41"])
    assert tuple(rows[0]) == ITEM == tuple(line.items("audit", "actions")[0])
    assert line("audit", "actions", "--csv", "--json").exit_code == 2


def test_a_formula_in_an_answer_is_a_text_in_csv(line, episode):
    store = open_store("spectrace.db")
    recorded(store, weak=[Finish("=1+1")], strong=[accept()])
    store.close()

    assert "'=1+1" in line("audit", "actions", "--csv", "--effect", "finish").stdout


@pytest.mark.parametrize("width", ["60", "80", "140"])
def test_what_was_simulated_is_said_at_any_width(line, episode, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", width)
    store = open_store("spectrace.db")
    recorded(store, labels=Labels(labels=(("mode", "simulated"),)))
    store.close()
    shown = " ".join(line("audit", "actions", "--mode", "simulated", "--outcome", "ok").stdout.split())

    assert shown.count("simulated") == 2


def test_no_command_of_the_audit_loads_what_only_a_report_is_written_with():
    program = "import sys; import spectrace.cli.audit; print('jinja2' in sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert loaded.strip() == "False"
