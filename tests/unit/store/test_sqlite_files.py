"""A SQLite file opened by the driver, and closed in the middle of things."""

import sqlite3

import pytest

from spectrace.store.sqlite_files import open_file


@pytest.fixture
def path(tmp_path):
    made = sqlite3.connect(tmp_path / "a.db")
    made.executescript("PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1), (2);")
    made.close()
    return tmp_path / "a.db"


def test_a_transaction_is_over_once_its_connection_is_closed_though_a_statement_is_half_read(path):
    interrupted, other = open_file(path, read_only=False), open_file(path, read_only=False)
    other.execute("PRAGMA busy_timeout = 0")
    interrupted.execute("BEGIN IMMEDIATE")
    interrupted.execute("DELETE FROM t WHERE x = 2")
    half_read = interrupted.execute("SELECT x FROM t, (SELECT 1 UNION ALL SELECT 2)")
    half_read.fetchone()
    interrupted.close()
    interrupted.close()
    other.execute("BEGIN IMMEDIATE")
    found = other.execute("SELECT count(*) FROM t").fetchone()
    other.execute("COMMIT")
    other.close()

    assert found == (2,)


def test_a_file_that_is_not_there_is_made_only_to_be_written(tmp_path):
    with pytest.raises(sqlite3.OperationalError, match="unable to open"):
        open_file(tmp_path / "none.db", read_only=True)
    open_file(tmp_path / "new.db", read_only=False).close()

    assert (tmp_path / "new.db").exists()


def test_what_is_no_database_is_refused(tmp_path):
    (tmp_path / "a.db").write_bytes(b"no database" * 1000)
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        open_file(tmp_path / "a.db", read_only=True)
