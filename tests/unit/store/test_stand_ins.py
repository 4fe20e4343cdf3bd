"""What stands in place of a table, and values of another kind; every table and column: cli/test_made_databases."""

import sqlite3
from contextlib import closing

import pytest

from spectrace.errors import StoreError
from spectrace.store import stand_ins
from spectrace.store.evidence import lend
from spectrace.store.soundness import reading
from spectrace.store.sql import open_store
from tests.shop_log import recorded


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.db"
    with closing(open_store(str(path))) as store:
        recorded(store)
    return path


def alter(path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def test_a_log_has_nothing_of_the_kind(log):
    with reading(str(log)) as connection:
        odd = stand_ins.wrong_kinds(connection)

    assert (stand_ins.found(log), odd) == ([], None)


def test_a_file_that_is_no_database_is_left_to_its_reader(tmp_path):
    (tmp_path / "text").write_text("no database")

    assert stand_ins.found(tmp_path / "text") == []
    stand_ins.refuse(tmp_path / "absent")


def test_a_view_is_refused_whoever_opens_the_file(log):
    alter(log, "ALTER TABLE runs RENAME TO aside", "CREATE VIEW Runs AS SELECT * FROM aside")

    for opening in (lend, open_store, lambda path: open_store(path, read_only=True)):
        with pytest.raises(StoreError, match="the view Runs"):
            opening(str(log))


def test_a_view_in_the_write_ahead_log_alone_is_found(log):
    with closing(sqlite3.connect(log)) as connection:
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("ALTER TABLE runs RENAME TO aside")
        connection.execute("CREATE VIEW runs AS SELECT * FROM aside")

        assert stand_ins.found(log) == ["the view runs"]
        with pytest.raises(StoreError, match="the view runs"):
            open_store(str(log), read_only=True)


def test_views_and_tables_of_other_names_are_nobodys_business(log):
    alter(log, "CREATE VIEW mine AS SELECT 1 AS x", "CREATE TABLE computed (x, y AS (x))")

    assert stand_ins.found(log) == []


def test_values_of_another_kind_are_counted_by_column(log):
    alter(log, "UPDATE summaries SET steps = 'many', task = X'00'", "UPDATE episodes SET writer_pid = 1.5")

    with reading(str(log)) as connection:
        said = stand_ins.wrong_kinds(connection)

    assert said is not None
    assert "1 in episodes.writer_pid, 1 in summaries.task, 1 in summaries.steps" in said
