import os
import sqlite3

import pytest

from spectrace.errors import UsageError
from spectrace.store.new_file import new_file


def test_a_file_has_its_name_once_it_is_whole(tmp_path):
    target = tmp_path / "a.zip"
    with new_file(target) as file:
        file.write(b"whole")
        before = target.exists()

    assert (before, target.read_bytes(), list(tmp_path.iterdir())) == (False, b"whole", [target])


def test_what_fails_leaves_nothing(tmp_path):
    def half():
        with new_file(tmp_path / "a.zip") as file:
            file.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_replaced_only_by_force(tmp_path):
    target = tmp_path / "a.zip"
    target.write_bytes(b"old")
    with pytest.raises(UsageError, match="--force to replace it"), new_file(target):
        pass
    kept = target.read_bytes()
    with new_file(target, force=True) as file:
        file.write(b"new")

    assert (kept, target.read_bytes()) == (b"old", b"new")


def test_a_file_that_appears_meanwhile_is_not_replaced(tmp_path):
    target = tmp_path / "a.zip"
    with pytest.raises(UsageError, match="is there already"), new_file(target):
        target.write_bytes(b"somebody else's")

    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"somebody else's"]


def test_a_database_is_not_replaced_even_by_force(tmp_path):
    connection = sqlite3.connect(tmp_path / "log.db")
    connection.execute("CREATE TABLE t (x)")
    connection.close()

    with pytest.raises(UsageError, match="is a database"), new_file(tmp_path / "log.db", force=True):
        pass


@pytest.mark.parametrize("end", ["-wal", "-shm", "-journal", ".lock"])
@pytest.mark.parametrize("there", [False, True])
def test_what_belongs_to_a_database_is_neither_made_nor_replaced(tmp_path, end, there):
    (tmp_path / "log.db").write_bytes(b"SQLite format 3\0")
    part = tmp_path / f"log.db{end}"
    if there:
        part.write_bytes(b"old")

    with pytest.raises(UsageError, match=r"is a part of the database .*log\.db: give another name"), new_file(part):
        pass
    with pytest.raises(UsageError, match="is a part of the database"), new_file(part, force=True):
        pass
    assert part.exists() == there


def test_a_write_ahead_log_is_not_replaced_though_its_database_is_gone(tmp_path):
    connection = sqlite3.connect(tmp_path / "log.db")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE t (x)")
    part = (tmp_path / "log.db-wal").read_bytes()
    connection.close()
    (tmp_path / "log.db").unlink()
    (tmp_path / "log.db-wal").write_bytes(part)

    with pytest.raises(UsageError, match="is a database"), new_file(tmp_path / "log.db-wal", force=True):
        pass


def test_a_name_like_that_of_a_part_is_free_where_there_is_no_database(tmp_path):
    (tmp_path / "notes").write_bytes(b"text")
    with new_file(tmp_path / "notes.lock") as file:
        file.write(b"new")

    assert (tmp_path / "notes.lock").read_bytes() == b"new"


def test_a_directory_is_no_file_name(tmp_path):
    with pytest.raises(UsageError, match="is a directory"), new_file(tmp_path, force=True):
        pass


def test_a_place_that_is_not_there_is_said(tmp_path):
    with pytest.raises(UsageError, match="cannot be written: No such file"), new_file(tmp_path / "no" / "a.zip"):
        pass


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
@pytest.mark.parametrize(
    ("mask", "public", "mode"),
    [(0o000, False, 0o600), (0o022, False, 0o600), (0o000, True, 0o644), (0o022, True, 0o644), (0o077, True, 0o600)],
)
def test_only_what_is_made_to_be_given_away_can_be_read_by_others_and_nobody_else_writes_it(
    tmp_path, mask, public, mode
):
    target = tmp_path / "a.zip"
    target.write_bytes(b"old")
    target.chmod(0o666)
    before = os.umask(mask)
    try:
        with new_file(target, force=True, public=public):
            pass
    finally:
        os.umask(before)

    assert target.stat().st_mode & 0o777 == mode
