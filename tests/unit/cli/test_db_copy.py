import sqlite3

from spectrace.store.sql import open_store
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
