import sqlite3

import pytest

from spectrace.store.conformance import CHECKS, ELSEWHERE
from spectrace.store.sql import open_store


@pytest.mark.slow
def test_every_check_is_an_item_in_order_and_a_good_database_passes(line):
    items = line.items("conformance", "--db", "new.db")
    ids = [item["id"] for item in items]

    assert [item for item in items if item["result"] == "failed"] == []
    assert len(items) == len(CHECKS) + len(ELSEWHERE)
    assert ids == sorted(ids, key=lambda id_: (id_[0], int(id_[1:])))
    assert items[0] == {"id": "C1", "claim": "every event type reads back equal", "result": "ok", "detail": ""}
    assert {item["project"] for item in line.items("ls", "--db", "new.db")} == {"conformance"}


def test_a_log_in_use_is_refused_and_not_written_to(line, episode):
    result = line("conformance", "--db", "spectrace.db")

    assert (result.exit_code, "--force" in result.stderr, "append-only" in result.stderr) == (2, True, True)
    assert [item["episode"] for item in line.items("ls")] == [episode]


def test_no_database_is_tried_that_was_not_named(line):
    assert line("conformance").exit_code == 2


@pytest.mark.slow
def test_a_database_that_fails_a_check_is_told_with_the_check(line, tmp_path):
    open_store(str(tmp_path / "bad.db")).close()
    with sqlite3.connect(tmp_path / "bad.db") as connection:
        connection.execute(
            "CREATE TRIGGER forgets AFTER INSERT ON search BEGIN DELETE FROM search WHERE number = NEW.number; END"
        )
    connection.close()
    result = line("conformance", "--db", "bad.db")
    (said,) = [shown for shown in result.stdout.splitlines() if " failed " in shown and "H3" in shown]

    assert result.exit_code == 1
    assert "a search finds text with a nul" in said
    assert "1 failed" in result.stdout


@pytest.mark.slow
def test_postgres_passes(line, postgres_url):
    items = line.items("conformance", "--db", postgres_url)

    assert [item for item in items if item["result"] == "failed"] == []
