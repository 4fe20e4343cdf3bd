from spectrace.store.backup import file_digest
from spectrace.store.revisions import head
from tests.damage import damage
from tests.migrations.populated import sqlite_file, told


def test_the_item_says_what_was_restored_and_what_was_kept(line, episode, tmp_path):
    backup = sqlite_file("0001", tmp_path / "old.backup")
    (item,) = line.items("db", "restore", "old.backup")
    log, seq = item["record"].split(":")

    assert item == {
        "database": str(tmp_path / "spectrace.db"),
        "backup": "old.backup",
        "backup_digest": file_digest(backup),
        "backup_revision": "0001",
        "revision": head(),
        "replaced": item["replaced"],
        "record": f"{log}:{seq}",
    }
    assert {one["episode"] for one in line.items("ls")} == set(told("0001")["events"])
    assert line.items("ls", "--db", item["replaced"])[0]["episode"] == episode
    assert line.items("show", item["record"])[0]["type"] == "admin.restored"


def test_people_are_told_where_the_old_log_is(line, episode, tmp_path):
    sqlite_file("0001", tmp_path / "old.backup")
    said = line("db", "restore", "old.backup").stdout

    assert f"from old.backup, revision 0001, and upgraded to {head()}." in said
    assert "What was there is kept: " in said
    assert "A new epoch began; the record of it is admin-" in said


def test_a_backup_with_an_altered_event_is_refused_and_the_log_stays(line, episode, tmp_path):
    backup = sqlite_file("0001", tmp_path / "old.backup")
    damage(backup, "UPDATE events SET outcome = 'accept' WHERE key & 1048575 = 10")
    before = (tmp_path / "spectrace.db").read_bytes()
    result = line("db", "restore", "old.backup")

    assert result.exit_code == 2
    assert "is not sound: " in result.stderr
    assert "event 10" in result.stderr
    assert (tmp_path / "spectrace.db").read_bytes() == before
