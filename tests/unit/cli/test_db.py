import sqlite3

import pytest

from spectrace.store.backup import file_digest
from spectrace.store.revisions import head
from tests.damage import damage
from tests.migrations.populated import sqlite_file


def test_upgrade_makes_a_database_and_then_has_nothing_to_do(line):
    first, second = line.items("db", "upgrade"), line.items("db", "upgrade")

    nothing = {"backup": None, "backup_digest": None, "triggers_restored": [], "rebuilt": 0}
    assert first == [{"from": None, "to": second[0]["to"], **nothing}]
    assert second == [{"from": first[0]["to"], "to": first[0]["to"], **nothing}]


@pytest.mark.parametrize("command", ["rebuild", "check", "stats"])
def test_a_database_that_is_missing_is_said_and_not_made(line, tmp_path, command):
    result = line("db", command, "--db", "typo.db")

    assert (result.exit_code, "there is no database" in result.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_upgrade_puts_back_dropped_triggers_and_says_so(line, episode, tmp_path):
    with sqlite3.connect(tmp_path / "spectrace.db") as connection:
        name = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name").fetchone()[0]
        connection.execute(f"DROP TRIGGER {name}")
    connection.close()
    result = line("db", "upgrade")

    assert f"Put back what keeps events append-only: {name}.\nSomebody had dropped, altered" in result.stdout
    assert line("db", "check").exit_code == 0


def test_people_are_told_what_upgrade_did(line):
    assert "Upgraded from nothing" in line("db", "upgrade").stdout
    assert "already" in line("db", "upgrade").stdout


def test_a_sound_database_passes_every_check(line, episode):
    assert [item for item in line.items("db", "check") if not item["ok"]] == []
    assert line("db", "check").exit_code == 0


def test_a_missing_trigger_is_found(line, episode):
    connection = sqlite3.connect("spectrace.db")
    connection.execute("DROP TRIGGER events_no_delete")
    connection.close()
    problems = {item["check"]: item["problem"] for item in line.items("db", "check", code=1) if not item["ok"]}

    assert list(problems) == ["triggers"]
    assert "events_no_delete" in problems["triggers"]


def test_stats_count_rows(line, episode):
    rows = {item["table"]: item["rows"] for item in line.items("db", "stats")}

    assert (rows["episodes"], rows["events"]) == (2, 47)
    assert "total" in line("db", "stats").stdout


def test_rebuild_makes_the_projections_anew(line, episode):
    assert line.items("db", "rebuild") == [{"episodes": 1}]
    assert line("db", "rebuild").stdout == "Made the projections of 1 episode anew.\n"


def test_a_database_of_a_newer_version_is_refused_with_what_to_do(line, episode):
    connection = sqlite3.connect("spectrace.db")
    connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.commit()
    connection.close()
    result = line("ls")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "newer spectrace" in result.stderr


def test_a_dry_run_says_what_would_run_and_changes_nothing(line, tmp_path):
    sqlite_file("0001", tmp_path / "spectrace.db")
    (item,) = line.items("db", "upgrade", "--dry-run")
    said = line("db", "upgrade", "--dry-run").stdout

    assert (item["from"], item["to"], item["backup"]) == ("0001", head(), True)
    assert item["revisions"][0]["revision"] == "0002"
    assert any("CREATE TABLE epochs" in statement for statement in item["statements"])
    assert "Would copy the file first." in said
    assert [path.name for path in tmp_path.iterdir()] == ["spectrace.db"]


def test_an_upgrade_says_where_the_backup_is_and_its_digest(line, tmp_path):
    sqlite_file("0001", tmp_path / "spectrace.db")
    said = line("db", "upgrade").stdout
    (backup,) = tmp_path.glob("*.backup")

    assert backup.name in said.replace("\n", "")
    assert file_digest(backup) in said


def test_no_backup_is_made_on_request(line, tmp_path):
    sqlite_file("0001", tmp_path / "spectrace.db")
    (item,) = line.items("db", "upgrade", "--no-backup")

    assert (item["backup"], item["backup_digest"]) == (None, None)
    assert not list(tmp_path.glob("*.backup"))


def test_an_episode_that_cannot_be_rebuilt_makes_the_answer_incomplete(line, episode):
    damage("spectrace.db", "DELETE FROM events WHERE key & 1048575 = 20")
    line("db", "upgrade")
    result = line("db", "rebuild")

    assert (result.exit_code, f"Incomplete: {episode} has 46 events" in result.stderr) == (3, True)
