import sqlite3

import pytest

from spectrace.store.sql import open_store
from tests.migrations.populated import sqlite_file, told
from tests.transfers import events_of


def test_an_item_says_what_came_of_each_episode(line, episode):
    first, second = line.items("db", "copy", "b.db"), line.items("db", "copy", "b.db")

    assert [(one["episode"], one["result"]) for one in first if one["episode"] == episode] == [(episode, "stored")]
    assert {one["result"] for one in second} == {"present"}
    assert all(one["losses"] == [] and one["reason"] is None for one in first)


def test_the_copy_is_a_sound_log_with_the_same_bytes(line, episode, tmp_path):
    assert "copied" in line("db", "copy", "b.db").stdout
    with_bytes = []
    for name in ("spectrace.db", "b.db"):
        store = open_store(str(tmp_path / name), read_only=True)
        with_bytes.append(events_of(store)[episode])
        store.close()

    assert with_bytes[0] == with_bytes[1]
    assert [one for one in line.items("db", "check", "--db", "b.db") if not one["ok"]] == []
    assert line.items("ls", "--db", "b.db") == line.items("ls")


def test_another_episode_of_the_same_id_is_refused_and_the_answer_is_no(line, episode, tmp_path):
    line("db", "copy", "b.db")
    connection = sqlite3.connect(tmp_path / "b.db")
    connection.execute("UPDATE episodes SET head = zeroblob(32) WHERE number > 0")
    connection.commit()
    connection.close()
    result = line("db", "copy", "b.db")

    assert (result.exit_code, "Refused: " in result.stderr) == (1, True)


def test_what_is_missing_is_said_and_makes_no_target(line, tmp_path):
    assert line("db", "copy", "b.db").exit_code == 2
    assert not (tmp_path / "b.db").exists()


def test_a_log_is_not_copied_into_itself(line, episode):
    assert line("db", "copy", "spectrace.db").exit_code == 2


def test_an_older_log_is_copied_as_it_lies(line, tmp_path):
    old = sqlite_file("0001", tmp_path / "old.db")
    before = old.read_bytes()
    old.chmod(0o400)
    result = line("db", "copy", "new.db", "--db", "old.db")

    assert (result.exit_code, old.read_bytes()) == (0, before)
    assert "old.db is at revision 0001" in result.stderr
    assert {one["episode"] for one in line.items("ls", "--db", "new.db")} == set(told("0001")["events"])
    assert [one for one in line.items("db", "check", "--db", "new.db") if not one["ok"]] == []


def test_a_log_whose_copying_stopped_is_not_sound(line, episode, monkeypatch):
    monkeypatch.setattr("spectrace.store.copying._copy_runs", stopped)
    result = line("db", "copy", "b.db")
    (problem,) = [one["problem"] for one in line.items("db", "check", "--db", "b.db", code=1) if not one["ok"]]

    assert result.exit_code != 0
    assert "not all of spectrace.db was copied" in problem


def stopped(*_):
    raise KeyboardInterrupt


COMMANDS = [
    ("recover", "--all"),
    ("db", "copy", "b.db"),
    ("db", "rebuild"),
    ("db", "upgrade"),
    ("db", "upgrade", "--dry-run"),
    ("db", "restore", "spectrace.db"),
    ("unpack", "a.zip"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_what_needs_a_database_says_that_a_bundle_is_none(line, episode, tmp_path, command):
    line("pack", episode, "-o", "a.zip")
    before = {path.name for path in tmp_path.iterdir()}
    result = line(*command, "--db", "a.zip")

    assert (result.exit_code, "a.zip is a bundle" in result.stderr.replace("\n", "")) == (2, True)
    assert {path.name for path in tmp_path.iterdir()} == before


def test_a_bundle_that_is_missing_is_not_made_by_a_run(line):
    said = line("ls", "--db", "typo.zip").stderr

    assert "there is no bundle" in said
    assert "spectrace run" not in said


def test_a_copy_that_fails_at_once_leaves_no_empty_log(line, episode, tmp_path, monkeypatch):
    monkeypatch.setattr("spectrace.store.copying._copy_dictionaries", stopped)
    line("db", "copy", "b.db")

    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("b.db")] == []
