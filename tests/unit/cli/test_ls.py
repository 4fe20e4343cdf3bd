import json
import sqlite3
from dataclasses import replace

import pytest

from spectrace.core.types import Task
from spectrace.store.sql import open_store
from tests.damage import damage
from tests.playbook import accept
from tests.shop_log import recorded, reverified

CONTRACT = (
    "episode started status end_reason env task protocol weak strong events steps writes rejections unusable reward "
    "cost_usd"
)


def test_an_item_has_the_fields_that_others_rely_on(line, episode):
    (item,) = line.items("ls")

    assert set(CONTRACT.split()) <= set(item)
    assert (item["episode"], item["status"], item["rejections"], item["reward"]) == (episode, "completed", 1, "1.0")
    assert item["started"].endswith("Z")


def test_people_get_a_table(line, episode):
    rows = line("ls").stdout.splitlines()

    assert (rows[0].split()[:3], rows[2].split()[0]) == (["episode", "started", "status"], episode)


@pytest.mark.parametrize("width", [80, 100, 120, 160, 200])
def test_the_table_fits_every_usual_terminal(line, episode, width):
    result = line("ls", env={"COLUMNS": str(width)})

    assert max(len(row) for row in result.stdout.splitlines()) <= width
    assert episode in result.stdout


@pytest.mark.parametrize(
    ("options", "n"),
    [
        (["--rejected"], 1),
        (["--status", "failed"], 0),
        (["--env", "shop", "--task", "cancel-own", "--protocol", "specagent", "--model", "scripted"], 1),
        (["--tool", "cancel_order"], 1),
        (["--tool", "issue_voucher"], 0),
        (["--grep", "find the customer"], 1),
        (["--run", "first", "--label", "team=x"], 1),
        (["--since", "1h"], 1),
        (["--until", "2000-01-01"], 0),
    ],
)
def test_filters_choose(line, episode, options, n):
    assert len(line.items("ls", *options)) == n


def test_an_empty_list_says_so(line, episode):
    assert line("ls", "--status", "failed").stdout == "No episode passes.\n"


def test_a_limit_says_that_there_is_more_and_how_to_go_on(line, episode):
    store = open_store("spectrace.db")
    newer = recorded(store)
    store.close()
    result = line("ls", "--limit", "1")

    assert (newer in result.stdout, episode in result.stdout) == (True, False)
    assert result.stderr.splitlines()[-1] == f"1 shown, and there are more: --after {newer}, or --limit 0 for all."
    assert [item["episode"] for item in line.items("ls", "--after", newer)] == [episode]
    assert len(line.items("ls", "--limit", "0")) == 2


def test_the_database_is_found_by_option_variable_and_default(line, episode, tmp_path):
    for options, variables in (
        (["--db", "spectrace.db"], {}),
        ([], {"SPECTRACE_DB": "sqlite:///spectrace.db"}),
        ([], {}),
    ):
        assert line("ls", *options, env=variables).exit_code == 0

    assert line("ls", env={"SPECTRACE_DB": "other.db"}).exit_code == 2


def test_a_second_verdict_is_told_from_an_episode_at_every_width(line, episode):
    store = open_store("spectrace.db")
    reverified(store, episode, "again", [accept(), accept(), accept()])
    store.close()

    assert "reverify" in line("ls", env={"COLUMNS": "80"}).stdout


def test_an_end_that_cannot_be_read_has_a_status_that_can_be_asked_for(line, episode):
    damage("spectrace.db", "UPDATE events SET payload = NULL, salt = NULL WHERE (key & 1048575) = 45")

    assert [item["status"] for item in line.items("ls")] == ["unknown"]
    assert [item["episode"] for item in line.items("ls", "--status", "unknown")] == [episode]


def test_a_misspelt_run_is_refused(line, episode):
    result = line("ls", "--run", "frist")

    assert (result.exit_code, "did you mean first?" in result.stderr) == (2, True)


@pytest.mark.parametrize("options", [["--grep", "C11"], ["--tool", "cancel_order"]])
def test_an_episode_that_cannot_be_searched_is_named_and_the_others_are_listed(line, episode, options):
    store = open_store("spectrace.db")
    sound = recorded(store)
    store.close()
    damage("spectrace.db", "UPDATE events SET payload = x'0011' WHERE (key & 1048575) = 2 AND key < (2 << 20)")
    result = line("ls", *options, "--json")

    assert (result.exit_code, [item["episode"] for item in json.loads(result.stdout)["items"]]) == (3, [sound])
    assert f"Incomplete: event 2 of {episode} cannot be read" in result.stderr


def test_what_an_episode_cost_is_told_by_its_item_and_the_table(line, episode):
    (item,) = line.items("ls")
    rows = line("ls", env={"COLUMNS": "300"}).stdout.splitlines()

    assert (item["cost_usd"], item["cost_usd_at_least"]) == ("0", None)  # scripts are free
    assert rows[0].endswith("cost USD")
    assert rows[2].split()[-1] == "0"


def test_a_cost_that_is_known_in_part_is_told_as_at_least(line, episode):
    with sqlite3.connect("spectrace.db") as connection:
        connection.execute("UPDATE summaries SET cost_usd = 'at least 0.012'")
    (item,) = line.items("ls")
    rows = line("ls", env={"COLUMNS": "300"}).stdout.splitlines()

    assert (item["cost_usd"], item["cost_usd_at_least"]) == (None, "0.012")
    assert rows[2].endswith("≥ 0.012")


def test_where_no_cost_is_known_there_is_no_column_of_it(line, episode):
    with sqlite3.connect("spectrace.db") as connection:
        connection.execute("UPDATE summaries SET cost_usd = NULL")
    rows = line("ls", env={"COLUMNS": "300"}).stdout.splitlines()

    assert rows[0].endswith("reward")
    assert line.items("ls")[0]["cost_usd"] is None


def test_a_long_name_folds_and_task_and_protocol_stay_at_80_columns(line, episode):
    store = open_store("spectrace.db")
    first = next(store.read(episode)).body
    store.create("ep", replace(first, task=Task("t" * 300, "wish")), 1).close()
    store.close()
    rows = line("ls", env={"COLUMNS": "80"}).stdout.splitlines()

    assert [title in rows[0] for title in ("task", "protocol")] == [True, True]
    assert max(map(len, rows)) <= 80
